"""Models as folders that start without torch.

A folder holds `model.onnx`, the tokenizer, settings, and `check.npy`: torch's own results for a few texts. Every
runtime is compared with them at each start.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from subprocess import PIPE
from typing import Any, TypeVar

from filelock import FileLock

from rag_engine.backends.tokenizer import save_tokenizer
from rag_engine.confinement.parent import end_with_parent
from rag_engine.errors import BackendError
from rag_engine.messages import dump_json, load_json

GRAPH = "model.onnx"
CHECK = "check.npy"
# The runtimes compute attention in one go only where the graph spells it out.
PLAIN_ATTENTION = {"attn_implementation": "eager"}
_DEFAULT_TOKENS = 512
_UNLIMITED = 100_000

Loaded = TypeVar("Loaded")


def first_line(error: BaseException) -> str:
    """Return an error's message on one line of readable length, or its type if it has none."""
    return next((line.strip()[:200] for line in str(error).splitlines() if line.strip()), type(error).__name__)


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """Return the folder, filled by `build` unless it is already there.

    `build` writes into a folder next to it, which is then renamed into place. A killed build leaves nothing under the
    final name; the next build removes its rest. If several processes want the same folder, one builds and the others
    wait: a build can take most of the memory of a small machine.
    """
    if folder.is_dir():
        return folder
    partial = folder.with_name(f".{folder.name}.partial")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            if not folder.is_dir():
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir()
                build(partial)
                partial.rename(folder)
    except OSError as error:
        raise BackendError(
            "Cannot write {folder}: {error}.",
            help="Free space there or set SEXTANT_CACHE to another folder.",
            folder=folder,
            error=error,
        ) from error
    return folder


def build_apart(build: Callable[..., None], *arguments: Path) -> None:
    """Call a function of a module with paths, in a separate process that frees its memory at the end.

    A BackendError of the function is raised as it is. Any other end of the process is a BackendError with its last
    words.
    """
    command = [sys.executable, "-P", "-m", __name__, build.__module__, build.__name__, *map(str, arguments)]
    # Its standard input is held open: it ends when we do.
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True, encoding="utf-8") as process:
        said = process.stdout.read() if process.stdout else ""
        told = process.stderr.read() if process.stderr else ""
    if said:
        fault, cure = load_json(said)
        raise BackendError(fault, help=cure)
    if process.returncode:
        raise BackendError(
            "{folder} cannot be made: {error}.",
            help="Free memory and space there, or set SEXTANT_CACHE to another folder.",
            folder=arguments[0],
            error=(told.strip().splitlines() or [f"the process ended with {process.returncode}"])[-1].rstrip("."),
        )


def _build_here(module: str, name: str, arguments: Sequence[str]) -> None:
    """Call the function that another process asks for, and tell it of a BackendError on standard output."""
    end_with_parent()
    try:
        getattr(import_module(module), name)(*map(Path, arguments))
    except BackendError as error:
        sys.stdout.write(dump_json([error.fault, error.help]))


def open_quietly(kind: str, location: str, load: Callable[[], Loaded], cure: str) -> Loaded:
    """Return the model that `load` gives; BackendError with the `cure` if it is not whole."""
    import transformers
    from safetensors import SafetensorError

    # A report about an unused pooler and a progress bar tell an analyst nothing.
    reports: Any = transformers.logging
    reports.set_verbosity_error()
    reports.disable_progress_bar()
    try:
        return load()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, SafetensorError) as error:
        raise BackendError(
            "{kind} {location} cannot be loaded: {error}.",
            help=cure,
            kind=kind,
            location=location,
            error=first_line(error).rstrip("."),
        ) from error


def limits(model: Any) -> tuple[int, int]:
    """Return how many tokens a sentence-transformers model reads, and its filling token."""
    tokens = (model.max_seq_length, getattr(model.tokenizer, "model_max_length", None))
    padding = int(getattr(model.tokenizer, "pad_token_id", 0) or 0)
    return min((n for n in tokens if n and n < _UNLIMITED), default=_DEFAULT_TOKENS), padding


def export_model(model: Any, folder: Path, forward: Callable[..., Any], sample: Any, inputs: Sequence[str]) -> str:
    """Write the tokenizer and the graph of `forward`, traced with the tensors of `sample`.

    Return why there is no graph, or an empty text. The folder of a model that cannot be exported says so, so that
    later starts do not try again.
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
        save_tokenizer(model.tokenizer.backend_tokenizer, folder)
        with torch.no_grad(), warnings.catch_warnings():
            # The tracer warns of every branch on a shape; the result is checked anyway.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                Traced().eval(),
                tuple(sample[name] for name in inputs),
                str(folder / GRAPH),
                dynamo=False,
                opset_version=17,
                input_names=list(inputs),
                output_names=["output"],
                dynamic_axes=dict.fromkeys(inputs, axes) | {"output": {0: "batch"}},
            )
    except (RuntimeError, TypeError, ValueError, AttributeError, KeyError) as error:
        return f"{type(error).__name__}: {error}"[:500]
    return ""


if __name__ == "__main__":
    _build_here(sys.argv[1], sys.argv[2], sys.argv[3:])
