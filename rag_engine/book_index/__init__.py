"""Records of a book's own index, and passages that they point to."""
