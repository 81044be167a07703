"""Phase portals: documents that pages and catalogues list."""
