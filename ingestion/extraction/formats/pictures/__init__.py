"""Pictures, charts and diagrams in office files."""
