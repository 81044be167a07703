"""Quotations: what of the sources answers, chosen and shown word for word."""
