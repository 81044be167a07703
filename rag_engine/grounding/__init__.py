"""The grounded knowledge base: each entry of an index with its best passages and a short cited text."""
