"""Support of the sentences of an answer by the passages that they cite."""
