"""Parts of the page for notebooks."""
