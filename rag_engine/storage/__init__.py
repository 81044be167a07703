"""Catalog, vectors and indexes of the collection."""
