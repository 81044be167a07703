"""Where an encoder's weights come from."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from rag_engine.backends.atomic_folder import build_once
from rag_engine.backends.encoder_export import open_sentence_transformer
from rag_engine.backends.packaged_e5 import packaged_file, packaged_name, unpack
from rag_engine.errors import BackendError

_DEFAULT = "intfloat/multilingual-e5-small"
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
        """The model's folder; the packaged weights are unpacked into the cache first."""
        if self.folder is not None:
            return str(self.folder)
        return str(build_once(cache / "unpacked" / self.folder_name, lambda partial: unpack(packaged_file(), partial)))


def locate(name: str) -> ModelSource:
    """Where the model of that name is: local folder, hub cache, package (the default model only), hub.

    The default model is never downloaded, so that a first start needs no network. Raises BackendError when the
    model is nowhere.
    """
    if (Path(name) / "config.json").is_file() or (Path(name) / "modules.json").is_file():
        return _local(Path(name).absolute())
    repository = (
        _DEFAULT if name == _DEFAULT.split("/")[1] else name if "/" in name else f"sentence-transformers/{name}"
    )
    cached = _hub_cached(repository)
    if cached is not None:
        return cached
    if repository == _DEFAULT:
        return ModelSource(packaged_name(), None)
    try:
        open_sentence_transformer(repository)
    except (OSError, ValueError) as error:
        raise BackendError(
            f"Encoder {name!r} is neither a folder nor in the hub's cache, and the hub did not give it: "
            f"{str(error).splitlines()[0]}",
            help="Give the path of a sentence-transformers folder, or use multilingual-e5-small, which needs no hub.",
        ) from error
    downloaded = _hub_cached(repository)
    if downloaded is None:
        raise BackendError(
            f"Encoder {name!r} was downloaded but is not in the hub's cache.", help="Check HF_HOME and HF_HUB_CACHE."
        )
    return downloaded


def _repository(name: str) -> str:
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
    return ModelSource(f"{repository.split('/')[1]}@{snapshot.name[:12]}", snapshot)
