"""Progress of the sources, as rows for page and terminal."""
