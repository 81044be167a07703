"""Faults in the words of a language model: another language, or a refusal of what it has answered."""
