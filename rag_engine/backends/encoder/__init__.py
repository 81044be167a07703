"""Encoders of text to vectors."""
