"""An exported model: texts or pairs of texts through a tokenizer and a graph, in batches of like length."""

from __future__ import annotations

import copy
import hashlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.backends.model_runtime import INPUTS, Compute, Tokens
from rag_engine.protocols import Vectors

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

# Texts tokenised at once: enough to sort by length, few enough to hold in memory.
_WINDOW = 1024

_tokenizers: dict[str, Tokenizer] = {}
_lock = threading.Lock()


class ExportedModel:
    """A graph and its tokenizer; safe to call from several threads. `inputs` are the graph's among INPUTS."""

    def __init__(
        self, folder: Path, compute: Compute, max_tokens: int, padding_id: int, inputs: Sequence[str], batch_tokens: int
    ) -> None:
        self._tokenizer = _shared_tokenizer(folder / "tokenizer.json")
        self._compute, self._max_tokens, self._padding_id, self._inputs = compute, max_tokens, padding_id, inputs
        self._batch_tokens = batch_tokens

    def count_tokens(self, text: str) -> int:
        """Tokens of the whole text, special tokens included, also beyond what the model reads."""
        return len(self._tokenizer.encode(text).ids)

    def compute(self, texts: Sequence[Any], *width: int) -> Vectors:
        """Return the graph's output for each text or pair of texts, of shape (len(texts), *width), in their order."""
        result = np.empty((len(texts), *width), dtype=np.float32)
        for start in range(0, len(texts), _WINDOW):
            encodings = self._encoded(texts[start : start + _WINDOW])
            for rows, found in self._computed(encodings):
                result[start + np.array(rows)] = found.reshape(len(rows), *width)
        return result

    def outputs(self, texts: Sequence[Any]) -> Iterator[tuple[int, Encoding, Vectors]]:
        """Yield each text's row, its tokens with their places, and the graph's output at each of them, in any order."""
        encodings = self._encoded(texts)
        for rows, found in self._computed(encodings):
            for row, output in zip(rows, found, strict=True):
                yield row, encodings[row], output[: len(encodings[row].ids)]

    def _encoded(self, texts: Sequence[Any]) -> list[Encoding]:
        """Return the tokens of each text or pair of texts, as many as the model reads.

        Cut here and not by the tokenizer's own setting, since models that read differently much share a tokenizer.
        """
        paired = bool(texts) and not isinstance(texts[0], str)
        parts = list(dict.fromkeys(part for text in texts for part in text)) if paired else list(texts)
        found = self._tokenizer.encode_batch(parts, add_special_tokens=False)
        room = self._max_tokens - self._tokenizer.num_special_tokens_to_add(is_pair=paired)
        if not paired:
            return [self._tokenizer.post_process(_cut(one, room)) for one in found]
        tokens = dict(zip(parts, found, strict=True))
        encodings = []
        for first, second in texts:
            of_first, of_second = room_for(len(tokens[first].ids), len(tokens[second].ids), room)
            pair = _cut(tokens[first], of_first), _cut(tokens[second], of_second)
            encodings.append(self._tokenizer.post_process(*pair))
        return encodings

    def _computed(self, encodings: Sequence[Encoding]) -> Iterator[tuple[list[int], Vectors]]:
        for rows in batches([len(encoding.ids) for encoding in encodings], self._batch_tokens):
            yield rows, self._compute(self._padded([encodings[row] for row in rows]))

    def _padded(self, encodings: Sequence[Encoding]) -> dict[str, Tokens]:
        # The runtimes prepare kernels for every new shape; multiples of eight keep the shapes few.
        shape = (len(encodings), -(-max(len(encoding.ids) for encoding in encodings) // 8) * 8)
        ids = np.full(shape, self._padding_id, dtype=np.int64)
        mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, encoding in enumerate(encodings):
            count = len(encoding.ids)
            ids[row, :count], mask[row, :count], types[row, :count] = encoding.ids, 1, encoding.type_ids
        return {name: array for name, array in zip(INPUTS, (ids, mask, types), strict=True) if name in self._inputs}


def batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield indices in batches of like length, longest first; rows x longest row stays within `batch_tokens`.

    A row longer than that is a batch of its own.
    """
    batch: list[int] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batch and longest * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        if not batch:
            longest = lengths[index]
        batch.append(index)
    if batch:
        yield batch


def room_for(first: int, second: int, room: int) -> tuple[int, int]:
    """Return how many tokens of each of two texts are read: of the longer one less, so that no text is pushed out."""
    if first + second <= room:
        return first, second
    shorter = min(first, second, room // 2)
    return (room - shorter, shorter) if first > second else (shorter, room - shorter)


def _cut(tokens: Encoding, room: int) -> Encoding:
    if len(tokens.ids) <= room:
        return tokens
    # A copy, since several pairs hold the same question.
    shorter = copy.copy(tokens)
    shorter.truncate(room)
    return shorter


def _shared_tokenizer(file: Path) -> Tokenizer:
    """Return the tokenizer of a file, one for all models that have the same: it takes .7 s and 300 MB to load."""
    from tokenizers import Tokenizer

    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    with _lock:
        if digest not in _tokenizers:
            tokenizer = Tokenizer.from_file(str(file))
            tokenizer.no_padding()
            tokenizer.no_truncation()
            _tokenizers[digest] = tokenizer
        return _tokenizers[digest]
