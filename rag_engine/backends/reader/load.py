"""The reader: an adapter on the packaged encoder, on the fastest runtime, or one of choice."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from rag_engine.backends import model_runtime, model_source
from rag_engine.backends.encoder import packaged_e5
from rag_engine.backends.exported_model import ExportedModel, ModelSettings, broken_off
from rag_engine.backends.load_model import ModelKind, load_model
from rag_engine.backends.model_export import CHECK, GRAPH, build_apart, open_quietly
from rag_engine.backends.tokenizer import save_pieces
from rag_engine.config import DATA
from rag_engine.errors import BackendError
from rag_engine.messages import Message
from rag_engine.protocols import PassageReader
from rag_engine.types.passage import PassageReading

_BATCH_TOKENS = 2048

ADAPTER = DATA / "reader"
CARD = "card.json"
CHECK_QUESTION = "Who warns older people when a heatwave is forecast?"
CHECK_TEXTS = (
    "The health service telephones every older person on its list as soon as a heatwave is forecast.",
    "Die Gemeinden stellen Hitzeaktionspläne auf; ÄRZTE und Pflegedienste werden früh beteiligt. " * 6,
    "Kuraklık",
)
CHECK_PAIRS = tuple((CHECK_QUESTION, text) for text in CHECK_TEXTS)
# A layer behind the tokens' states, from which the heads read.
_UNREAD = ".pooler."
_HEADS = ("span", "relevance")

# Weight and bias of a linear layer.
Layer = tuple[NDArray[np.float32], NDArray[np.float32]]
Checked = NDArray[np.float32]

_CURE = Message("Give the path of a question-answering model or its name on the hub, or leave SEXTANT_READER unset.")
_TOKENS = 384


class AdapterReader:
    """A PassageReader over an exported model; made by `load_reader`."""

    def __init__(self, model: ExportedModel) -> None:
        self.name, self.execution, self._model = model.name, model.execution, model

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        """Return the reading of each passage; BackendError if the runtime breaks off."""
        found: dict[int, PassageReading] = {}
        for row, tokens, read in self._model.outputs([(question, passage) for passage in passages]):
            own = list(tokens.own)
            found[row] = PassageReading(
                relevance=float(read[0, 2]),
                absent=float(read[0, 0] + read[0, 1]),
                tokens=tuple(tokens.spans[at] for at in own),
                starts=tuple(read[own, 0].tolist()),
                ends=tuple(read[own, 1].tolist()),
            )
        return [found[row] for row in range(len(passages))]


def load_reader(name: str = "", execution: str = "auto") -> PassageReader:
    """Return the reader of a name.

    It is the packaged adapter for "", the adapter of a folder, or a question-answering model. BackendError if it is
    nowhere, does not fit or cannot be computed.
    """
    folder = Path(name).expanduser() if name else ADAPTER
    if not name or (folder / CARD).is_file():
        return load_adapter(folder, execution)
    source = model_source.in_folder(name) or model_source.on_hub("Reader", name, name, "", _CURE)
    return QuestionAnsweringReader(source)


def load_adapter(adapter: Path = ADAPTER, execution: str = "auto", cache: Path | None = None) -> AdapterReader:
    """Return the reader of an adapter, ready to use.

    The first load merges it into the packaged encoder and exports that into `cache`. BackendError if the adapter is
    missing or does not fit the installed encoder, or if no runtime computes it.
    """
    card = read_card(adapter)
    if card.get("encoder") != packaged_e5.packaged_name():
        raise BackendError(
            "The adapter in {adapter} was trained on {encoder}, installed is {packaged}.",
            help="Train it again (training/README.md), or set SEXTANT_READER to none.",
            adapter=adapter,
            encoder=card.get("encoder"),
            packaged=packaged_e5.packaged_name(),
        )
    digest = hashlib.sha256((adapter / "adapter.safetensors").read_bytes()).hexdigest()
    if digest != card.get("sha256"):
        raise BackendError(
            "The adapter in {adapter} is not the one that its card describes.",
            help="Restore both files.",
            adapter=adapter,
        )
    source = model_source.ModelSource(f"{adapter.name}@{digest[:12]}", None)
    kind = ModelKind(
        "reader",
        CHECK_PAIRS,
        lambda partial: build_apart(export, partial, adapter.absolute()),
        dict.fromkeys(("openvino", "onnx"), _BATCH_TOKENS),
    )
    model = load_model(kind, source, execution, cache)
    assert isinstance(model, ExportedModel)
    return AdapterReader(model)


def read_card(folder: Path) -> Mapping[str, Any]:
    """Return an adapter's card; BackendError if it is missing or cannot be read."""
    try:
        return dict(json.loads((folder / CARD).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise BackendError(
            f"{folder} holds no adapter of the reader: {error}.",
            help="Give a folder with adapter.safetensors and card.json.",
        ) from error


def merge(weights: dict[str, NDArray[np.float32]], adapter: Path) -> tuple[Layer, Checked]:
    """Add an adapter's updates to the weights of its encoder, and return the layer of its heads.

    For each token the layer gives the logits of an answer's start and end, and at the first the passage's relevance.
    Torch's logits of the first tokens of CHECK_TEXTS are returned too. BackendError if the adapter does not fit the
    encoder.
    """
    card = read_card(adapter)
    try:
        learned = {name: one.astype(np.float32) for name, one in load_file(adapter / "adapter.safetensors").items()}
        for name in [one for one in learned if one.endswith(".up") and _UNREAD not in one]:
            layer = name.removeprefix("encoder.").removesuffix(".up")
            weights[f"{layer}.weight"] += card["scale"] * (learned[name] @ learned[name.removesuffix("up") + "down"])
        weight, bias = (np.concatenate([learned[f"{head}.{part}"] for head in _HEADS]) for part in ("weight", "bias"))
        checked = np.array(card["check"], dtype=np.float32).reshape(len(CHECK_TEXTS), len(bias))
        return (weight.reshape(-1, packaged_e5.settings()["config.json"]["hidden_size"]), bias), checked
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

    model, config = packaged_e5.PackagedModel(packaged_e5.packaged_file()), packaged_e5.settings()["config.json"]
    weights = model.weights()
    heads, checked = merge(weights, adapter)
    save_pieces(model.pieces(), model.special, folder)
    graph = BertGraph(weights, config)
    graph.save(graph.head(*heads), folder / GRAPH)
    np.save(folder / CHECK, checked)
    ModelSettings(int(read_card(adapter)["tokens"]), config["pad_token_id"]).write(folder)
    model_runtime.prepare_openvino(folder / GRAPH)


class QuestionAnsweringReader:
    """A PassageReader over a model with a head for start and end; made by `load_reader`.

    How relevant a passage is follows from how much better its best answer is than none.
    """

    def __init__(self, source: model_source.ModelSource) -> None:
        from transformers import AutoModelForQuestionAnswering, AutoTokenizer

        location = str(source.folder)
        self.name, self.execution = source.name, "torch"
        self._lock = threading.Lock()
        self._tokenizer = open_quietly(
            "Reader", location, lambda: AutoTokenizer.from_pretrained(location, use_fast=True), _CURE
        )
        self._model = open_quietly(
            "Reader", location, lambda: AutoModelForQuestionAnswering.from_pretrained(location).eval(), _CURE
        )

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        """Return the reading of each passage; BackendError if the model breaks off."""
        with self._lock:
            try:
                return [self._read(question, passage) for passage in passages]
            except RuntimeError as error:
                raise broken_off(self.name, self.execution, error) from error

    def _read(self, question: str, passage: str) -> PassageReading:
        import torch

        given = self._tokenizer(
            question,
            passage,
            truncation="only_second",
            max_length=_TOKENS,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = given.pop("offset_mapping")[0].tolist()
        own = [at for at, of in enumerate(given.sequence_ids(0)) if of == 1]
        with torch.no_grad():
            output = self._model(**given)
        starts, ends = output.start_logits[0].tolist(), output.end_logits[0].tolist()
        absent = starts[0] + ends[0]
        begun, ended = [starts[at] for at in own], [ends[at] for at in own]
        best = max(begun, default=0.0) + max(ended, default=0.0)
        places = tuple((int(offsets[at][0]), int(offsets[at][1])) for at in own)
        return PassageReading(best - absent, absent, places, tuple(begun), tuple(ended))
