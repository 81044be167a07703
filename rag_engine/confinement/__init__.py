"""Limits on a process that opens foreign files: its files, network, programs and rights."""
