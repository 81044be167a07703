"""The verb that compares documents or countries."""
