"""Commands for people: who has which role, and who changed what."""
