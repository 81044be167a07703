"""From a document's text to parents and children."""
