"""Answers, conversations and notebooks as files to take away: Word, Markdown, BibTeX and RIS."""
