"""Phase extraction: from a file to its text with positions and its properties."""
