import pytest

from rag_engine.config import GenerationConfig, judge_settings, read_config
from rag_engine.errors import InputError

SET = GenerationConfig(openai_url="https://api.example/v1", openai_model="writer", openai_key="key")


def test_a_judge_of_ollama_is_asked_there_alone() -> None:
    judge = judge_settings(SET, "ollama/qwen3:8b")
    assert (judge.ollama_model, judge.openai_url, judge.ollama_url) == ("qwen3:8b", "", SET.ollama_url)


def test_a_judge_of_an_endpoint_may_have_slashes_in_its_name() -> None:
    judge = judge_settings(SET, "openai/vendor/judge")
    assert (judge.openai_url, judge.openai_model, judge.openai_key) == (SET.openai_url, "vendor/judge", "key")


def test_the_key_does_not_go_to_another_address() -> None:
    judge = judge_settings(SET, "openai/judge", "https://other.example/v1")
    assert (judge.openai_url, judge.openai_key) == ("https://other.example/v1", "")


@pytest.mark.parametrize("name", ["", "judge", "ollama/", "mistral/small"])
def test_a_name_that_tells_no_server_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="ollama/NAME"):
        judge_settings(SET, name)


def test_how_long_a_model_may_take_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_ANSWER_SECONDS", "900")
    monkeypatch.setenv("SEXTANT_PLANNER_SECONDS", "7.5")
    generation = read_config().generation
    assert (generation.answer_seconds, generation.planner_seconds) == (900, 7.5)


@pytest.mark.parametrize("given", ["soon", "0", "-3", "nan", "inf"])
def test_a_time_that_is_none_is_refused_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("SEXTANT_ANSWER_SECONDS", given)
    with pytest.raises(InputError, match=f"SEXTANT_ANSWER_SECONDS: answer_seconds='{given}'"):
        read_config()
