"""The terminal: one file for each group of verbs."""
