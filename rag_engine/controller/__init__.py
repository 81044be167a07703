"""A stateful controller: plan, retrieve, read, reflect and decide until a question of several parts is covered."""
