"""Parts of the Ask page."""
