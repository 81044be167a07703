"""Source of a reranker's weights: a folder, the hub's cache, a package."""

from __future__ import annotations

from pathlib import Path

from rag_engine.backends.encoder import source as model_source
from rag_engine.backends.encoder.export import first_line
from rag_engine.backends.encoder.source import ModelSource
from rag_engine.backends.reranker.packaged_minilm import PACKAGED, packaged_name
from rag_engine.errors import BackendError

# What a cross-encoder is made of; the hub's other files are exports to runtimes that we make ourselves.
_FILES = ("*.json", "*.txt", "*.model", "model*.safetensors", "pytorch_model*.bin")
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
_SNAPSHOT = 12  # characters of a snapshot in the name of its model


def locate(name: str) -> ModelSource:
    """Where the cross-encoder of that name is: local folder, hub cache, package (its own model only), hub.

    A name without an owner is one of the hub's cross-encoder/. The packaged model is never downloaded, so that it
    needs no network. Raises BackendError when the model is nowhere.
    """
    if (Path(name) / "config.json").is_file():
        return model_source.locate(name)
    if name == packaged_name():
        return ModelSource(name, None)
    repository = name if "/" in name else f"cross-encoder/{name}"
    cached = _snapshot(repository, offline=True)
    if isinstance(cached, ModelSource):
        return cached
    if repository == f"cross-encoder/{PACKAGED}":
        return ModelSource(packaged_name(), None)
    downloaded = _snapshot(repository, offline=False)
    if isinstance(downloaded, ModelSource):
        return downloaded
    raise BackendError(
        f"Reranker {name!r} is neither a folder nor in the hub's cache, and the hub did not give it: {downloaded}",
        help=f"Give the path of a sentence-transformers cross-encoder, or use {PACKAGED}, which needs no hub.",
    )


def _snapshot(repository: str, *, offline: bool) -> ModelSource | str:
    """Return a whole snapshot of the hub's cache, or why there is none."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(repository, allow_patterns=list(_FILES), local_files_only=offline))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        return first_line(error)
    if not (folder / "config.json").is_file() or not any(file for kind in _WEIGHTS for file in folder.glob(kind)):
        return f"{folder} holds no configuration or no weights"
    return ModelSource(f"{repository.split('/')[1]}@{folder.name[:_SNAPSHOT]}", folder)
