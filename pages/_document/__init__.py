"""Parts of the Document page."""
