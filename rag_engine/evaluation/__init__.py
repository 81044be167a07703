"""Measurements of retrieval, chunking and passages."""
