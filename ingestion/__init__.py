"""From a list of sources, or from files, to documents in the collection."""
