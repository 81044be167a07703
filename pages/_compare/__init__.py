"""Parts of the page that compares documents or countries."""
