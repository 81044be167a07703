"""An encoder as a folder that starts without torch: pooling and normalisation are inside its graph.

Torch writes the graph of a model that a user names, the packaged one's is written from its weights. Beside what
model_export.py writes the folder holds `encoder.json` with what else has to be known.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.backends.encoder.packaged_e5 import PackagedModel, packaged_file, settings
from rag_engine.backends.model_export import CHECK, GRAPH, PLAIN_ATTENTION, export_model, limits, open_quietly
from rag_engine.backends.model_runtime import INPUTS, prepare_openvino
from rag_engine.backends.tokenizer.load import save_pieces
from rag_engine.config import DATA
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


# `torch_vectors` of the packaged model for these.
PACKAGED_CHECK = DATA / "multilingual-e5-small.npy"


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
    _write_settings(folder, describe(model, name, failure))


def export_packaged(folder: Path) -> None:
    """Write the packaged model's graph and tokenizer into `folder`, without torch; its words stay in the package.

    What torch says of the check texts comes with Sextant.
    """
    from rag_engine.backends.bert_graph import BertGraph

    model, config = PackagedModel(packaged_file()), settings()["config.json"]
    save_pieces(model.pieces(), model.special, folder)
    graph = BertGraph(model.weights(), config)
    graph.save(graph.pool(), "vectors", folder / GRAPH)
    shutil.copyfile(PACKAGED_CHECK, folder / CHECK)
    prompts = settings()["config_sentence_transformers.json"]["prompts"]
    limits = config["max_position_embeddings"], config["pad_token_id"]
    _write_settings(folder, EncoderSettings(config["hidden_size"], *limits, prompts["query"], prompts["passage"]))
    prepare_openvino(folder / GRAPH)


def _write_settings(folder: Path, settings: EncoderSettings) -> None:
    (folder / "encoder.json").write_text(json.dumps(asdict(settings), indent=2), encoding="utf-8")
