"""Runtimes of exported models, OpenVINO and ONNX Runtime, and the choice of the fastest that agrees with torch."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_engine.backends.model_export import first_line
from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Vectors

if TYPE_CHECKING:
    from tokenizers import Encoding

FloatPrecision = Literal["bf16", "f32"]
Tokens = NDArray[np.int64]
Compute = Callable[[Mapping[str, Tokens]], Vectors]

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_CHOICES = {"auto": ("openvino", "onnx"), "openvino": ("openvino",), "onnx": ("onnx",), "torch": ()}
# Texts tokenised at once: enough to sort by length, few enough to hold in memory.
_WINDOW = 1024

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime's name and its function from a graph's inputs, each (texts, tokens), to its output."""

    execution: str
    compute: Compute


def open_openvino(file: Path, precision: FloatPrecision | None = None) -> Runtime:
    """Return the graph in OpenVINO; in bfloat16 where the processor is faster in it, unless another precision is set.

    The compiled model is kept beside the file, so that a second start takes a fraction of a second.
    """
    # OpenVINO reports its import to its makers over the network unless this companion package is out of reach.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    import openvino

    core = openvino.Core()
    precision = precision or faster_precision()
    core.set_property({"CACHE_DIR": str(file.parent / "openvino")})
    # Without pinning, the window and the worker that indexes do not fight for the same cores.
    options = {"INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False}
    request = core.compile_model(file, "CPU", options).create_infer_request()
    lock = threading.Lock()

    def compute(inputs: Mapping[str, Tokens]) -> Vectors:
        with lock:
            return np.array(request.infer(dict(inputs), share_inputs=True)[0], dtype=np.float32)

    return Runtime(f"openvino {precision}", compute)


def faster_precision(processor: Path = Path("/proc/cpuinfo")) -> FloatPrecision:
    """Return the precision that OpenVINO is faster in: bfloat16 with matrix instructions (AMX), else single precision.

    OpenVINO itself counts AVX512-BF16 as enough, where bfloat16 took 1.4 to 1.6 times the processor time of single
    precision when it was tried; benchmarks/encoders.py times both. A processor that is not described there has no AMX.
    """
    try:
        return "bf16" if "amx_bf16" in processor.read_text(encoding="utf-8").split() else "f32"
    except OSError:
        return "f32"


def open_onnx(file: Path) -> Runtime:
    """Return the graph in ONNX Runtime, whose own errors share no base class: they come as RuntimeError."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    failures = tuple(e for e in vars(state).values() if isinstance(e, type) and issubclass(e, Exception))
    try:
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    except failures as error:
        raise RuntimeError(str(error)) from error

    def compute(inputs: Mapping[str, Tokens]) -> Vectors:
        try:
            return np.asarray(session.run(None, dict(inputs))[0], dtype=np.float32)
        except failures as error:
            raise RuntimeError(str(error)) from error

    return Runtime("onnx", compute)


def check_execution(execution: str) -> None:
    """Raise InputError for an unknown execution."""
    if execution not in _CHOICES:
        raise InputError(f"Execution {execution!r} is not a runtime.", help=f"Use one of {', '.join(_CHOICES)}.")


def describe_execution(execution: str, passed_over: Sequence[str]) -> str:
    """Return the runtime that computes and why not a faster one, for those who ask what works."""
    return f"{execution} ({'; '.join(passed_over)})" if passed_over else execution


def first_that_agrees(
    execution: str,
    runtimes: Mapping[str, Callable[[], Runtime]],
    build: Callable[[Runtime], Model],
    agrees: Callable[[Model], bool],
    passed_over: list[str],
) -> Model | None:
    """Return the model on the first of the execution's runtimes that opens and agrees with torch, None without one.

    `passed_over` gathers why the others are not used.
    """
    for choice in _CHOICES[execution]:
        try:
            runtime = runtimes[choice]()
            model = build(Runtime(describe_execution(runtime.execution, passed_over), runtime.compute))
            if agrees(model):
                return model
            passed_over.append(f"{choice} differs from it")
        except (ImportError, RuntimeError, BackendError) as error:  # absent, not for this processor, or damaged
            passed_over.append(f"{choice} failed: {first_line(error)}")
    return None


class ExportedModel:
    """A graph and its tokenizer; safe to call from several threads. `inputs` are the graph's among INPUTS."""

    def __init__(
        self, folder: Path, compute: Compute, max_tokens: int, padding_id: int, inputs: Sequence[str], batch_tokens: int
    ) -> None:
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        # Of two texts the longer one gives way, so a long question does not push the passage out.
        self.tokenizer.enable_truncation(max_tokens, strategy="longest_first")
        self._compute, self._padding_id, self._inputs = compute, padding_id, inputs
        self._batch_tokens = batch_tokens

    def compute(self, texts: Sequence[Any], *width: int) -> Vectors:
        """Return the graph's output for each text or pair of texts, of shape (len(texts), *width), in their order."""
        result = np.empty((len(texts), *width), dtype=np.float32)
        for start in range(0, len(texts), _WINDOW):
            encodings = self.tokenizer.encode_batch_fast(list(texts[start : start + _WINDOW]))
            for rows, found in self._computed(encodings):
                result[start + np.array(rows)] = found.reshape(len(rows), *width)
        return result

    def outputs(self, texts: Sequence[Any]) -> Iterator[tuple[int, Encoding, Vectors]]:
        """Yield each text's row, its tokens with their places, and the graph's output at each of them, in any order."""
        encodings = self.tokenizer.encode_batch(list(texts))
        for rows, found in self._computed(encodings):
            for row, output in zip(rows, found, strict=True):
                yield row, encodings[row], output[: len(encodings[row].ids)]

    def _computed(self, encodings: Sequence[Encoding]) -> Iterator[tuple[list[int], Vectors]]:
        for rows in batches([len(encoding.ids) for encoding in encodings], self._batch_tokens):
            yield rows, self._compute(self._padded([encodings[row] for row in rows]))

    def _padded(self, encodings: Sequence[Encoding]) -> dict[str, Tokens]:
        # The runtimes prepare kernels for every new shape; multiples of eight keep the shapes few.
        shape = (len(encodings), -(-max(len(encoding.ids) for encoding in encodings) // 8) * 8)
        ids = np.full(shape, self._padding_id, dtype=np.int64)
        mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, encoding in enumerate(encodings):
            count = len(encoding.ids)
            ids[row, :count], mask[row, :count], types[row, :count] = encoding.ids, 1, encoding.type_ids
        return {name: array for name, array in zip(INPUTS, (ids, mask, types), strict=True) if name in self._inputs}


def batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield indices in batches of like length, longest first; rows x longest row stays within `batch_tokens`.

    A row longer than that is a batch of its own.
    """
    batch: list[int] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batch and longest * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        if not batch:
            longest = lengths[index]
        batch.append(index)
    if batch:
        yield batch
