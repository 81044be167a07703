"""Processes of a workspace: which one writes it, which one serves it."""
