"""Verbs of the workspace's own test questions."""
