"""An encoder as a folder that starts without torch: pooling and normalisation are inside its graph.

Beside what model_export.py writes it holds `encoder.json` with what else has to be known.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.backends.model_export import CHECK, PLAIN_ATTENTION, export_model, limits, open_quietly
from rag_engine.backends.model_runtime import INPUTS
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
    """Return the model of a folder, on the processor; BackendError for one that is not whole."""
    from sentence_transformers import SentenceTransformer

    return open_quietly(
        "Encoder",
        location,
        lambda: SentenceTransformer(location, device="cpu", model_kwargs=PLAIN_ATTENTION).eval(),
        "Give a model with its configuration, tokenizer and weights, of a type that the installed transformers knows, "
        "or use multilingual-e5-small.",
    )


def read_settings(folder: Path) -> EncoderSettings:
    """Return the settings of an exported model."""
    return EncoderSettings(**json.loads((folder / "encoder.json").read_text(encoding="utf-8")))


def describe(model: SentenceTransformer, name: str, failure: str = "") -> EncoderSettings:
    """Return the settings of a model; prefixes come from its own prompts, else from the rule of the E5 family."""
    prompts = model.prompts
    query, passage = prompts.get("query", ""), prompts.get("passage", "") or prompts.get("document", "")
    if not query and not passage and re.search(r"(^|[-_/])e5[-_](?!.*instruct)", name.lower()):
        query, passage = "query: ", "passage: "
    return EncoderSettings(int(model.get_embedding_dimension() or 0), *limits(model), query, passage, failure)


def torch_vectors(model: SentenceTransformer, texts: list[str]) -> Vectors:
    """Return unit vectors of shape (len(texts), dimension), computed by torch."""
    vectors = model.encode(texts, prompt="", normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True)
    return np.asarray(vectors, dtype=np.float32)


def export(location: str, name: str, folder: Path) -> None:
    """Export the model into `folder`."""
    from torch.nn.functional import normalize

    model = open_sentence_transformer(location)

    def forward(**tensors: Any) -> Any:
        return normalize(model(tensors)["sentence_embedding"], dim=-1)

    sample = model.tokenizer(list(CHECK_TEXTS[:3]), padding=True, return_tensors="pt")
    failure = export_model(model, folder, forward, sample, INPUTS[:2], "vectors")
    np.save(folder / CHECK, torch_vectors(model, list(CHECK_TEXTS)))
    settings = json.dumps(asdict(describe(model, name, failure)), indent=2)
    (folder / "encoder.json").write_text(settings, encoding="utf-8")
