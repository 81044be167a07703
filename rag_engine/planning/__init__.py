"""From a question to a query plan."""
