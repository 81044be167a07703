"""Comparisons of documents or countries by the same questions."""
