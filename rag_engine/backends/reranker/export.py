"""A cross-encoder as a folder that starts without torch.

The folder holds `model.onnx` (token ids to one score a pair), `tokenizer.json`, `cross_encoder.json` with what else
has to be known, and `check.npy`, the scores of a few pairs, against which every runtime is checked at each start.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.backends.encoder.export import first_line
from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Scores

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

SETTINGS = "cross_encoder.json"
CHECK_SCORES = "check.npy"
# An answer, a passage of the same subject, one of another, and one of a single word, in different lengths.
CHECK_QUERY = "Who warns older people when a heatwave is forecast?"
CHECK_TEXTS = (
    "The health service telephones every older person on its list as soon as a heatwave is forecast.",
    "A heatwave is a run of at least three days on which the perceived temperature stays above 38 degrees. " * 6,
    "Museums keep a list of the objects that are carried out of the building first.",
    "Drought",
)
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_DEFAULT_TOKENS = 512
_UNLIMITED = 100_000


@dataclass(frozen=True, slots=True)
class CrossEncoderSettings:
    """Settings of an exported model; `failure` says why there is no graph, or is empty.

    `inputs` are the graph's among INPUTS; `languages` those in which the model was measured to help, None for all.
    """

    max_tokens: int
    padding_id: int
    inputs: tuple[str, ...]
    languages: tuple[str, ...] | None = None
    failure: str = ""


def read_settings(folder: Path) -> CrossEncoderSettings:
    """Return the settings of an exported model."""
    kept = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    languages = None if kept["languages"] is None else tuple(kept["languages"])
    return CrossEncoderSettings(**kept | {"inputs": tuple(kept["inputs"]), "languages": languages})


def write_settings(folder: Path, settings: CrossEncoderSettings) -> None:
    """Write the settings into the folder."""
    (folder / SETTINGS).write_text(json.dumps(asdict(settings), indent=2), encoding="utf-8")


def open_cross_encoder(location: str) -> CrossEncoder:
    """Return the sentence-transformers cross-encoder of a folder or a hub name, on the processor.

    Raises BackendError for one that is not whole and InputError for one that tells classes instead of one score.
    """
    import transformers
    from safetensors import SafetensorError
    from sentence_transformers import CrossEncoder

    # A progress bar tells an analyst nothing.
    reports: Any = transformers.logging
    reports.set_verbosity_error()
    reports.disable_progress_bar()
    try:
        model = CrossEncoder(location, device="cpu").eval()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, SafetensorError) as error:
        raise BackendError(
            f"Reranker {location} cannot be loaded: {first_line(error).rstrip('.')}.",
            help="Give a sentence-transformers cross-encoder with its configuration, tokenizer and weights, or leave "
            "reranking off.",
        ) from error
    if model.num_labels != 1:
        raise InputError(
            f"Reranker {location} tells {model.num_labels} classes apart instead of scoring a pair.",
            help="Give a cross-encoder with one output, such as cross-encoder/ms-marco-MiniLM-L6-v2.",
        )
    return model


def describe(model: CrossEncoder, failure: str = "") -> CrossEncoderSettings:
    """Return the settings of a model."""
    tokenizer: Any = model.tokenizer
    limits = (model.max_seq_length, getattr(tokenizer, "model_max_length", None))
    return CrossEncoderSettings(
        max_tokens=min((n for n in limits if n and n < _UNLIMITED), default=_DEFAULT_TOKENS),
        padding_id=int(getattr(tokenizer, "pad_token_id", 0) or 0),
        inputs=tuple(name for name in INPUTS if name in tokenizer.model_input_names),
        failure=failure,
    )


def torch_scores(model: CrossEncoder, query: str, texts: list[str]) -> Scores:
    """One score a text as the model's last layer gives it, computed by torch."""
    from torch.nn import Identity

    pairs = [(query, text) for text in texts]
    scores = model.predict(pairs, activation_fn=Identity(), show_progress_bar=False, convert_to_numpy=True)
    return np.asarray(scores, dtype=np.float32)


def export(location: str, folder: Path) -> None:
    """Export the model into `folder`.

    A model that cannot be exported leaves a folder that says so, so that the attempt is not made at every start.
    """
    model = open_cross_encoder(location)
    failure = ""
    try:
        tokenizer: Any = model.tokenizer
        tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
        _export_graph(model, folder / "model.onnx")
    except (RuntimeError, TypeError, ValueError, AttributeError, KeyError) as error:
        failure = f"{type(error).__name__}: {error}"[:500]
    np.save(folder / CHECK_SCORES, torch_scores(model, CHECK_QUERY, list(CHECK_TEXTS)))
    write_settings(folder, describe(model, failure))


def _export_graph(model: CrossEncoder, path: Path) -> None:
    import torch

    classifier: Any = model.model
    tokenizer: Any = model.tokenizer
    inputs = describe(model).inputs

    class SamplePair(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.classifier = classifier

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            logits: torch.Tensor = self.classifier(**dict(zip(inputs, tensors, strict=True))).logits
            return logits[:, 0]

    encoded = tokenizer([CHECK_QUERY] * 3, list(CHECK_TEXTS[:3]), padding=True, truncation=True, return_tensors="pt")
    axes = {0: "batch", 1: "length"}
    with torch.no_grad(), warnings.catch_warnings():
        # The tracer warns of every branch on a shape; the check of the result is what counts.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            SamplePair().eval(),
            tuple(encoded[name] for name in inputs),
            str(path),
            dynamo=False,
            opset_version=17,
            input_names=list(inputs),
            output_names=["scores"],
            dynamic_axes=dict.fromkeys(inputs, axes) | {"scores": {0: "batch"}},
        )
