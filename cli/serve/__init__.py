"""Sextant in the browser."""
