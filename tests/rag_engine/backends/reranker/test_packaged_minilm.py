"""The packaged cross-encoder's graph, turned back from integers."""

from pathlib import Path

import numpy as np
import pytest

from rag_engine.backends.reranker.packaged_minilm import dequantise
from rag_engine.errors import BackendError


def quantised_graph(folder: Path) -> Path:
    """Two layers and a table of words, as ONNX Runtime quantises them; beside it the exact graph."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    rng = np.random.default_rng(3)
    weights = {
        "words": rng.normal(size=(7, 8)),
        "first": rng.normal(size=(8, 6)),
        "second": rng.normal(size=(6, 1)),
        "bias": rng.normal(size=(6,)),
    }
    make = onnx.helper.make_node
    graph = onnx.helper.make_graph(
        [
            make("Gather", ["words", "ids"], ["looked_up"], name="look_up"),
            make("Tanh", ["looked_up"], ["embedded"], name="tanh"),
            make("MatMul", ["embedded", "first"], ["product"], name="first_layer"),
            make("Add", ["product", "bias"], ["sum"], name="add"),
            make("Relu", ["sum"], ["hidden"], name="relu"),
            make("MatMul", ["hidden", "second"], ["scores"], name="second_layer"),
        ],
        "layers",
        [onnx.helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, ["n"])],
        [onnx.helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, ["n", 1])],
        [onnx.numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 14)], ir_version=8)
    onnx.save(model, folder / "exact.onnx")
    quantize_dynamic(folder / "exact.onnx", folder / "quantised.onnx", weight_type=QuantType.QInt8)
    return folder / "quantised.onnx"


def run(path: Path) -> np.ndarray:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"ids": np.arange(7, dtype=np.int64)})[0]).ravel()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_dequantised_graph_computes_what_the_exact_one_does_but_for_the_rounding_of_weights(tmp_path: Path) -> None:
    import onnx

    model = onnx.load(quantised_graph(tmp_path))
    dequantise(model.graph)
    onnx.checker.check_model(model)
    onnx.save(model, tmp_path / "back.onnx")
    assert {node.op_type for node in model.graph.node} <= {"Gather", "Tanh", "MatMul", "Add", "Relu", "Identity"}
    exact = run(tmp_path / "exact.onnx")
    assert run(tmp_path / "back.onnx") == pytest.approx(exact, abs=0.03 * float(np.ptp(exact)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_graph_in_which_an_integer_product_is_read_twice_is_refused(tmp_path: Path) -> None:
    import onnx

    model = onnx.load(quantised_graph(tmp_path))
    product = next(node for node in model.graph.node if node.op_type == "MatMulInteger")
    model.graph.node.append(onnx.helper.make_node("Identity", [product.output[0]], ["again"]))
    with pytest.raises(BackendError, match="2 readers"):
        dequantise(model.graph)
