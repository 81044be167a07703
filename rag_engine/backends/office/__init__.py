"""LibreOffice: other formats of a file, and how it looks."""
