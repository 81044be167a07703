"""Parts of the knowledge tab: index tables, and the entries that they and the documents list."""
