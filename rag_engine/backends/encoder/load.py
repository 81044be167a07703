"""The encoder: a model by name, on the fastest runtime that agrees with torch.

Measured by benchmarks/encoders.py: OpenVINO first, then ONNX Runtime, then torch; none of them changes retrieval.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from rag_engine.backends.encoder.export import (
    CHECK_TEXTS,
    EncoderSettings,
    describe,
    export,
    first_line,
    open_sentence_transformer,
    read_settings,
    torch_vectors,
)
from rag_engine.backends.encoder.runtimes import ExportedModel, Runtime, open_onnx, open_openvino, told
from rag_engine.backends.encoder.source import ModelSource, locate
from rag_engine.backends.model_cache import build_once
from rag_engine.config import cache_folder
from rag_engine.errors import InputError
from rag_engine.protocols import Embedder, Vectors


def _open_onnx(folder: Path) -> Runtime:
    """ONNX Runtime, whose own errors share no base class; RuntimeError instead."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    try:
        return open_onnx(folder)
    except (state.Fail, state.InvalidGraph, state.InvalidProtobuf, state.NoSuchFile, state.NotImplemented) as error:
        raise RuntimeError(str(error)) from error


_RUNTIMES: dict[str, Callable[[Path], Runtime]] = {"openvino": open_openvino, "onnx": _open_onnx}
_CHOICES = {"auto": ("openvino", "onnx"), "openvino": ("openvino",), "onnx": ("onnx",), "torch": ()}
# Where exports lie; counted up when what an export holds changes, so that an older one is not read.
_EXPORTS = "exported-1"
# Least cosine between a runtime's vector and torch's; bfloat16 reaches .9999.
_AGREEMENT = 0.999


class _Model(Protocol):
    settings: EncoderSettings
    execution: str

    def vectors(self, texts: Sequence[str]) -> Vectors: ...

    def count_tokens(self, text: str) -> int: ...


class Encoder:
    """An Embedder (rag_engine.protocols) over a model; made by `load_encoder`."""

    def __init__(self, name: str, model: _Model) -> None:
        self.name = name
        self.execution = model.execution
        self.dimension = model.settings.dimension
        self.prefixes = (model.settings.query_prefix, model.settings.passage_prefix)
        self._model = model

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        return self._model.vectors([self.prefixes[1] + text for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        return self._model.vectors([self.prefixes[0] + text for text in texts])

    def count_tokens(self, text: str) -> int:
        """Tokens of the whole text, special tokens included, without a prefix."""
        return self._model.count_tokens(text)


class TorchModel:
    """Texts to vectors by sentence-transformers; one thread at a time, since its tokenizer is not safe for more."""

    def __init__(self, source: ModelSource, cache: Path, execution: str) -> None:
        self._model = open_sentence_transformer(source.location(cache))
        self._lock = threading.Lock()
        self.settings = describe(self._model, source.name)
        self.execution = execution

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension), in the order of the texts."""
        if not texts:
            return np.empty((0, self.settings.dimension), dtype=np.float32)
        with self._lock:
            return torch_vectors(self._model, list(texts))

    def count_tokens(self, text: str) -> int:
        """Tokens of the whole text, special tokens included, also beyond what the model reads."""
        with self._lock:
            return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])


def load_encoder(name: str, execution: str = "auto", cache: Path | None = None) -> Embedder:
    """Return an encoder ready to use: a local folder, a model of the hub's cache or of the hub, or the packaged one.

    The first load of a model exports it into `cache` (default SEXTANT_CACHE, else ~/.cache/sextant), later ones do not
    import torch. A runtime that fails or whose vectors differ from torch's is not used, and `execution` says so. Raises
    BackendError for a model that is nowhere or cannot be loaded and InputError for an unknown execution.
    """
    if execution not in _CHOICES:
        raise InputError(f"Execution {execution!r} is not a runtime.", help=f"Use one of {', '.join(_CHOICES)}.")
    cache = cache or cache_folder()
    source = locate(name)
    if execution == "torch":
        return Encoder(source.name, TorchModel(source, cache, "torch"))
    folder = exported_folder(source, cache)
    if read_settings(folder).failure:
        return Encoder(source.name, TorchModel(source, cache, "torch (cannot be exported)"))
    passed_over: list[str] = []
    for choice in _CHOICES[execution]:
        try:
            runtime = _RUNTIMES[choice](folder)
            named = replace(runtime, execution=told(runtime.execution, passed_over))
            model = ExportedModel(folder, named)
            agreed = agrees(model, folder)
        except (ImportError, RuntimeError) as error:  # absent, not for this processor, or a file that is damaged
            passed_over.append(f"{choice} failed: {first_line(error)}")
            continue
        if agreed:
            return Encoder(source.name, model)
        passed_over.append(f"{choice} differs from it")
    return Encoder(source.name, TorchModel(source, cache, told("torch", passed_over)))


def exported_folder(source: ModelSource, cache: Path) -> Path:
    """Return the folder of the exported model; exports it if it is not there."""
    return build_once(
        cache / _EXPORTS / source.folder_name,
        lambda partial: export(source.location(cache), source.name, partial),
    )


def agrees(model: ExportedModel, folder: Path) -> bool:
    """Whether the runtime's vectors of the check texts are torch's; a few milliseconds, which also warm it up."""
    expected = np.load(folder / "check.npy", allow_pickle=False)
    cosines = np.sum(model.vectors(CHECK_TEXTS) * expected, axis=1)
    return bool(np.all(cosines >= _AGREEMENT))
