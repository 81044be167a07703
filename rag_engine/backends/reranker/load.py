"""The reranker: a cross-encoder by name, on the fastest runtime that agrees with its own scores.

Measured by benchmarks/reranking.py: OpenVINO in bfloat16 first, then ONNX Runtime (8 bit for the packaged model), then
torch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.backends.encoder.export import first_line
from rag_engine.backends.encoder.runtimes import FloatPrecision, Tokens, batches, openvino_graph, told
from rag_engine.backends.encoder.source import ModelSource
from rag_engine.backends.model_cache import build_once
from rag_engine.backends.reranker.export import (
    CHECK_QUERY,
    CHECK_SCORES,
    CHECK_TEXTS,
    INPUTS,
    CrossEncoderSettings,
    describe,
    export,
    open_cross_encoder,
    read_settings,
    torch_scores,
    write_settings,
)
from rag_engine.backends.reranker.packaged_minilm import QUANTISED_FILE, packaged_folder, packaged_name, unpack
from rag_engine.backends.reranker.source import locate
from rag_engine.config import cache_folder
from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Reranker, Scores

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

ComputeScores = Callable[[Mapping[str, Tokens]], Scores]

_CHOICES = {"auto": ("openvino", "onnx"), "openvino": ("openvino",), "onnx": ("onnx",), "torch": ()}
# Where exports lie; counted up when what an export holds changes, so that an older one is not read.
_EXPORTS = "cross-encoders-1"
# Largest difference to the model's own scores, as a share of their range; bfloat16 and 8 bit stay below .01.
_DISAGREEMENT = 0.03
# Pairs are computed in batches of so many tokens: long enough for the kernels, short enough for a clock.
_BATCH_TOKENS = 1024
_PACKAGED_TOKENS = 512


@dataclass(frozen=True, slots=True)
class PairRuntime:
    """A runtime's name and its function from the graph's inputs, each (pairs, tokens), to one score a pair."""

    execution: str
    compute: ComputeScores


class CrossEncoder:
    """A Reranker (rag_engine.protocols) over an exported model; made by `load_reranker`."""

    def __init__(self, name: str, folder: Path, runtime: PairRuntime) -> None:
        self.name = name
        self.execution = runtime.execution
        self._settings = read_settings(folder)
        self.languages = _languages(self._settings)
        self._tokenizer = _open_tokenizer(folder / "tokenizer.json", self._settings.max_tokens)
        self._compute = runtime.compute

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """One score a text, of shape (len(texts),), higher for the better answer; unbounded.

        Raises BackendError when the runtime breaks off.
        """
        pairs = self._tokenizer.encode_batch([(query, text) for text in texts])
        scores = np.empty(len(texts), dtype=np.float32)
        try:
            for rows in batches([len(pair.ids) for pair in pairs], _BATCH_TOKENS):
                scores[rows] = self._compute(_inputs([pairs[row] for row in rows], self._settings))
        except (RuntimeError, ValueError) as error:  # ValueError: not one score a pair
            raise BackendError(
                f"Reranker {self.name} broke off on {self.execution}: {first_line(error)}.", retryable=True
            ) from error
        return scores


class TorchCrossEncoder:
    """A Reranker over sentence-transformers; one thread at a time, since its tokenizer is not safe for more."""

    def __init__(self, name: str, location: str, execution: str) -> None:
        self.name = name
        self.execution = execution
        self._model = open_cross_encoder(location)
        self.languages = _languages(describe(self._model))
        self._lock = threading.Lock()

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """One score a text, of shape (len(texts),), higher for the better answer; unbounded.

        Raises BackendError when the model breaks off.
        """
        if not texts:
            return np.empty(0, dtype=np.float32)
        try:
            with self._lock:
                return torch_scores(self._model, query, list(texts))
        except RuntimeError as error:
            raise BackendError(
                f"Reranker {self.name} broke off on torch: {first_line(error)}.", retryable=True
            ) from error


def load_reranker(name: str, execution: str = "auto", cache: Path | None = None) -> Reranker:
    """Return a reranker ready to use: a local folder, a model of the hub's cache or of the hub, or the packaged one.

    The first load of a model exports it into `cache` (default SEXTANT_CACHE, else ~/.cache/sextant), later ones do not
    import torch. A runtime that fails or whose scores differ from the model's own is not used, and `execution` says
    so. Raises BackendError for a model that is nowhere or that no runtime computes, and InputError for an unknown
    execution or a model that does not score pairs.
    """
    if execution not in _CHOICES:
        raise InputError(f"Execution {execution!r} is not a runtime.", help=f"Use one of {', '.join(_CHOICES)}.")
    cache = cache or cache_folder()
    source = locate(name)
    if source.folder is not None and execution == "torch":
        return TorchCrossEncoder(source.name, str(source.folder), "torch")
    folder = _exported_folder(source, cache)
    passed_over = ["the package holds no weights for torch"] if execution == "torch" else []
    failure = read_settings(folder).failure
    for choice in () if failure else _CHOICES[execution] or _CHOICES["auto"]:
        try:
            runtime = _RUNTIMES[choice](folder)
            reranker = CrossEncoder(
                source.name, folder, PairRuntime(told(runtime.execution, passed_over), runtime.compute)
            )
            agreed = agrees(reranker, folder)
        except (ImportError, RuntimeError, BackendError) as error:  # absent, not for this processor, or damaged
            passed_over.append(f"{choice} failed: {first_line(error)}")
            continue
        if agreed:
            return reranker
        passed_over.append(f"{choice} differs from it")
    if source.folder is not None:
        named = "torch (cannot be exported)" if failure else told("torch", passed_over)
        return TorchCrossEncoder(source.name, str(source.folder), named)
    raise BackendError(
        f"No runtime computes the reranker {source.name}: {'; '.join(passed_over)}.",
        help=f"Remove {folder} so that it is made anew, or leave reranking off.",
    )


def agrees(reranker: Reranker, folder: Path) -> bool:
    """Whether the runtime's scores of the check pairs are the model's own; it also warms the runtime up."""
    expected = np.load(folder / CHECK_SCORES, allow_pickle=False)
    difference = np.abs(reranker.score(CHECK_QUERY, CHECK_TEXTS) - expected).max()
    return bool(difference <= _DISAGREEMENT * np.ptp(expected))


def _languages(settings: CrossEncoderSettings) -> frozenset[str] | None:
    return None if settings.languages is None else frozenset(settings.languages)


def _exported_folder(source: ModelSource, cache: Path) -> Path:
    """Return the folder of the exported model; exports it if it is not there."""
    if source.folder is None:
        return build_once(cache / _EXPORTS / source.folder_name, _export_packaged)
    location = str(source.folder)
    return build_once(cache / _EXPORTS / source.folder_name, lambda partial: export(location, partial))


def _export_packaged(folder: Path) -> None:
    unpack(packaged_folder(), folder)
    # "en": on German and Turkish it finds fewer answers than the ranking it would reorder.
    write_settings(folder, CrossEncoderSettings(_PACKAGED_TOKENS, 0, INPUTS, languages=("en",)))
    exact = CrossEncoder(packaged_name(), folder, open_onnx_file(folder / "model.onnx"))
    np.save(folder / CHECK_SCORES, exact.score(CHECK_QUERY, CHECK_TEXTS))


def open_openvino(folder: Path, precision: FloatPrecision | None = None, file: str = "model.onnx") -> PairRuntime:
    """Return the exported model in OpenVINO; in bfloat16 where the processor computes in it, if not told otherwise."""
    execution, infer = openvino_graph(folder / file, precision)
    return PairRuntime(execution, lambda inputs: infer(dict(inputs)).reshape(-1))


def open_onnx(folder: Path) -> PairRuntime:
    """Return the exported model in ONNX Runtime: in 8 bit where the weights came so, else in single precision."""
    quantised = folder / QUANTISED_FILE
    return open_onnx_file(quantised if quantised.is_file() else folder / "model.onnx")


def open_onnx_file(file: Path) -> PairRuntime:
    """Return the exported graph of this file in ONNX Runtime."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    # ONNX Runtime's own errors share no base class; RuntimeError instead.
    failures = tuple(e for e in vars(state).values() if isinstance(e, type) and issubclass(e, Exception))
    try:
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    except failures as error:
        raise RuntimeError(str(error)) from error

    def compute(inputs: Mapping[str, Tokens]) -> Scores:
        try:
            return np.asarray(session.run(None, dict(inputs))[0], dtype=np.float32).reshape(-1)
        except failures as error:
            raise RuntimeError(str(error)) from error

    return PairRuntime("onnx int8" if file.name == QUANTISED_FILE else "onnx", compute)


_RUNTIMES: dict[str, Callable[[Path], PairRuntime]] = {"openvino": open_openvino, "onnx": open_onnx}


def _inputs(pairs: Sequence[Encoding], settings: CrossEncoderSettings) -> dict[str, Tokens]:
    # The runtimes prepare kernels for every new shape; multiples of eight keep the shapes few.
    shape = (len(pairs), -(-max(len(pair.ids) for pair in pairs) // 8) * 8)
    ids = np.full(shape, settings.padding_id, dtype=np.int64)
    mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.ids)] = pair.ids
        mask[row, : len(pair.ids)] = 1
        types[row, : len(pair.ids)] = pair.type_ids
    return {name: array for name, array in zip(INPUTS, (ids, mask, types), strict=True) if name in settings.inputs}


def _open_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    # The longer of the two texts gives way, so a long question does not push the passage out.
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    return tokenizer
