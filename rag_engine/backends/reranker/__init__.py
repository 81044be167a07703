"""Cross-encoders that score a question with a passage."""
