"""The reranker: a cross-encoder by name, on the fastest runtime that agrees with its own scores.

Measured by benchmarks/models/reranking.py: OpenVINO in bfloat16 first, then ONNX Runtime (8 bit for the packaged
model), then torch.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.backends import model_export, model_runtime, model_source
from rag_engine.backends.exported_model import ExportedModel, ModelSettings
from rag_engine.backends.model_source import ModelSource
from rag_engine.backends.reranker import packaged_minilm
from rag_engine.config import cache_folder
from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Reranker, Scores

if TYPE_CHECKING:
    import sentence_transformers

# Folder of the exports; its number grows when their content changes, so that an older one is not read.
_EXPORTS = "cross-encoders-2"
# Largest difference to the model's own scores, as a share of their range; bfloat16 and 8 bit stay below .01.
_DISAGREEMENT = 0.03
# Tokens of a batch of pairs: long enough for the kernels, short enough for a clock.
_BATCH_TOKENS = 1024

SETTINGS = "cross_encoder.json"
_PACKAGED_TOKENS = 512
# An answer, a passage of the same subject, one of another, and one of a single word, in different lengths.
CHECK_QUERY = "Who warns older people when a heatwave is forecast?"
CHECK_TEXTS = (
    "The health service telephones every older person on its list as soon as a heatwave is forecast.",
    "A heatwave is a run of at least three days on which the perceived temperature stays above 38 degrees. " * 6,
    "Museums keep a list of the objects that are carried out of the building first.",
    "Drought",
)


class CrossEncoder:
    """A Reranker (rag_engine.protocols) over an exported model; made by `load_reranker`."""

    def __init__(self, name: str, folder: Path, runtime: model_runtime.Runtime) -> None:
        settings = ModelSettings.read(folder / SETTINGS)
        self.name = name
        self.execution = runtime.execution
        self.languages = None if settings.languages is None else frozenset(settings.languages)
        self._model = ExportedModel(folder, runtime.compute, settings, _BATCH_TOKENS)

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return one unbounded score a text, of shape (len(texts),), higher for the better answer.

        Raises BackendError when the runtime breaks off.
        """
        try:
            return self._model.compute([(query, text) for text in texts])
        except (RuntimeError, ValueError) as error:  # ValueError: not one score a pair
            raise _broken_off(self, error) from error


class TorchCrossEncoder:
    """A Reranker over sentence-transformers.

    It serves one thread at a time, since its tokenizer is not safe for more.
    """

    def __init__(self, name: str, location: str, execution: str) -> None:
        self.name = name
        self.execution = execution
        self.languages: frozenset[str] | None = None
        self._model = open_cross_encoder(location)
        self._lock = threading.Lock()

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return one unbounded score a text, of shape (len(texts),), higher for the better answer.

        Raises BackendError when the model breaks off.
        """
        if not texts:
            return np.empty(0, dtype=np.float32)
        try:
            with self._lock:
                return torch_scores(self._model, query, list(texts))
        except RuntimeError as error:
            raise _broken_off(self, error) from error


def load_reranker(name: str, execution: str = "auto", cache: Path | None = None) -> Reranker:
    """Return a reranker ready to use: from a local folder, the hub's cache, the hub or the package.

    The first load of a model exports it into `cache` (default SEXTANT_CACHE, else ~/.cache/sextant). Later loads do not
    import torch, and no load of the packaged model does. A runtime that fails or whose scores differ from the model's
    own is not used, and `execution` says so. Raises BackendError if the model is nowhere or no runtime computes it.
    Raises InputError for an unknown execution, or a model that does not score pairs.
    """
    model_runtime.check_execution(execution)
    source = locate(name)
    passed_over: list[str] = []
    if execution == "torch" and source.folder is None:
        execution, passed_over = "auto", ["the package holds no weights for torch"]
    folder = Path()
    if execution != "torch":
        folder = _exported_folder(source, cache or cache_folder())
        graph, quantised = folder / model_export.GRAPH, folder / packaged_minilm.QUANTISED_FILE
        if ModelSettings.read(folder / SETTINGS).failure:
            passed_over.append("cannot be exported")
        elif reranker := model_runtime.first_that_agrees(
            execution,
            folder,
            {
                "openvino": lambda: model_runtime.open_openvino(graph, ordering=True),
                # In 8 bit where the weights came so.
                "onnx": lambda: open_int8(quantised) if quantised.is_file() else model_runtime.open_onnx(graph),
            },
            lambda runtime: CrossEncoder(source.name, folder, runtime),
            lambda reranker, count: agrees(reranker, folder, count),
            passed_over,
        ):
            return reranker
    if source.folder is not None:
        return TorchCrossEncoder(
            source.name, str(source.folder), model_runtime.describe_execution("torch", passed_over)
        )
    raise BackendError(
        "No runtime computes the reranker {model}: {error}.",
        help="Remove {folder} so that it is made again, or leave reranking off.",
        model=source.name,
        error="; ".join(passed_over),
        folder=folder,
    )


def locate(name: str) -> ModelSource:
    """Return the place of the cross-encoder: local folder, hub cache, package (its own only) or hub.

    A name without an owner is one of the hub's cross-encoder/. Raises BackendError when the model is nowhere.
    """
    if found := model_source.in_folder(name):
        return found
    if name.startswith(f"{packaged_minilm.PACKAGED}@") and name == packaged_minilm.packaged_name():
        return ModelSource(name, None)
    repository = name if "/" in name else f"cross-encoder/{name}"
    ours = packaged_minilm.PACKAGED
    packaged = packaged_minilm.packaged_name() if repository == f"cross-encoder/{ours}" else ""
    cure = f"Give the path of a sentence-transformers cross-encoder, or use {ours}, which needs no hub."
    return model_source.on_hub("Reranker", name, repository, packaged, cure)


def open_int8(file: Path) -> model_runtime.Runtime:
    """Return a graph in 8 bit in ONNX Runtime."""
    return model_runtime.Runtime("onnx int8", model_runtime.open_onnx(file).compute)


def agrees(reranker: Reranker, folder: Path, count: int | None = None) -> bool:
    """Return whether the runtime's scores of the check pairs are the model's own.

    Only the first `count` pairs are compared, or all for None. The check warms the runtime up too.
    """
    expected = np.load(folder / model_export.CHECK, allow_pickle=False)
    difference = np.abs(reranker.score(CHECK_QUERY, CHECK_TEXTS[:count]) - expected[:count]).max()
    return bool(difference <= _DISAGREEMENT * np.ptp(expected))


def _exported_folder(source: ModelSource, cache: Path) -> Path:
    """Return the folder of the exported model; exports it if it is not there."""
    location = source.folder
    return model_export.build_once(
        cache / _EXPORTS / source.folder_name,
        lambda partial: (
            model_export.build_apart(export_packaged, partial) if location is None else export(str(location), partial)
        ),
    )


def _broken_off(reranker: Reranker, error: Exception) -> BackendError:
    return BackendError(
        "Reranker {model} broke off on {execution}: {error}.",
        retryable=True,
        model=reranker.name,
        execution=reranker.execution,
        error=model_export.first_line(error),
    )


def open_cross_encoder(location: str) -> sentence_transformers.CrossEncoder:
    """Return the sentence-transformers cross-encoder of a folder, on the processor.

    Raises BackendError if it is not whole, and InputError if it tells classes instead of one score.
    """
    from sentence_transformers import CrossEncoder

    model = model_export.open_quietly(
        "Reranker",
        location,
        lambda: CrossEncoder(location, device="cpu", model_kwargs=model_export.PLAIN_ATTENTION).eval(),
        "Give a sentence-transformers cross-encoder with its configuration, tokenizer and weights, or leave reranking "
        "off.",
    )
    if model.num_labels != 1:
        raise InputError(
            f"Reranker {location} tells {model.num_labels} classes apart instead of scoring a pair.",
            help="Give a cross-encoder with one output, such as cross-encoder/ms-marco-MiniLM-L6-v2.",
        )
    return model


def torch_scores(model: sentence_transformers.CrossEncoder, query: str, texts: list[str]) -> Scores:
    """Return one score a text from the model's last layer, computed by torch."""
    from torch.nn import Identity

    pairs = [(query, text) for text in texts]
    scores = model.predict(pairs, activation_fn=Identity(), show_progress_bar=False, convert_to_numpy=True)
    return np.asarray(scores, dtype=np.float32)


def export(location: str, folder: Path) -> None:
    """Export the model into `folder`."""
    model: Any = open_cross_encoder(location)
    inputs = tuple(name for name in model_runtime.INPUTS if name in model.tokenizer.model_input_names)
    texts = list(CHECK_TEXTS[:3])
    sample = model.tokenizer([CHECK_QUERY] * len(texts), texts, padding=True, truncation=True, return_tensors="pt")

    def forward(**tensors: Any) -> Any:
        return model.model(**tensors).logits[:, 0]

    failure = model_export.export_model(model, folder, forward, sample, inputs, "scores")
    np.save(folder / model_export.CHECK, torch_scores(model, CHECK_QUERY, list(CHECK_TEXTS)))
    ModelSettings(*model_export.limits(model), inputs, failure=failure).write(folder / SETTINGS)


def export_packaged(folder: Path) -> None:
    """Write the packaged model into `folder`, without torch.

    The scores for the check are its graph's in full precision.
    """
    packaged_minilm.unpack(packaged_minilm.packaged_folder(), folder)
    # On German and Turkish it finds fewer answers than the ranking that it would reorder.
    settings = ModelSettings(_PACKAGED_TOKENS, 0, model_runtime.INPUTS, languages=(packaged_minilm.PACKAGED_LANGUAGE,))
    settings.write(folder / SETTINGS)
    exact = ExportedModel(
        folder, model_runtime.open_onnx(folder / model_export.GRAPH).compute, settings, _PACKAGED_TOKENS
    )
    np.save(folder / model_export.CHECK, exact.compute([(CHECK_QUERY, text) for text in CHECK_TEXTS]))
    model_runtime.prepare_openvino(folder / model_export.GRAPH, ordering=True)
