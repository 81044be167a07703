"""A stateful controller that searches until a question of several parts is covered.

Its steps are: plan, retrieve, read, reflect and decide.
"""
