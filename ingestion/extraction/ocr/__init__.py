"""Optical character recognition by three engines."""
