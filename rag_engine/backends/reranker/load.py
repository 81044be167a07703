"""The reranker: a cross-encoder by name, on the fastest runtime that agrees with its own scores.

OpenVINO comes first, then ONNX Runtime, then torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.backends import model_export, model_runtime, model_source
from rag_engine.backends.exported_model import ModelSettings
from rag_engine.backends.load_model import Model, ModelKind, TorchKind, load_model
from rag_engine.backends.model_source import ModelSource
from rag_engine.errors import InputError
from rag_engine.protocols import Reranker, Scores

if TYPE_CHECKING:
    import sentence_transformers

# Tokens of a batch of pairs: long enough for the kernels, short enough for a clock.
_BATCH_TOKENS = 1024

# An answer, a passage of the same subject, one of another, and one of a single word, in different lengths.
CHECK_QUERY = "Who warns older people when a heatwave is forecast?"
_CHECK_TEXTS = (
    "The health service telephones every older person on its list as soon as a heatwave is forecast.",
    "A heatwave is a run of at least three days on which the perceived temperature stays above 38 degrees. " * 6,
    "Museums keep a list of the objects that are carried out of the building first.",
    "Drought",
)
CHECK_PAIRS = tuple((CHECK_QUERY, text) for text in _CHECK_TEXTS)


class CrossEncoder:
    """A Reranker (rag_engine.protocols) over a model; made by `load_reranker`."""

    def __init__(self, model: Model) -> None:
        self.name, self.execution, self._model = model.name, model.execution, model

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return one unbounded score a text, of shape (len(texts),), higher for the better answer.

        Raises BackendError when the runtime breaks off.
        """
        return self._model.compute([(query, text) for text in texts])


def load_reranker(name: str, execution: str = "auto", cache: Path | None = None) -> Reranker:
    """Return a reranker ready to use: from a local folder, the hub's cache or the hub.

    Raises BackendError if the model is nowhere or no runtime computes it, and InputError for an unknown execution, or a
    model that does not score pairs.
    """
    return CrossEncoder(load_model(CROSS_ENCODER, locate(name), execution, cache))


def locate(name: str) -> ModelSource:
    """Return the place of the cross-encoder: local folder, hub cache or hub.

    A name without an owner is one of the hub's cross-encoder/. Raises BackendError when the model is nowhere.
    """
    if found := model_source.in_folder(name):
        return found
    repository = name if "/" in name else f"cross-encoder/{name}"
    cure = "Give the path of a sentence-transformers cross-encoder, or leave SEXTANT_RERANKER unset."
    return model_source.on_hub("Reranker", name, repository, "", cure)


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


def torch_scores(model: sentence_transformers.CrossEncoder, pairs: list[tuple[str, str]]) -> Scores:
    """Return one score a pair from the model's last layer, computed by torch."""
    from torch.nn import Identity

    scores = model.predict(pairs, activation_fn=Identity(), show_progress_bar=False, convert_to_numpy=True)
    return np.asarray(scores, dtype=np.float32)


def _describe(model: Any, _name: str) -> ModelSettings:
    inputs = tuple(name for name in model_runtime.INPUTS if name in model.tokenizer.model_input_names)
    return ModelSettings(*model_export.limits(model), inputs)


CROSS_ENCODER = ModelKind(
    "reranker",
    CHECK_PAIRS,
    None,
    dict.fromkeys(("openvino", "onnx"), _BATCH_TOKENS),
    ordering=True,
    torch=TorchKind(
        open_cross_encoder, torch_scores, lambda model: lambda **given: model.model(**given).logits[:, 0], _describe
    ),
)
