"""The reader: an adapter on the packaged encoder, on the fastest runtime that agrees with torch, or one of choice."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_engine.backends.encoder.packaged_e5 import packaged_name, packaged_words
from rag_engine.backends.exported_model import ExportedModel
from rag_engine.backends.model_export import CHECK, GRAPH, build_apart, build_once
from rag_engine.backends.model_runtime import (
    INPUTS,
    Runtime,
    check_execution,
    first_that_agrees,
    open_onnx,
    open_openvino,
)
from rag_engine.backends.reader.export import (
    ADAPTER,
    CARD,
    CHECK_QUESTION,
    CHECK_TEXTS,
    export,
    read_card,
    read_settings,
)
from rag_engine.backends.reader.question_answering import load_question_answering
from rag_engine.config import cache_folder
from rag_engine.errors import BackendError
from rag_engine.protocols import PassageReader, Scores
from rag_engine.types import PassageReading

_EXPORTS = "readers-4"
# Logits of bfloat16 differ from torch's by a few hundredths.
_DISAGREEMENT = 0.25
_BATCH_TOKENS = 2048
# Passages whose reading is cached: ranking, quoting and judging one question ask for the same ones.
_CACHED = 128


class AdapterReader:
    """A PassageReader, and a Reranker by its relevance, over an exported model; made by `load_reader`."""

    languages: frozenset[str] | None = None

    def __init__(self, name: str, folder: Path, runtime: Runtime) -> None:
        settings = read_settings(folder)
        self.name = name
        self.execution = runtime.execution
        limits = (settings.max_tokens, settings.padding_id)
        self._model = ExportedModel(folder, runtime.compute, *limits, INPUTS[:2], _BATCH_TOKENS)
        self._cached: OrderedDict[tuple[str, str], PassageReading] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        """Return what it reads in each passage; BackendError when the runtime breaks off."""
        with self._lock:
            known = {text: self._cached[question, text] for text in passages if (question, text) in self._cached}
        missing = [text for text in dict.fromkeys(passages) if text not in known]
        known |= zip(missing, self._read(question, missing), strict=True)
        with self._lock:
            self._cached |= {(question, text): known[text] for text in missing}
            while len(self._cached) > _CACHED:
                self._cached.popitem(last=False)
        return [known[text] for text in passages]

    def _read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        found: dict[int, PassageReading] = {}
        try:
            for row, tokens, read in self._model.outputs([(question, passage) for passage in passages]):
                own = list(tokens.own)
                found[row] = PassageReading(
                    relevance=float(read[0, 2]),
                    absent=float(read[0, 0] + read[0, 1]),
                    tokens=tuple(tokens.spans[at] for at in own),
                    starts=tuple(read[own, 0].tolist()),
                    ends=tuple(read[own, 1].tolist()),
                )
        except (RuntimeError, ValueError) as error:
            raise BackendError(
                "The reader broke off: {error}", help="Try again, or set SEXTANT_READER to none.", error=error
            ) from error
        return [found[row] for row in range(len(passages))]

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return the relevance of each text, of shape (len(texts),); BackendError when the runtime breaks off."""
        return np.array([one.relevance for one in self.read(query, texts)], dtype=np.float32)


def load_reader(name: str = "", execution: str = "auto", cache: Path | None = None) -> PassageReader:
    """Return the reader of a name: the packaged adapter for "", a folder with another adapter, else a model of choice.

    BackendError for one that is nowhere, does not fit or cannot be computed.
    """
    folder = Path(name).expanduser() if name else ADAPTER
    if not name or (folder / CARD).is_file():
        return load_adapter(folder, execution, cache)
    return load_question_answering(name)


def load_adapter(adapter: Path = ADAPTER, execution: str = "auto", cache: Path | None = None) -> AdapterReader:
    """Return the reader of an adapter, ready to use.

    The first load merges it into the packaged encoder and exports that into `cache`. BackendError where the adapter is
    missing or does not fit the encoder that is installed, or where no runtime computes it.
    """
    check_execution(execution)
    cache = cache or cache_folder()
    card = read_card(adapter)
    if card.get("encoder") != packaged_name():
        raise BackendError(
            "The adapter in {adapter} was trained on {encoder}, installed is {packaged}.",
            help="Train it again (training/README.md), or set SEXTANT_READER to none.",
            adapter=adapter,
            encoder=card.get("encoder"),
            packaged=packaged_name(),
        )
    digest = hashlib.sha256((adapter / "adapter.safetensors").read_bytes()).hexdigest()
    if digest != card.get("sha256"):
        raise BackendError(
            "The adapter in {adapter} is not the one that its card describes.",
            help="Restore both files.",
            adapter=adapter,
        )
    name = f"{adapter.name}@{digest[:12]}"
    folder = build_once(cache / _EXPORTS / name, lambda partial: build_apart(export, partial, adapter.absolute()))
    passed_over: list[str] = []
    graph, words = folder / GRAPH, packaged_words()
    found = first_that_agrees(
        "auto" if execution == "torch" else execution,
        folder,
        {"openvino": lambda: open_openvino(graph, words=words), "onnx": lambda: open_onnx(graph, words)},
        lambda runtime: AdapterReader(name, folder, runtime),
        lambda reader, count: _agrees(reader, folder, count),
        passed_over,
    )
    if found is None:
        raise BackendError(
            "The reader cannot be computed: {error}.",
            help="Set SEXTANT_READER to none; answers are quoted by likeness then.",
            error="; ".join(passed_over),
        )
    return found


def _agrees(reader: AdapterReader, folder: Path, count: int | None) -> bool:
    """Return whether the runtime says of the first `count` check texts, or of all, what torch says."""
    expected = np.load(folder / CHECK, allow_pickle=False)[:count]
    read = reader.read(CHECK_QUESTION, CHECK_TEXTS[:count])
    found = np.array([(one.relevance, one.absent) for one in read])
    wanted = np.stack([expected[:, 2], expected[:, 0] + expected[:, 1]], axis=1)
    return bool(np.all(np.abs(found - wanted) <= _DISAGREEMENT))
