"""Training of the reader's adapter; the product reads what it writes and imports nothing from here."""
