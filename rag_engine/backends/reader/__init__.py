"""The small reader: question and passage read together in every language of the packaged encoder."""
