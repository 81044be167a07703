"""Conversations: their turns in the workspace, and the answers that are being written."""
