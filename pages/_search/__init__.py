"""Parts of the page that searches for passages."""
