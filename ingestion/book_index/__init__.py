"""Indexes at the back of books, glossaries and index tables, read as records."""
