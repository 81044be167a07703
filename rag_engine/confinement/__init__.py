"""Limits on what a process that opens foreign files can reach: files, network, programs, rights."""
