"""Acts of a person: one function for each thing that may be asked of a workspace, the same for every door.

Each validates what it is given, does what must follow, and returns what was done. An act whose work is long puts it
in the job queue and returns the run; the worker carries it out by the same functions.
"""
