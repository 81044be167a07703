"""Child processes in which files are read under limits."""
