"""Runtimes of exported models, and the choice of the fastest that agrees with torch.

OpenVINO computes a graph without the table of word embeddings, its weights in no more bits than it uses. The table is
four fifths of a small multilingual model, and a text needs a few hundred of its rows. It is taken out of the graph into
a separate file, which is mapped into memory. Encoder and reader read the same words, and start without loading it.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_engine.atomic_write import write_atomic
from rag_engine.backends.encoder.packaged_e5 import packaged_words
from rag_engine.backends.model_export import build_once, first_line
from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Vectors

TokenIds = NDArray[np.int64]
Compute = Callable[[Mapping[str, TokenIds]], Vectors]
# From token ids to the rows of the words' table, (*ids.shape, width).
WordLookup = Callable[[TokenIds], Vectors]

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_CHOICES = {"auto": ("openvino", "onnx"), "openvino": ("openvino",), "onnx": ("onnx",), "torch": ()}
_PACKAGES = {"openvino": "openvino", "onnx": "onnxruntime"}
# The agreement of a runtime with torch, a file next to the export.
_AGREED = ".agreed-"

# At its first array OpenVINO makes the table of NumPy's types, and lets other threads run meanwhile. A thread with its
# first array then waits for the table, and blocks the thread that makes it.
_FIRST_ARRAY = threading.Lock()

Built = TypeVar("Built")

GraphPrecision = Literal["bf16", "int8", "f32"]

OPENVINO_GRAPH = "model.xml"
# The graph's input for the rows of the table, (texts, tokens, width), and the file that holds the table.
WORDS = "words"
_WORDS_FILE = "words.npy"
# Inputs of a layer that are brought into 8 bit with one scale; of larger groups vectors differ more from torch's.
_GROUP = 64
# Ends the name of a conversion of a layer's weights.
_HALVES = "_halves"
# Layers with fewer inputs or outputs take no time worth saving.
_LEAST_WIDTH = 64


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime's name and its function from a graph's inputs, each (texts, tokens), to its output."""

    execution: str
    compute: Compute


def open_openvino(file: Path, precision: GraphPrecision | None = None, *, ordering: bool = False) -> Runtime:
    """Return the graph in OpenVINO, in the given precision or the fastest of this processor.

    `ordering` says that only the order of its outputs counts (see `fastest_precision`).

    The graph that openvino_graph.py makes of the file, and the compiled model, are kept next to it. A later start then
    takes a fraction of a second.
    """
    keep_openvino_quiet()
    import openvino

    with _FIRST_ARRAY:
        openvino.Type.f32.to_dtype()
    precision = precision or fastest_precision(ordering=ordering)
    folder = prepared_graph(file, precision)
    core = openvino.Core()
    core.set_property({"CACHE_DIR": str(folder / "compiled")})
    # Without pinning, the window and the worker that indexes do not fight for the same cores.
    options: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False}
    options["INFERENCE_PRECISION_HINT"] = "f32" if precision == "int8" else precision
    if precision == "int8":
        options["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = _GROUP
    compiled = core.compile_model(folder / OPENVINO_GRAPH, "CPU", options)
    request, names = compiled.create_infer_request(), {name for one in compiled.inputs for name in one.names}
    words = read_words(folder) or _packaged_words(names)
    lock = threading.Lock()

    def compute(inputs: Mapping[str, TokenIds]) -> Vectors:
        given = _given(inputs, names, words)
        with lock:
            return np.array(request.infer(given, share_inputs=True)[0], dtype=np.float32)

    return Runtime(f"openvino {precision}", compute)


def prepare_openvino(file: Path, *, ordering: bool = False) -> None:
    """Prepare a graph for `open_openvino`, if it can be prepared.

    If it cannot, `open_openvino` names the fault.
    """
    keep_openvino_quiet()
    with suppress(ImportError, RuntimeError):
        prepared_graph(file, fastest_precision(ordering=ordering))


def fastest_precision(processor: Path = Path("/proc/cpuinfo"), *, ordering: bool = False) -> GraphPrecision:
    """Return the fastest precision of OpenVINO on this processor that is exact enough.

    | processor                                     | precision |
    |-----------------------------------------------|-----------|
    | matrix instructions (AMX); AMD's AVX512-BF16  | bfloat16  |
    | AVX512-VNNI alone, with `ordering`            | 8 bit     |
    | all others, and unknown ones                  | single    |

    With `ordering` only the order of the outputs counts: a chance fitted on exact similarities refuses other questions
    in 8 bit. OpenVINO itself uses bfloat16 with AVX512-BF16 everywhere. On AMD's processors it reads 1.8 times as fast
    as single precision, on Intel's without AMX more slowly. All three are timed by benchmarks/models/encoders.py.
    """
    try:
        flags = processor.read_text(encoding="utf-8").split()
    except OSError:
        return "f32"
    if "amx_bf16" in flags or {"AuthenticAMD", "avx512_bf16"} <= {*flags}:
        return "bf16"
    return "int8" if ordering and "avx512_vnni" in flags else "f32"


def open_onnx(file: Path) -> Runtime:
    """Return the graph in ONNX Runtime, whose own errors share no base class: they come as RuntimeError."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    failures = tuple(e for e in vars(state).values() if isinstance(e, type) and issubclass(e, Exception))
    try:
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    except failures as error:
        raise RuntimeError(str(error)) from error
    names = {one.name for one in session.get_inputs()}
    words = _packaged_words(names)

    def compute(inputs: Mapping[str, TokenIds]) -> Vectors:
        try:
            return np.asarray(session.run(None, _given(inputs, names, words))[0], dtype=np.float32)
        except failures as error:
            raise RuntimeError(str(error)) from error

    return Runtime("onnx", compute)


def _packaged_words(names: Collection[str]) -> WordLookup | None:
    """Return the words of the packaged encoder for a graph that takes them; others hold their own."""
    return packaged_words() if WORDS in names else None


def _given(inputs: Mapping[str, TokenIds], names: Collection[str], words: WordLookup | None) -> dict[str, Any]:
    """Return the inputs that a graph takes, by their names; `words` looks up the input WORDS."""
    given: dict[str, Any] = {name: value for name, value in inputs.items() if name in names}
    if words is not None:
        given[WORDS] = words(inputs[INPUTS[0]])
    return given


def check_execution(execution: str) -> None:
    """Raise InputError for an unknown execution."""
    if execution not in _CHOICES:
        raise InputError(f"Execution {execution!r} is not a runtime.", help=f"Use one of {', '.join(_CHOICES)}.")


def describe_execution(execution: str, passed_over: Sequence[str]) -> str:
    """Return the runtime that computes, and why not a faster one, for a person who checks it."""
    return f"{execution} ({'; '.join(passed_over)})" if passed_over else execution


def first_that_agrees(
    execution: str,
    folder: Path,
    runtimes: Mapping[str, Callable[[], Runtime]],
    build: Callable[[Runtime], Built],
    agrees: Callable[[Built, int | None], bool],
    passed_over: list[str],
) -> Built | None:
    """Return the model on the first runtime that opens and agrees with torch, None without one.

    `agrees` compares the model with torch on some of the check texts in the export's `folder`, or on all for None. All
    are compared once for each version of a runtime, processor and content of the folder. Every other start compares
    one, since all take as long as loading the model does. `passed_over` gathers why other runtimes are not used.
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
    """Return a digest of the runtime, its version, the processor and the folder.

    An agreement with torch depends on them.
    """
    listed = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    named = (line for line in listed.splitlines() if line.startswith(("flags", "Features")))
    stated = [runtime.execution, version(_PACKAGES[choice]), next(named, platform.processor())]
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            content = file.stat()
            stated.append(f"{file.relative_to(folder)} {content.st_size} {content.st_mtime_ns}")
    return hashlib.sha256("\n".join(stated).encode()).hexdigest()


def keep_openvino_quiet() -> None:
    """Keep OpenVINO from importing its converter.

    The import takes .2 s and is reported to the makers over the network.
    """
    sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]


def prepared_graph(file: Path, precision: GraphPrecision) -> Path:
    """Return the folder for the prepared graph of an ONNX file, next to it.

    It is made if it is missing or older than the file. RuntimeError for a file that OpenVINO cannot read.
    """
    folder = file.with_name(f"{file.stem}-openvino-{precision}")
    if folder.is_dir() and folder.stat().st_mtime < file.stat().st_mtime:
        shutil.rmtree(folder)
    return build_once(folder, lambda partial: _prepare(file, partial, precision))


def read_words(folder: Path) -> Callable[[NDArray[np.int64]], NDArray[np.float32]] | None:
    """Return the look-up in the mapped table of a prepared graph, None without a table."""
    file = folder / _WORDS_FILE
    if not file.is_file():
        return None
    table: NDArray[np.float32] = np.load(file, mmap_mode="r", allow_pickle=False)
    return table.__getitem__


def _prepare(file: Path, folder: Path, precision: GraphPrecision) -> None:
    import openvino

    model = openvino.Core().read_model(file)
    table = _take_out_words(model)
    if table is not None:
        np.save(folder / _WORDS_FILE, table)
    if precision == "int8":
        _to_8_bit(model)
    if precision == "bf16":
        _to_bfloat16(model)
    model.validate_nodes_and_infer_types()
    openvino.save_model(model, folder / OPENVINO_GRAPH, compress_to_fp16=False)
    if precision == "bf16":
        _keep_halves(folder / OPENVINO_GRAPH)


def _take_out_words(model: Any) -> NDArray[np.float32] | None:
    """Replace the look-up of the tokens' words by an input, and return its table.

    None if the graph has no such look-up.
    """
    from openvino import Type, opset13

    for node in model.get_ordered_ops():
        if node.get_type_name() != "Gather":
            continue
        table, asked = (node.input_value(place).get_node() for place in (0, 1))
        if table.get_type_name() == "Constant" and asked.get_friendly_name() == "input_ids":
            values = np.array(table.get_data(), dtype=np.float32)
            words = opset13.parameter([-1, -1, values.shape[1]], Type.f32, WORDS)
            words.output(0).get_tensor().set_names({WORDS})
            node.output(0).replace(words.output(0))
            model.add_parameters([words])
            return values
    return None


def _to_8_bit(model: Any) -> None:
    """Keep the weights of every layer in 8 bit, with a scale for each output.

    OpenVINO multiplies in 8 bit then.
    """
    from openvino import opset13

    for node, values in _layers(model):
        by_output = values if node.get_attributes()["transpose_b"] else values.T
        scales = np.maximum(np.abs(by_output).max(axis=1, keepdims=True), np.finfo(np.float32).tiny) / 127
        whole = opset13.constant(np.round(by_output / scales).astype(np.int8))
        exact = opset13.multiply(opset13.convert(whole, "f32"), opset13.constant(scales.astype(np.float32)))
        product = opset13.matmul(node.input_value(0), exact, False, True)
        node.output(0).replace(product.output(0))


def _to_bfloat16(model: Any) -> None:
    """Keep the weights of every layer in bfloat16, rounded as OpenVINO itself does before it multiplies."""
    from openvino import Shape, Tensor, Type, opset13
    from openvino.op import Constant

    for node, values in _layers(model):
        bits = np.ascontiguousarray(values).view(np.uint32)
        half = Tensor(Type.bf16, Shape(values.shape))
        # To the nearest, of two that are equally near to the even one.
        half.data.view(np.uint16)[:] = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        exact = opset13.convert(Constant(half), "f32")
        exact.set_friendly_name(f"{node.get_friendly_name()}{_HALVES}")
        node.input(1).replace_source_output(exact.output(0))


def _keep_halves(file: Path) -> None:
    """Mark the conversions of weights in a saved graph, so that OpenVINO keeps their precision.

    Else OpenVINO makes single precision of them when it reads the graph. Its interface for Python cannot mark them.
    """
    from lxml import etree

    graph = etree.parse(file)
    for layer in graph.iterfind("layers/layer"):
        if layer.get("name", "").endswith(_HALVES):
            noted = layer.find("rt_info")
            noted = etree.SubElement(layer, "rt_info") if noted is None else noted
            etree.SubElement(noted, "attribute", name="decompression", version="0")
    graph.write(file)


def _layers(model: Any) -> Iterator[tuple[Any, NDArray[np.float32]]]:
    """Yield the products of a graph whose weights are worth storing smaller, with the weights."""
    for node in model.get_ordered_ops():
        weights = node.input_value(1).get_node() if node.get_type_name() == "MatMul" else None
        if weights is None or weights.get_type_name() != "Constant":
            continue
        values = weights.get_data()
        if values.ndim == 2 and min(values.shape) >= _LEAST_WIDTH:
            yield node, values
