"""Runtimes of exported encoders: OpenVINO and ONNX Runtime."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rag_engine.backends.encoder.export import EncoderSettings, read_settings
from rag_engine.protocols import Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FloatPrecision = Literal["bf16", "f32"]
Tokens = NDArray[np.int64]
Compute = Callable[[Tokens, Tokens], Vectors]

# Texts tokenised at once: enough to sort by length, few enough to hold in memory.
_WINDOW = 1024


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime's name and its function from token ids and mask, both (texts, tokens), to vectors."""

    execution: str
    compute: Compute
    batch_tokens: int


def told(execution: str, passed_over: Sequence[str]) -> str:
    """Return the runtime that computes and why not a faster one, for those who ask what works."""
    return f"{execution} ({'; '.join(passed_over)})" if passed_over else execution


def openvino_graph(file: Path, precision: FloatPrecision | None) -> tuple[str, Callable[[Any], NDArray[np.float32]]]:
    """OpenVINO's name with its precision, and the function from a graph's inputs to its first output.

    In bfloat16 where the processor computes in it, if not told otherwise. The compiled model is kept beside the file,
    so that a second start takes a fraction of a second.
    """
    # OpenVINO reports its import to its makers over the network unless this companion package is out of reach.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    import openvino

    core = openvino.Core()
    if precision is None:
        precision = "bf16" if "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"
    core.set_property({"CACHE_DIR": str(file.parent / "openvino")})
    # Without pinning, the window and the worker that indexes do not fight for the same cores.
    options = {"INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False}
    request = core.compile_model(file, "CPU", options).create_infer_request()
    lock = threading.Lock()

    def infer(inputs: Any) -> NDArray[np.float32]:
        with lock:
            return np.array(request.infer(inputs, share_inputs=True)[0], dtype=np.float32)

    return f"openvino {precision}", infer


def open_openvino(folder: Path, precision: FloatPrecision | None = None) -> Runtime:
    """Return the exported model in OpenVINO; in bfloat16 where the processor computes in it, if not told otherwise."""
    execution, infer = openvino_graph(folder / "model.onnx", precision)
    return Runtime(execution, lambda ids, mask: infer([ids, mask]), batch_tokens=1024)


def open_onnx(folder: Path, file: str = "model.onnx") -> Runtime:
    """Return the exported model in ONNX Runtime, single precision."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(folder / file), providers=["CPUExecutionProvider"])

    def compute(ids: Tokens, mask: Tokens) -> Vectors:
        return np.asarray(session.run(None, {"input_ids": ids, "attention_mask": mask})[0], dtype=np.float32)

    return Runtime("onnx", compute, batch_tokens=2048)


class ExportedModel:
    """Texts to vectors by an exported model and one of its runtimes; safe to call from several threads."""

    def __init__(self, folder: Path, runtime: Runtime) -> None:
        self.settings: EncoderSettings = read_settings(folder)
        self.execution = runtime.execution
        self._runtime = runtime
        self._tokenizer = _open_tokenizer(folder / "tokenizer.json", self.settings.max_tokens)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension), in the order of the texts."""
        result = np.empty((len(texts), self.settings.dimension), dtype=np.float32)
        for start in range(0, len(texts), _WINDOW):
            encodings = self._tokenizer.encode_batch_fast(list(texts[start : start + _WINDOW]))
            tokens = [encoding.ids for encoding in encodings]
            for rows in batches([len(ids) for ids in tokens], self._runtime.batch_tokens):
                ids, mask = _pad([tokens[row] for row in rows], self.settings.padding_id)
                result[start + np.array(rows)] = self._runtime.compute(ids, mask)
        # bfloat16 leaves norms off by about a thousandth.
        result /= np.linalg.norm(result, axis=1, keepdims=True)
        return result

    def count_tokens(self, text: str) -> int:
        """Tokens of the whole text, special tokens included, also beyond what the model reads."""
        first = self._tokenizer.encode(text)
        special = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        return len(first.ids) + sum(len(rest.ids) - special for rest in first.overflowing)


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


def _pad(rows: Sequence[Sequence[int]], padding_id: int) -> tuple[Tokens, Tokens]:
    # The runtimes prepare kernels for every new shape; multiples of eight keep the shapes few.
    shape = (len(rows), -(-max(map(len, rows)) // 8) * 8)
    ids, mask = np.full(shape, padding_id, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return ids, mask


def _open_tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer
