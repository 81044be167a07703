"""Chroma as a server of this machine that asks for a key, which the one that comes with the package does not."""
