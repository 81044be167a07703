"""Source of a model's weights: a folder, the hub's cache, the hub, or a package of ours."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from rag_engine.backends.model_export import first_line
from rag_engine.errors import BackendError
from rag_engine.text.tables import read_table

# The files of a model; the hub's other files are exports to runtimes that we make ourselves.
_FILES = ("*.json", "*.txt", "*.model", "*model*.safetensors", "*pytorch_model*.bin")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json", "pytorch_model.bin.index.json")
SNAPSHOT = 12  # characters of a snapshot in the name of its model


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model's name with its weights' version, and its folder; no folder means the packaged weights."""

    name: str
    folder: Path | None

    @property
    def folder_name(self) -> str:
        """The name with nothing in it that a file system dislikes."""
        return re.sub(r"[^\w.@-]", "_", self.name)


def package_folder(package: str, held: str, cure: str) -> Path:
    """Return the folder of an installed package, which is not imported; BackendError when it is not there."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise BackendError(
            "The package {package}, which holds {held}, is missing.", help=cure, package=package, held=held
        )
    return Path(spec.origin).parent


def checked_weights(model: str, folder: Path) -> Path:
    """Return the recorded file of a model in its package's folder.

    BackendError if it is missing or differs from the record. Seventy megabytes take a twentieth of a second; the
    encoder and the reranker are only unpacked once.
    """
    record: dict[str, str] = read_table("models")[model]
    file = folder / record["file"]
    if not file.is_file() or _digest(file).hex() != record["sha256"]:
        raise BackendError(
            "{file}, the weights of {model}, is not the file that was recorded."
            if file.is_file()
            else "{file}, the weights of {model}, is missing.",
            help="Install {package} again, in the version of the lock file.",
            file=file,
            model=model,
            package=record["package"],
        )
    return file


def _digest(file: Path) -> bytes:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def in_folder(name: str) -> ModelSource | None:
    """Return the model of a local folder, named by a hash of its content, None if there is none."""
    folder = Path(name).absolute()
    if not any((folder / file).is_file() for file in ("config.json", "modules.json")):
        return None
    digest = hashlib.sha256()
    for file in sorted(p for p in folder.rglob("*") if p.suffix in (".json", ".safetensors", ".bin")):
        digest.update(_digest(file))
    return ModelSource(f"{folder.name}@{digest.hexdigest()[:12]}", folder)


def on_hub(kind: str, name: str, repository: str, packaged: str, cure: str) -> ModelSource:
    """Return the model of a repository: from the hub's cache, the package or a download.

    `packaged` is the name of our packaged model, or empty. The packaged model is never downloaded, so that a first
    start needs no network. Raises BackendError with the `cure` when the model is nowhere.
    """
    from huggingface_hub.constants import HF_HUB_CACHE

    # Before the hub's own code is imported, which takes .2 s of a start.
    if packaged and not (Path(HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}").is_dir():
        return ModelSource(packaged, None)
    from huggingface_hub import snapshot_download, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        cached = try_to_load_from_cache(repository, "config.json")
        if isinstance(cached, str) and is_whole(Path(cached).parent):
            return of_snapshot(repository.split("/")[1], Path(cached).parent)
        if packaged:
            return ModelSource(packaged, None)
        folder = Path(snapshot_download(repository, allow_patterns=list(_FILES)))
        reason = "" if is_whole(folder) else f"{folder} holds no configuration or no weights"
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = first_line(error)
    if reason:
        raise BackendError(
            "{kind} {name!r} is neither a folder nor in the hub's cache, and the hub did not give it: {error}",
            help=cure,
            kind=kind,
            name=name,
            error=reason,
        )
    return of_snapshot(repository.split("/")[1], folder)


def is_whole(snapshot: Path) -> bool:
    """Return whether a snapshot of the hub's cache holds a configuration and weights."""
    return (snapshot / "config.json").is_file() and any((snapshot / weights).is_file() for weights in _WEIGHTS)


def of_snapshot(model: str, snapshot: Path) -> ModelSource:
    """Return the model of a snapshot of the hub's cache, by whose name an index remembers it."""
    return ModelSource(f"{model}@{snapshot.name[:SNAPSHOT]}", snapshot)
