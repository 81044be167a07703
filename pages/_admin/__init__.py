"""Parts of the Admin page."""
