"""Geometry of pages: rows, reading order, paragraphs, titles, headers and footers."""
