"""The phases of a run, each a function of one source record or of all of them."""
