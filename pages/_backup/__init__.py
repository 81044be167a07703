"""Backups of the workspace, on the Admin page."""
