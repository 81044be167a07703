"""Phase indexing: from described sources to documents in the collection."""
