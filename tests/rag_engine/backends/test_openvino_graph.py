"""A graph as OpenVINO computes it: its words in a separate file, its layers in 8 or 16 bit."""

import os
import warnings
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
import torch
from onnx import numpy_helper

from rag_engine.backends.model_runtime import (
    OPENVINO_GRAPH,
    GraphPrecision,
    open_onnx,
    open_openvino,
    prepared_graph,
    read_words,
)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the graph of a look-up of 1,000 words and two layers, with random weights."""
    torch.manual_seed(11)
    layers = torch.nn.Sequential(
        torch.nn.Embedding(1000, 128), torch.nn.Linear(128, 256), torch.nn.GELU(), torch.nn.Linear(256, 64)
    )
    file = tmp_path_factory.mktemp("graph") / "model.onnx"
    with warnings.catch_warnings():
        # As model_export.py does: the older exporter is meant.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            layers.eval(),
            (torch.zeros(2, 8, dtype=torch.int64),),
            str(file),
            dynamo=False,
            input_names=["input_ids"],
            output_names=["read"],
            dynamic_axes={"input_ids": {0: "batch", 1: "length"}},
        )
    return file


@pytest.mark.parametrize(("precision", "difference"), [("f32", 1e-4), ("int8", 0.03), ("bf16", 0.02)])
def test_a_prepared_graph_computes_what_the_file_says(
    graph: Path, precision: GraphPrecision, difference: float
) -> None:
    ids = np.random.default_rng(3).integers(0, 1000, (3, 16))
    exact = open_onnx(graph).compute({"input_ids": ids})
    found = open_openvino(graph, precision).compute({"input_ids": ids})
    assert np.abs(found - exact).max() <= difference * np.ptp(exact)


def test_the_words_lie_in_a_file_of_their_own_and_the_layers_in_8_bit(graph: Path) -> None:
    whole, small = prepared_graph(graph, "f32"), prepared_graph(graph, "int8")
    words = read_words(small)
    assert words is not None
    assert words(np.array([[3, 999]])).shape == (1, 2, 128)
    opened = Path("/proc/self/maps").read_text(encoding="utf-8")
    assert str(small / "words.npy") in opened
    weights = 128 * 256 + 256 * 64
    assert (whole / "model.bin").stat().st_size >= 4 * weights
    assert (small / "model.bin").stat().st_size < 2 * weights


def test_a_graph_that_was_made_anew_is_prepared_anew(graph: Path) -> None:
    first = prepared_graph(graph, "f32")
    os.utime(first, (0, 0))
    (first / "stale").touch()
    os.utime(first, (0, 0))
    assert not (prepared_graph(graph, "f32") / "stale").exists()


def test_the_layers_of_a_bfloat16_graph_are_rounded_as_torch_rounds_and_never_made_whole_again(graph: Path) -> None:
    folder = prepared_graph(graph, "bf16")
    layers = [
        node
        for node in openvino.Core().read_model(folder / OPENVINO_GRAPH).get_ops()
        if node.get_type_name() == "MatMul"
    ]
    exact = [numpy_helper.to_array(one) for one in onnx.load(graph).graph.initializer]
    for layer in layers:
        held = layer.input_value(1).get_node().input_value(0).get_node().get_data()
        wanted = [torch.tensor(one).bfloat16().view(torch.int16).numpy() for one in exact if one.shape == held.shape]
        assert any(np.array_equal(held.view(np.int16), one) for one in wanted)
    open_openvino(graph, "bf16")
    (compiled,) = (folder / "compiled").glob("*.blob")
    assert compiled.stat().st_size < 3 * (128 * 256 + 256 * 64)
