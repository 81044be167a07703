"""Measurements of answers: with a judge, without one, and against an accepted run."""
