"""Sections of statutes, treaties and decisions."""
