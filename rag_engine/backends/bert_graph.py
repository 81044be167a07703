"""BERT as an ONNX graph, written from its weights.

Its inputs are the rows of the words' table for each token (`openvino_graph.WORDS`) and the mask of the tokens. The
table stays outside of the graph: it is four fifths of a small multilingual model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from rag_engine.backends.model_runtime import INPUTS, WORDS

_OUTPUT = "output"
_OPSET, _IR = 17, 8
_DATA_SUFFIX = ".weights"
_LARGE = 1024
_LEAST_COUNT, _LEAST_NORM = 1e-9, 1e-12

Weights = Mapping[str, NDArray[np.float32]]


class BertGraph:
    """A graph under construction, from the rows of the tokens' words to `states`: (texts, tokens, width).

    The operations and their order are torch's own export. The runtimes know to compute them together, and every
    rounding follows from them.
    """

    def __init__(self, weights: Weights, config: Mapping[str, Any]) -> None:
        """`weights` are named as BERT's own, without its word embeddings; `config` as in its config.json."""
        self._weights, self._config = weights, config
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, NDArray[Any]] = {}
        self._mask = INPUTS[1]
        self.states = self._embed()
        hidden = self._where_masked()
        for layer in range(config["num_hidden_layers"]):
            self.states = self._layer(f"encoder.layer.{layer}", self.states, hidden)

    def pool(self) -> str:
        """Return the unit vector of each text: the mean over its tokens."""
        present = self._node("Cast", self._node("Unsqueeze", self._mask, self._whole(-1)), to=onnx.TensorProto.FLOAT)
        total = self._node("ReduceSum", self._node("Mul", self.states, present), self._whole(1), keepdims=0)
        count = self._node("ReduceSum", present, self._whole(1), keepdims=0)
        mean = self._node("Div", total, self._node("Clip", count, self._number(_LEAST_COUNT)))
        return self._unit(self._unit(mean))

    def head(self, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        """Return a linear layer over the states; `weight` is (outputs, width)."""
        return self._linear(self.states, weight, bias)

    def save(self, result: str, file: Path) -> None:
        """Write the graph up to a result.

        Its large weights are in a file next to it.
        """
        self._nodes.append(onnx.helper.make_node("Identity", [result], [_OUTPUT]))
        floats, axes = onnx.TensorProto.FLOAT, ["batch", "length"]
        words = onnx.helper.make_tensor_value_info(WORDS, floats, [*axes, self._config["hidden_size"]])
        mask = onnx.helper.make_tensor_value_info(self._mask, onnx.TensorProto.INT64, axes)
        found = onnx.helper.make_tensor_value_info(_OUTPUT, floats, None)
        constants = _written(self._constants, file.with_suffix(_DATA_SUFFIX))
        graph = onnx.helper.make_graph(self._nodes, "bert", [words, mask], [found], list(constants))
        opset = onnx.helper.make_opsetid("", _OPSET)
        onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=_IR), file)

    def _unit(self, vectors: str) -> str:
        norm = self._node("ReduceL2", vectors, axes=[-1], keepdims=1)
        return self._node("Div", vectors, self._node("Clip", norm, self._number(_LEAST_NORM)))

    def _embed(self) -> str:
        length = self._node("Gather", self._node("Shape", WORDS), self._whole(1), axis=0)
        every = self._constant(np.arange(self._config["max_position_embeddings"], dtype=np.int64)[None])
        places = self._node("Slice", every, self._whole(0), length, self._whole(1))
        # All tokens are of the first kind; it is looked up since OpenVINO chooses a sum's precision by its terms.
        kinds = self._node("Mul", places, self._whole(0))
        kind, place = (
            self._node("Gather", self._constant(self._weights[f"embeddings.{table}_embeddings.weight"]), rows)
            for table, rows in (("token_type", kinds), ("position", places))
        )
        return self._norm("embeddings", self._node("Add", self._node("Add", WORDS, kind), place))

    def _where_masked(self) -> str:
        """Return the addend of the attention to each token: 0, or the least number for a filling one."""
        present = self._node("Cast", self._node("Unsqueeze", self._mask, self._whole(1, 2)), to=onnx.TensorProto.BOOL)
        return self._node("Where", present, self._number(0.0), self._number(float(np.finfo(np.float32).min)))

    def _layer(self, name: str, states: str, hidden: str) -> str:
        attended = self._dense(f"{name}.attention.output", self._attend(f"{name}.attention.self", states, hidden))
        states = self._norm(f"{name}.attention.output", self._node("Add", attended, states))
        inner = self._gelu(self._dense(f"{name}.intermediate", states))
        return self._norm(f"{name}.output", self._node("Add", self._dense(f"{name}.output", inner), states))

    def _attend(self, name: str, states: str, hidden: str) -> str:
        heads, width = self._config["num_attention_heads"], self._config["hidden_size"]
        shape = self._whole(0, 0, heads, width // heads)
        query, key, value = (
            self._node("Reshape", self._named_linear(f"{name}.{part}", states), shape)
            for part in ("query", "key", "value")
        )
        query, value = (self._node("Transpose", part, perm=[0, 2, 1, 3]) for part in (query, value))
        key = self._node("Transpose", key, perm=[0, 2, 3, 1])
        likeness = self._node("Mul", self._node("MatMul", query, key), self._number((width // heads) ** -0.5))
        shares = self._node("Softmax", self._node("Add", likeness, hidden), axis=-1)
        attended = self._node("Transpose", self._node("MatMul", shares, value), perm=[0, 2, 1, 3])
        return self._node("Reshape", attended, self._whole(0, 0, width))

    def _gelu(self, states: str) -> str:
        share = self._node("Erf", self._node("Div", states, self._number(2**0.5)))
        doubled = self._node("Mul", states, self._node("Add", share, self._number(1.0)))
        return self._node("Mul", doubled, self._number(0.5))

    def _dense(self, name: str, states: str) -> str:
        return self._named_linear(f"{name}.dense", states)

    def _named_linear(self, name: str, states: str) -> str:
        return self._linear(states, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _linear(self, states: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        product = self._node("MatMul", states, self._constant(np.ascontiguousarray(weight.T)))
        return self._node("Add", self._constant(bias), product)

    def _norm(self, name: str, states: str) -> str:
        weight, bias = (self._constant(self._weights[f"{name}.LayerNorm.{part}"]) for part in ("weight", "bias"))
        return self._node("LayerNormalization", states, weight, bias, axis=-1, epsilon=self._config["layer_norm_eps"])

    def _node(self, operation: str, *inputs: str, **attributes: Any) -> str:
        name = f"{operation}_{len(self._nodes)}"
        self._nodes.append(onnx.helper.make_node(operation, inputs, [name], name=name, **attributes))
        return name

    def _number(self, value: float) -> str:
        return self._constant(np.float32(value))

    def _whole(self, *values: int) -> str:
        return self._constant(np.array(values, dtype=np.int64))

    def _constant(self, value: Any) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants[name] = np.asarray(value)
        return name


def _written(constants: Mapping[str, NDArray[Any]], file: Path) -> Iterator[onnx.TensorProto]:
    """Yield the constants of a graph, with large ones written to a file.

    The runtimes map that file into memory.
    """
    with file.open("wb") as data:
        for name, value in constants.items():
            tensor = onnx.numpy_helper.from_array(value, name)
            if value.nbytes >= _LARGE:
                place = {"offset": data.tell(), "length": data.write(tensor.raw_data)}
                onnx.external_data_helper.set_external_data(tensor, file.name, **place)
                tensor.ClearField("raw_data")
            yield tensor
