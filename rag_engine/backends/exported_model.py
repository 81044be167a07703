"""An exported model: texts or pairs of texts through a tokenizer and a graph.

A batch holds texts of like length.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rag_engine.backends.model_export import first_line
from rag_engine.backends.model_runtime import INPUTS, Runtime, TokenIds
from rag_engine.backends.tokenizer import TokenizedText, load_tokenizer
from rag_engine.errors import BackendError
from rag_engine.protocols import Vectors

SETTINGS = "settings.json"
# Texts tokenised at once: enough to sort by length, few enough to hold in memory.
_WINDOW = 1024


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings of an exported model, kept next to its graph.

    `failure` says why there is no graph, or is empty. `inputs` are the graph's among INPUTS. The dimension and the
    prefixes are an encoder's.
    """

    max_tokens: int
    padding_id: int
    inputs: Sequence[str] = INPUTS[:2]
    dimension: int = 0
    query_prefix: str = ""
    passage_prefix: str = ""
    failure: str = ""

    @classmethod
    def read(cls, folder: Path) -> ModelSettings:
        """Return the settings of a folder."""
        return cls(**json.loads((folder / SETTINGS).read_text(encoding="utf-8")))

    def write(self, folder: Path) -> None:
        """Write the settings into a folder."""
        (folder / SETTINGS).write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")


class ExportedModel:
    """A graph and its tokenizer; safe to call from several threads.

    BackendError when its runtime breaks off.
    """

    def __init__(self, name: str, folder: Path, runtime: Runtime, batch_tokens: int) -> None:
        self.name, self.execution = name, runtime.execution
        self.settings = ModelSettings.read(folder)
        self._tokenizer = load_tokenizer(folder)
        self._compute, self._batch_tokens = runtime.compute, batch_tokens

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of the whole text, with special ones, beyond the model's limit too."""
        return self._tokenizer.count(text)

    def compute(self, texts: Sequence[Any], *width: int) -> Vectors:
        """Return the graph's output for each text or pair, of shape (len(texts), *width), in their order.

        If the graph has an output a token, it is that of the first.
        """
        result = np.empty((len(texts), *width), dtype=np.float32)
        for start in range(0, len(texts), _WINDOW):
            read = self._read(texts[start : start + _WINDOW])
            for rows, found in self._computed(read):
                firsts = found[:, 0] if found.ndim == 3 else found
                try:
                    result[start + np.array(rows)] = firsts.reshape(len(rows), *width)
                except ValueError as error:
                    raise broken_off(self.name, self.execution, error) from error
        return result

    def outputs(self, texts: Sequence[Any]) -> Iterator[tuple[int, TokenizedText, Vectors]]:
        """Yield each text's row, its tokens and the graph's output at each token, in any order."""
        read = self._read(texts)
        for rows, found in self._computed(read):
            for row, output in zip(rows, found, strict=True):
                yield row, read[row], output[: len(read[row].ids)]

    def _read(self, texts: Sequence[Any]) -> list[TokenizedText]:
        """Return the tokens of each text or pair of texts, as many as the model reads."""
        paired = bool(texts) and not isinstance(texts[0], str)
        return (self._tokenizer.read_pairs if paired else self._tokenizer.read)(texts, self.settings.max_tokens)

    def _computed(self, read: Sequence[TokenizedText]) -> Iterator[tuple[list[int], Vectors]]:
        for rows in batches([len(text.ids) for text in read], self._batch_tokens):
            try:
                found = self._compute(self._padded([read[row] for row in rows]))
            except RuntimeError as error:
                raise broken_off(self.name, self.execution, error) from error
            yield rows, found

    def _padded(self, read: Sequence[TokenizedText]) -> dict[str, TokenIds]:
        # The runtimes prepare kernels for every new shape; multiples of eight keep the shapes few.
        shape = (len(read), -(-max(len(text.ids) for text in read) // 8) * 8)
        ids = np.full(shape, self.settings.padding_id, dtype=np.int64)
        mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, text in enumerate(read):
            count = len(text.ids)
            ids[row, :count], mask[row, :count], types[row, :count] = text.ids, 1, text.types
        arrays = zip(INPUTS, (ids, mask, types), strict=True)
        return {name: array for name, array in arrays if name in self.settings.inputs}


def broken_off(name: str, execution: str, error: Exception) -> BackendError:
    """Return the error for a model that breaks off."""
    return BackendError(
        "Model {model} broke off on {execution}: {error}.",
        retryable=True,
        model=name,
        execution=execution,
        error=first_line(error),
    )


def batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield indices in batches of like length, longest first.

    Rows times the longest row stay within `batch_tokens`. A longer row is a batch alone.

    >>> list(batches([3, 9, 2], batch_tokens=12))
    [[1], [0, 2]]
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
