"""Texts to the tokens of an exported model."""
