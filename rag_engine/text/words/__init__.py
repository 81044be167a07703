"""Key words of a search: how they are read, spelled and found in texts."""
