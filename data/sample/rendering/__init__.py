"""Renderers of the sample documents, one file per family of formats."""
