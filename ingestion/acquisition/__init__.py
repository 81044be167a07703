"""Phase acquisition: from an address to the document's file."""
