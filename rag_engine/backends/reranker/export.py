"""A cross-encoder as a folder that starts without torch: its graph goes from token ids to one score a pair.

Beside what model_export.py writes it holds `cross_encoder.json` with what else has to be known.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.backends.exported_model import ExportedModel
from rag_engine.backends.model_export import CHECK, GRAPH, PLAIN_ATTENTION, export_model, limits, open_quietly
from rag_engine.backends.model_runtime import INPUTS, open_onnx, prepare_openvino
from rag_engine.backends.reranker.packaged_minilm import PACKAGED_LANGUAGE, packaged_folder, unpack
from rag_engine.errors import InputError
from rag_engine.protocols import Scores

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

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


@dataclass(frozen=True, slots=True)
class CrossEncoderSettings:
    """Settings of an exported model; `failure` says why there is no graph, or is empty.

    `inputs` are the graph's among INPUTS; `languages` those in which the model was measured to help, None for all.
    """

    max_tokens: int
    padding_id: int
    inputs: Sequence[str]
    languages: Sequence[str] | None = None
    failure: str = ""


def read_settings(folder: Path) -> CrossEncoderSettings:
    """Return the settings of an exported model."""
    return CrossEncoderSettings(**json.loads((folder / SETTINGS).read_text(encoding="utf-8")))


def write_settings(folder: Path, settings: CrossEncoderSettings) -> None:
    """Write the settings into the folder."""
    (folder / SETTINGS).write_text(json.dumps(asdict(settings), indent=2), encoding="utf-8")


def open_cross_encoder(location: str) -> CrossEncoder:
    """Return the sentence-transformers cross-encoder of a folder, on the processor.

    Raises BackendError for one that is not whole and InputError for one that tells classes instead of one score.
    """
    from sentence_transformers import CrossEncoder

    model = open_quietly(
        "Reranker",
        location,
        lambda: CrossEncoder(location, device="cpu", model_kwargs=PLAIN_ATTENTION).eval(),
        "Give a sentence-transformers cross-encoder with its configuration, tokenizer and weights, or leave reranking "
        "off.",
    )
    if model.num_labels != 1:
        raise InputError(
            f"Reranker {location} tells {model.num_labels} classes apart instead of scoring a pair.",
            help="Give a cross-encoder with one output, such as cross-encoder/ms-marco-MiniLM-L6-v2.",
        )
    return model


def torch_scores(model: CrossEncoder, query: str, texts: list[str]) -> Scores:
    """One score a text as the model's last layer gives it, computed by torch."""
    from torch.nn import Identity

    pairs = [(query, text) for text in texts]
    scores = model.predict(pairs, activation_fn=Identity(), show_progress_bar=False, convert_to_numpy=True)
    return np.asarray(scores, dtype=np.float32)


def export(location: str, folder: Path) -> None:
    """Export the model into `folder`."""
    model: Any = open_cross_encoder(location)
    inputs = tuple(name for name in INPUTS if name in model.tokenizer.model_input_names)
    texts = list(CHECK_TEXTS[:3])
    sample = model.tokenizer([CHECK_QUERY] * len(texts), texts, padding=True, truncation=True, return_tensors="pt")

    def forward(**tensors: Any) -> Any:
        return model.model(**tensors).logits[:, 0]

    failure = export_model(model, folder, forward, sample, inputs, "scores")
    np.save(folder / CHECK, torch_scores(model, CHECK_QUERY, list(CHECK_TEXTS)))
    write_settings(folder, CrossEncoderSettings(*limits(model), inputs, failure=failure))


def export_packaged(folder: Path) -> None:
    """Write the packaged model into `folder`, without torch; its own scores are its graph's in full precision."""
    unpack(packaged_folder(), folder)
    # On German and Turkish it finds fewer answers than the ranking that it would reorder.
    write_settings(folder, CrossEncoderSettings(_PACKAGED_TOKENS, 0, INPUTS, languages=(PACKAGED_LANGUAGE,)))
    exact = ExportedModel(folder, open_onnx(folder / GRAPH).compute, _PACKAGED_TOKENS, 0, INPUTS, _PACKAGED_TOKENS)
    np.save(folder / CHECK, exact.compute([(CHECK_QUERY, text) for text in CHECK_TEXTS]))
    prepare_openvino(folder / GRAPH, ordering=True)
