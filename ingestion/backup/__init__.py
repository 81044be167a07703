"""Backups: one archive of a workspace that is in use, checked file by file when it is restored."""
