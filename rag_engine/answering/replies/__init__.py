"""Faults of what a language model writes: it repeats itself, takes another language, or refuses what it answered."""
