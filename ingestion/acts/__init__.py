"""Acts of a person: one function for each act upon a workspace, the same for every door.

Each validates its arguments, does all that must follow, and returns the result. An act with long work puts it in the
job queue and returns the job; the worker carries it out by the same functions.
"""
