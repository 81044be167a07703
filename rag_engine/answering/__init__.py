"""From evidence to an answer: generation, quotations and checked citations."""
