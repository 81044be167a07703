"""Quotations: the units of sources that answer, chosen and shown word for word."""
