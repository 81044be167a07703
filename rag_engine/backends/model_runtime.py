"""Runtimes of exported models, OpenVINO and ONNX Runtime, and the choice of the fastest that agrees with torch."""

from __future__ import annotations

import hashlib
import platform
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_engine.atomic_write import write_atomic
from rag_engine.backends.model_export import first_line
from rag_engine.backends.openvino_graph import (
    GRAPH,
    WORDS,
    GraphPrecision,
    keep_openvino_quiet,
    precision_options,
    prepared_graph,
    read_words,
)
from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Vectors

TokenIds = NDArray[np.int64]
Compute = Callable[[Mapping[str, TokenIds]], Vectors]
# From token ids to the rows of the words' table, (*ids.shape, width).
WordLookup = Callable[[TokenIds], Vectors]

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_CHOICES = {"auto": ("openvino", "onnx"), "openvino": ("openvino",), "onnx": ("onnx",), "torch": ()}
_PACKAGES = {"openvino": "openvino", "onnx": "onnxruntime"}
# What a runtime has agreed on with torch, beside the export.
_AGREED = ".agreed-"

# At its first array OpenVINO makes the table of NumPy's types, and lets other threads run meanwhile: one that has its
# first array then waits for the table, and keeps from running the one that makes it.
_FIRST_ARRAY = threading.Lock()

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime's name and its function from a graph's inputs, each (texts, tokens), to its output."""

    execution: str
    compute: Compute


def open_openvino(
    file: Path, precision: GraphPrecision | None = None, words: WordLookup | None = None, *, ordering: bool = False
) -> Runtime:
    """Return the graph in OpenVINO, in the precision that this processor is fastest in unless another is given.

    `words` look up what a graph without the table takes; `ordering` says that only the order of its outputs counts
    (see `fastest_precision`).

    What openvino_graph.py makes of the file, and the compiled model, are kept beside it, so that a later start takes a
    fraction of a second.
    """
    keep_openvino_quiet()
    import openvino

    with _FIRST_ARRAY:
        openvino.Type.f32.to_dtype()
    precision = precision or fastest_precision(ordering=ordering)
    folder = prepared_graph(file, precision)
    words = words or read_words(folder)
    core = openvino.Core()
    core.set_property({"CACHE_DIR": str(folder / "compiled")})
    # Without pinning, the window and the worker that indexes do not fight for the same cores.
    options = {"PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False} | precision_options(precision)
    compiled = core.compile_model(folder / GRAPH, "CPU", options)
    request, names = compiled.create_infer_request(), {name for one in compiled.inputs for name in one.names}
    lock = threading.Lock()

    def compute(inputs: Mapping[str, TokenIds]) -> Vectors:
        given = _given(inputs, names, words)
        with lock:
            return np.array(request.infer(given, share_inputs=True)[0], dtype=np.float32)

    return Runtime(f"openvino {precision}", compute)


def prepare_openvino(file: Path, *, ordering: bool = False) -> None:
    """Prepare a graph for OpenVINO as `open_openvino` would, if it can; that says what is wrong if it cannot."""
    keep_openvino_quiet()
    with suppress(ImportError, RuntimeError):
        prepared_graph(file, fastest_precision(ordering=ordering))


def fastest_precision(processor: Path = Path("/proc/cpuinfo"), *, ordering: bool = False) -> GraphPrecision:
    """Return the precision that OpenVINO is fastest in on this processor, among those that are exact enough.

    That is bfloat16 with matrix instructions (AMX) and on AMD's processors with AVX512-BF16, else single precision.
    Where only the `ordering` of the outputs counts, it is 8 bit with AVX512-VNNI alone: a chance fitted on exact
    similarities refuses other questions in 8 bit. OpenVINO itself counts AVX512-BF16 as enough for bfloat16 everywhere:
    on AMD's it reads 1.8 times as fast as single precision, on Intel's without AMX more slowly; all three are timed by
    benchmarks/models/encoders.py. A processor that is not described there computes in single precision.
    """
    try:
        flags = processor.read_text(encoding="utf-8").split()
    except OSError:
        return "f32"
    if "amx_bf16" in flags or {"AuthenticAMD", "avx512_bf16"} <= {*flags}:
        return "bf16"
    return "int8" if ordering and "avx512_vnni" in flags else "f32"


def open_onnx(file: Path, words: WordLookup | None = None) -> Runtime:
    """Return the graph in ONNX Runtime, whose own errors share no base class: they come as RuntimeError.

    `words` look up what a graph without the table takes.
    """
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    failures = tuple(e for e in vars(state).values() if isinstance(e, type) and issubclass(e, Exception))
    try:
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    except failures as error:
        raise RuntimeError(str(error)) from error
    names = {one.name for one in session.get_inputs()}

    def compute(inputs: Mapping[str, TokenIds]) -> Vectors:
        try:
            return np.asarray(session.run(None, _given(inputs, names, words))[0], dtype=np.float32)
        except failures as error:
            raise RuntimeError(str(error)) from error

    return Runtime("onnx", compute)


def _given(inputs: Mapping[str, TokenIds], names: Collection[str], words: WordLookup | None) -> dict[str, Any]:
    """Return what a graph with inputs of these names takes."""
    given: dict[str, Any] = {name: value for name, value in inputs.items() if name in names}
    if words is not None:
        given[WORDS] = words(inputs[INPUTS[0]])
    return given


def check_execution(execution: str) -> None:
    """Raise InputError for an unknown execution."""
    if execution not in _CHOICES:
        raise InputError(f"Execution {execution!r} is not a runtime.", help=f"Use one of {', '.join(_CHOICES)}.")


def describe_execution(execution: str, passed_over: Sequence[str]) -> str:
    """Return the runtime that computes and why not a faster one, for those who ask what works."""
    return f"{execution} ({'; '.join(passed_over)})" if passed_over else execution


def first_that_agrees(
    execution: str,
    folder: Path,
    runtimes: Mapping[str, Callable[[], Runtime]],
    build: Callable[[Runtime], Model],
    agrees: Callable[[Model, int | None], bool],
    passed_over: list[str],
) -> Model | None:
    """Return the model on the first of the execution's runtimes that opens and agrees with torch, None without one.

    `agrees` compares the model with torch on so many of the check texts in the export's `folder`, on all for None. All
    are compared once for each version of a runtime, processor and content of the folder, and one at every other start,
    since all of them take as long as loading the model does. `passed_over` gathers why other runtimes are not used.
    """
    for choice in _CHOICES[execution]:
        try:
            runtime = runtimes[choice]()
            model = build(Runtime(describe_execution(runtime.execution, passed_over), runtime.compute))
            known, agreed = folder / f"{_AGREED}{choice}", _circumstances(runtime, choice, folder)
            before = known.is_file() and known.read_text(encoding="ascii", errors="replace") == agreed
            if agrees(model, 1 if before else None):
                if not before:
                    # A folder that cannot be written is checked in full every time.
                    with suppress(OSError):
                        write_atomic(known, agreed.encode("ascii"))
                return model
            passed_over.append(f"{choice} differs from it")
        except (ImportError, RuntimeError, BackendError) as error:  # absent, not for this processor, or damaged
            passed_over.append(f"{choice} failed: {first_line(error)}")
    return None


def _circumstances(runtime: Runtime, choice: str, folder: Path) -> str:
    """Return a digest of what an agreement with torch depends on: runtime, its version, processor, and the folder."""
    listed = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    named = (line for line in listed.splitlines() if line.startswith(("flags", "Features")))
    stated = [runtime.execution, version(_PACKAGES[choice]), next(named, platform.processor())]
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            content = file.stat()
            stated.append(f"{file.relative_to(folder)} {content.st_size} {content.st_mtime_ns}")
    return hashlib.sha256("\n".join(stated).encode()).hexdigest()
