"""Text in seven languages: sentences, analysis and URL masking."""
