"""A sentence-transformers model as a folder that starts without torch.

The folder holds `model.onnx` (pooling and normalisation inside), `tokenizer.json`, `encoder.json` with what else has
to be known, and `check.npy`, torch's own vectors of a few texts, against which every runtime is checked at each start.
"""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.errors import BackendError
from rag_engine.protocols import Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Different scripts, cases and lengths, so that a wrong mask, axis or lower-casing shows.
CHECK_TEXTS = (
    "Flood",
    "Who warns older people when a heatwave is forecast?",
    "Il piano regionale antincendio è aggiornato ogni tre anni e stabilisce le risorse dei Comuni.",
    "Los Estados miembros elaborarán mapas de peligrosidad por inundaciones y mapas de riesgo a la escala apropiada.",
    "Die Gemeinden stellen Hitzeaktionspläne auf; ÄRZTE und Pflegedienste werden früh beteiligt.",
    "DEPREM bölgelerinde yapılacak binalar yönetmeliğe uygun olmalıdır.",
    "干旱管理计划应包括预警指标。 План управления засухой включает показатели.",
    " ".join(
        ["Recovery plans protect archives, museums and listed buildings before, during and after a disaster."] * 5
    ),
)
_UNLIMITED = 100_000
_DEFAULT_TOKENS = 512


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """Settings of an exported model; `failure` says why there is no graph, or is empty."""

    dimension: int
    max_tokens: int
    padding_id: int
    query_prefix: str
    passage_prefix: str
    failure: str = ""


def open_sentence_transformer(location: str) -> SentenceTransformer:
    """Return the model of a folder or a hub name, on the processor; BackendError for one that is not whole."""
    import transformers
    from safetensors import SafetensorError
    from sentence_transformers import SentenceTransformer

    # A report about a pooler nobody uses and a progress bar tell an analyst nothing.
    reports: Any = transformers.logging
    reports.set_verbosity_error()
    reports.disable_progress_bar()
    try:
        return SentenceTransformer(location, device="cpu").eval()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, SafetensorError) as error:
        raise BackendError(
            f"Encoder {location} cannot be loaded: {first_line(error).rstrip('.')}.",
            help="Give a model with its configuration, tokenizer and weights, of a type that the installed "
            "transformers knows, or use multilingual-e5-small.",
        ) from error


def first_line(error: BaseException) -> str:
    """Return what an error says, on one line and of a readable length; its type where it says nothing."""
    return next((line.strip()[:200] for line in str(error).splitlines() if line.strip()), type(error).__name__)


def read_settings(folder: Path) -> EncoderSettings:
    """Return the settings of an exported model."""
    return EncoderSettings(**json.loads((folder / "encoder.json").read_text(encoding="utf-8")))


def describe(model: SentenceTransformer, name: str, failure: str = "") -> EncoderSettings:
    """Return the settings of a model; prefixes come from its own prompts, else from the rule of the E5 family."""
    prompts = model.prompts
    query, passage = prompts.get("query", ""), prompts.get("passage", "") or prompts.get("document", "")
    if not query and not passage and re.search(r"(^|[-_/])e5[-_](?!.*instruct)", name.lower()):
        query, passage = "query: ", "passage: "
    tokenizer: Any = model.tokenizer
    limits = (model.max_seq_length, getattr(tokenizer, "model_max_length", None))
    return EncoderSettings(
        dimension=int(model.get_embedding_dimension() or 0),
        max_tokens=min((n for n in limits if n and n < _UNLIMITED), default=_DEFAULT_TOKENS),
        padding_id=int(getattr(tokenizer, "pad_token_id", 0) or 0),
        query_prefix=query,
        passage_prefix=passage,
        failure=failure,
    )


def torch_vectors(model: SentenceTransformer, texts: list[str]) -> Vectors:
    """Return unit vectors of shape (len(texts), dimension), computed by torch."""
    vectors = model.encode(texts, prompt="", normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True)
    return np.asarray(vectors, dtype=np.float32)


def export(location: str, name: str, folder: Path) -> None:
    """Export the model into `folder`.

    A model that cannot be exported leaves a folder that says so, so that the attempt is not made at every start.
    """
    model = open_sentence_transformer(location)
    failure = ""
    try:
        model.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
        _export_graph(model, folder / "model.onnx")
    except (RuntimeError, TypeError, ValueError, AttributeError, KeyError) as error:
        failure = f"{type(error).__name__}: {error}"[:500]
    np.save(folder / "check.npy", torch_vectors(model, list(CHECK_TEXTS)))
    settings = json.dumps(asdict(describe(model, name, failure)), indent=2)
    (folder / "encoder.json").write_text(settings, encoding="utf-8")


def _export_graph(model: SentenceTransformer, path: Path) -> None:
    import torch

    class Sentence(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            features = self.model({"input_ids": input_ids, "attention_mask": attention_mask})
            return torch.nn.functional.normalize(features["sentence_embedding"], dim=-1)

    encoded = model.tokenizer(list(CHECK_TEXTS[:3]), padding=True, return_tensors="pt")
    axes = {0: "batch", 1: "length"}
    with torch.no_grad(), warnings.catch_warnings():
        # The tracer warns of every branch on a shape; the check of the result is what counts.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Sentence().eval(),
            (encoded["input_ids"], encoded["attention_mask"]),
            str(path),
            dynamo=False,
            opset_version=17,
            input_names=["input_ids", "attention_mask"],
            output_names=["vectors"],
            dynamic_axes={"input_ids": axes, "attention_mask": axes, "vectors": {0: "batch"}},
        )
