"""Search for passages without a question to a model: by words and filters, all that is found."""
