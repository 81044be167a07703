"""The pages of the interface."""
