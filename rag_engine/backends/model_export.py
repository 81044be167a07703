"""Models of sentence-transformers as folders that start without torch.

A folder holds `model.onnx`, `tokenizer.json`, settings, and `check.npy`, what torch itself computes of a few texts,
against which every runtime is checked at each start.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock

from rag_engine.atomic_write import write_atomic
from rag_engine.errors import BackendError

CHECK = "check.npy"
# The runtimes compute attention in one go only where the graph spells it out.
PLAIN_ATTENTION = {"attn_implementation": "eager"}
_DEFAULT_TOKENS = 512
_UNLIMITED = 100_000

Loaded = TypeVar("Loaded")


def first_line(error: BaseException) -> str:
    """Return what an error says, on one line and of a readable length; its type where it says nothing."""
    return next((line.strip()[:200] for line in str(error).splitlines() if line.strip()), type(error).__name__)


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """Return the folder, filled by `build` unless it is already there.

    `build` writes beside it and the result is renamed into place, so a build that is killed leaves nothing
    under the final name; what it did leave goes with the next build. Of several processes that want the same
    folder one builds and the others wait, since a build can take most of the memory of a small machine. BackendError
    where a file of it was changed since.
    """
    if folder.is_dir():
        return _unchanged(folder)
    partial = folder.with_name(f".{folder.name}.partial")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            if not folder.is_dir():
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir()
                build(partial)
                _record(folder).unlink(missing_ok=True)
                partial.rename(folder)
    except OSError as error:
        raise BackendError(
            f"Cannot write {folder}: {error}.", help="Free space there or set SEXTANT_CACHE to another folder."
        ) from error
    return _unchanged(folder)


def _unchanged(folder: Path) -> Path:
    """Return the folder whose files have the hashes that were taken when they were seen first.

    Beside the hash stand size and time of each file: only where these differ is it read again, since half a gigabyte
    would cost a third of a second of every start.
    """
    record = _record(folder)
    known: dict[str, list[object]] = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    now: dict[str, list[object]] = {}
    # Folders in it are made later, and have records of their own.
    for file in sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")):
        name, state = file.name, file.stat()
        before, seen = known.get(name, [None, 0, 0]), [state.st_size, state.st_mtime_ns]
        now[name] = before if before[1:] == seen else [file_digest(file), *seen]
        if name in known and now[name][0] != before[0]:
            raise BackendError(f"{file} was changed after it was made.", help=f"Remove {folder}; it is made anew.")
    if now != known:
        # A cache that is not ours to write in is one that nobody here changes.
        with suppress(OSError):
            write_atomic(record, json.dumps(now, indent=1).encode())
    return folder


def _record(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.sha256.json")


def file_digest(file: Path) -> str:
    """Return the sha256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_quietly(kind: str, location: str, load: Callable[[], Loaded], cure: str) -> Loaded:
    """Return the model that `load` gives; BackendError with the `cure` for one that is not whole."""
    import transformers
    from safetensors import SafetensorError

    # A report about a pooler nobody uses and a progress bar tell an analyst nothing.
    reports: Any = transformers.logging
    reports.set_verbosity_error()
    reports.disable_progress_bar()
    try:
        return load()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, SafetensorError) as error:
        raise BackendError(
            f"{kind} {location} cannot be loaded: {first_line(error).rstrip('.')}.", help=cure
        ) from error


def limits(model: Any) -> tuple[int, int]:
    """Return how many tokens a model of sentence-transformers reads, and the token that fills a shorter text."""
    tokens = (model.max_seq_length, getattr(model.tokenizer, "model_max_length", None))
    padding = int(getattr(model.tokenizer, "pad_token_id", 0) or 0)
    return min((n for n in tokens if n and n < _UNLIMITED), default=_DEFAULT_TOKENS), padding


def export_model(
    model: Any, folder: Path, forward: Callable[..., Any], sample: Any, inputs: Sequence[str], output: str
) -> str:
    """Write the tokenizer and the graph of `forward`, which takes the inputs' tensors; `sample` are some to trace it.

    Returns why there is no graph, or nothing: a model that cannot be exported leaves a folder that says so, so that
    the attempt is not made at every start.
    """
    import torch

    class Traced(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: torch.Tensor) -> Any:
            return forward(**dict(zip(inputs, tensors, strict=True)))

    axes = {0: "batch", 1: "length"}
    try:
        model.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
        with torch.no_grad(), warnings.catch_warnings():
            # The tracer warns of every branch on a shape; the check of the result is what counts.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                Traced().eval(),
                tuple(sample[name] for name in inputs),
                str(folder / "model.onnx"),
                dynamo=False,
                opset_version=17,
                input_names=list(inputs),
                output_names=[output],
                dynamic_axes=dict.fromkeys(inputs, axes) | {output: {0: "batch"}},
            )
    except (RuntimeError, TypeError, ValueError, AttributeError, KeyError) as error:
        return f"{type(error).__name__}: {error}"[:500]
    return ""
