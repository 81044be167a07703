"""A graph as OpenVINO computes it: without the table of word embeddings, its weights in no more bits than it uses.

Four fifths of a small multilingual model are the table, of which a text needs a few hundred rows. It is taken out of
the graph into a file of its own that is mapped into memory, so that the encoder and the reader, which read the same
words, start without loading it.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rag_engine.backends.model_export import build_once

GraphPrecision = Literal["bf16", "int8", "f32"]

GRAPH = "model.xml"
# The graph's input for the rows of the table, (texts, tokens, width), and the file that holds the table.
WORDS = "words"
_WORDS_FILE = "words.npy"
# Inputs of a layer that are brought into 8 bit with one scale; of larger groups vectors differ more from torch's.
_GROUP = 64
# Ends the name of a conversion of a layer's weights.
_HALVES = "_halves"
# Layers with fewer inputs or outputs take no time worth saving.
_LEAST_WIDTH = 64


def keep_openvino_quiet() -> None:
    """Keep OpenVINO from importing its converter, which takes .2 s and reports that to its makers over the network."""
    sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]


def precision_options(precision: GraphPrecision) -> dict[str, Any]:
    """Return the options with which OpenVINO computes a prepared graph in a precision."""
    if precision == "int8":
        return {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": _GROUP}
    return {"INFERENCE_PRECISION_HINT": precision}


def prepared_graph(file: Path, precision: GraphPrecision) -> Path:
    """Return the folder beside an ONNX file with its prepared graph; made where it is missing or older than the file.

    RuntimeError for a file that OpenVINO cannot read.
    """
    folder = file.with_name(f"{file.stem}-openvino-{precision}")
    if folder.is_dir() and folder.stat().st_mtime < file.stat().st_mtime:
        shutil.rmtree(folder)
    return build_once(folder, lambda partial: _prepare(file, partial, precision))


def read_words(folder: Path) -> Callable[[NDArray[np.int64]], NDArray[np.float32]] | None:
    """Return the look-up in the table of a prepared graph, which is mapped into memory; None without a table."""
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
    openvino.save_model(model, folder / GRAPH, compress_to_fp16=False)
    if precision == "bf16":
        _keep_halves(folder / GRAPH)


def _take_out_words(model: Any) -> NDArray[np.float32] | None:
    """Replace the look-up of the tokens' words by an input; return the table, None where there is no such look-up."""
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
    """Keep the weights of every layer in 8 bit with a scale for each output, and have OpenVINO multiply in it."""
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
    """Mark the conversions of weights in a saved graph as such: they are held and multiplied as they are then.

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
    """Yield the products of a graph with a matrix of weights that are worth storing smaller, and the weights."""
    for node in model.get_ordered_ops():
        weights = node.input_value(1).get_node() if node.get_type_name() == "MatMul" else None
        if weights is None or weights.get_type_name() != "Constant":
            continue
        values = weights.get_data()
        if values.ndim == 2 and min(values.shape) >= _LEAST_WIDTH:
            yield node, values
