"""The reader as a folder that starts without torch: the packaged encoder with the adapter's updates merged into it.

The adapter (data/reader) holds low-rank updates of the encoder's linear layers and three heads: where an answer starts
and ends at each token, and how relevant the passage is. Its card names the encoder that it was trained on, and has what
torch reads in CHECK_TEXTS. `reader.json` in the folder holds what else has to be known.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from rag_engine.backends.encoder.packaged_e5 import PackagedModel, packaged_file, settings
from rag_engine.backends.model_export import CHECK, GRAPH
from rag_engine.backends.model_runtime import prepare_openvino
from rag_engine.backends.tokenizer.load import save_pieces
from rag_engine.config import DATA
from rag_engine.errors import BackendError

ADAPTER = DATA / "reader"
SETTINGS = "reader.json"
CARD = "card.json"
CHECK_QUESTION = "Who warns older people when a heatwave is forecast?"
CHECK_TEXTS = (
    "The health service telephones every older person on its list as soon as a heatwave is forecast.",
    "Die Gemeinden stellen Hitzeaktionspläne auf; ÄRZTE und Pflegedienste werden früh beteiligt. " * 6,
    "Kuraklık",
)
# A layer behind the tokens' states, from which the heads read.
_UNREAD = ".pooler."
_HEADS = ("span", "relevance")

# Weight and bias of a linear layer.
Layer = tuple[NDArray[np.float32], NDArray[np.float32]]
Checked = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """Settings of an exported reader."""

    max_tokens: int
    padding_id: int


def read_card(folder: Path) -> dict[str, Any]:
    """Return what an adapter's card says; BackendError where there is none or it cannot be read."""
    try:
        card: dict[str, Any] = json.loads((folder / CARD).read_text(encoding="utf-8"))
        return card
    except (OSError, ValueError) as error:
        raise BackendError(
            f"{folder} holds no adapter of the reader: {error}.",
            help="Give a folder with adapter.safetensors and card.json.",
        ) from error


def read_settings(folder: Path) -> ReaderSettings:
    """Return the settings of an exported reader."""
    return ReaderSettings(**json.loads((folder / SETTINGS).read_text(encoding="utf-8")))


def merge(weights: dict[str, NDArray[np.float32]], adapter: Path) -> tuple[Layer, Checked]:
    """Add an adapter's updates to the weights of its encoder; return the layer of its heads, and what torch reads.

    Of each token the layer gives the logits of an answer's start, of its end, and at the first the passage's relevance;
    torch's are those of the first tokens of CHECK_TEXTS. BackendError for an adapter that does not fit the encoder.
    """
    card = read_card(adapter)
    try:
        learned = {name: one.astype(np.float32) for name, one in load_file(adapter / "adapter.safetensors").items()}
        for name in [one for one in learned if one.endswith(".up") and _UNREAD not in one]:
            layer = name.removeprefix("encoder.").removesuffix(".up")
            weights[f"{layer}.weight"] += card["scale"] * (learned[name] @ learned[name.removesuffix("up") + "down"])
        weight, bias = (np.concatenate([learned[f"{head}.{part}"] for head in _HEADS]) for part in ("weight", "bias"))
        checked = np.array(card["check"], dtype=np.float32).reshape(len(CHECK_TEXTS), len(bias))
        return (weight.reshape(-1, settings()["config.json"]["hidden_size"]), bias), checked
    except (OSError, KeyError, ValueError, SafetensorError) as error:
        raise BackendError(
            "The adapter in {adapter} does not fit {encoder}: {error}",
            help="Train it on the encoder that is installed, or leave SEXTANT_READER unset.",
            adapter=adapter,
            encoder=card.get("encoder", "the encoder"),
            error=error,
        ) from error


def export(folder: Path, adapter: Path) -> None:
    """Write the graph and tokenizer of the packaged encoder with the adapter into `folder`, without torch."""
    from rag_engine.backends.bert_graph import BertGraph

    model, config = PackagedModel(packaged_file()), settings()["config.json"]
    weights = model.weights()
    heads, checked = merge(weights, adapter)
    save_pieces(model.pieces(), model.special, folder)
    graph = BertGraph(weights, config)
    graph.save(graph.head(*heads), "read", folder / GRAPH)
    np.save(folder / CHECK, checked)
    described = ReaderSettings(int(read_card(adapter)["tokens"]), config["pad_token_id"])
    (folder / SETTINGS).write_text(json.dumps(asdict(described), indent=2), encoding="utf-8")
    prepare_openvino(folder / GRAPH)
