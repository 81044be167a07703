"""Phase metadata: descriptions in the controlled taxonomy."""
