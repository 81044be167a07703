"""The encoder while one answer is checked: citing it and labelling it compare it with the same sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_engine.protocols import Embedder, Vectors


class AnswerEmbedder:
    """An encoder that encodes no passage twice; not for longer than one answer, as it keeps every vector."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension, self.prefixes = embedder.name, embedder.dimension, embedder.prefixes
        self.execution = embedder.execution
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors |= zip(new, self._embedder.encode_passages(new), strict=True)
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([self._vectors[text] for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        return self._embedder.encode_queries(texts)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of the text under the model's tokenizer, special tokens included."""
        return self._embedder.count_tokens(text)
