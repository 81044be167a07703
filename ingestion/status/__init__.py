"""How far sources have come, as rows for page and terminal."""
