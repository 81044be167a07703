"""Searching in the terminal."""
