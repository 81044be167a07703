"""The phases in order, and the loop that runs them."""
