"""Structured answers: records in the shape of a JSON schema, each with the place that states it."""
