"""Workbooks and tables, read and written."""
