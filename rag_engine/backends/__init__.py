"""Libraries and servers behind the protocols: indexes, encoders, rerankers, language models."""
