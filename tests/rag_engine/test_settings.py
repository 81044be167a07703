"""Settings of a workspace: which value holds, what may be kept, and what is wrong with a file."""

from pathlib import Path
from typing import get_args

import pytest

from ingestion.config import IngestionConfig, ProfileName, read_ingestion_config
from rag_engine.config import (
    Config,
    ControllerMode,
    OcrChoice,
    RetrievalProfile,
    Strategy,
    read_config,
)
from rag_engine.errors import InputError
from rag_engine.settings import (
    find_setting,
    keep_setting,
    read_settings,
    remove_setting,
    settings_file,
    settings_table,
    why_not_kept,
)


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in settings_table().values():
        monkeypatch.delenv(setting.variable, raising=False)


def write(workspace: Path, text: str) -> None:
    workspace.mkdir(exist_ok=True)
    settings_file(workspace).write_text(text, encoding="utf-8")


def test_the_defaults_of_the_table_are_those_of_the_configuration(tmp_path: Path) -> None:
    assert read_config(tmp_path) == Config(workspace=tmp_path)
    assert read_ingestion_config(tmp_path) == IngestionConfig()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ocr", get_args(OcrChoice)),
        ("chunking", get_args(Strategy)),
        ("retrieval", get_args(RetrievalProfile)),
        ("controller", get_args(ControllerMode)),
        ("quality", get_args(ProfileName)),
    ],
)
def test_the_choices_of_the_table_are_those_of_the_types(name: str, values: tuple[str, ...]) -> None:
    assert find_setting(name).choices == values


@pytest.mark.parametrize("setting", settings_table().values(), ids=settings_table())
def test_a_setting_is_explained_and_has_a_default_or_says_what_holds_without(setting) -> None:  # type: ignore[no-untyped-def]
    assert setting.explanation.endswith(".")
    assert (setting.default is None) == bool(setting.unset)
    assert setting.default is None or setting.read(setting.default) == setting.default


def test_the_environment_comes_before_the_workspace_and_that_before_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_config(tmp_path).generation.answer_seconds == 300
    keep_setting(tmp_path, "answer_seconds", "600", "Ada")
    state = read_settings(tmp_path).state("answer_seconds")
    assert (read_config(tmp_path).generation.answer_seconds, state.origin) == (600, "workspace")
    assert state.changed.startswith("Ada, 20")
    monkeypatch.setenv("SEXTANT_ANSWER_SECONDS", "900")
    assert read_config(tmp_path).generation.answer_seconds == 900
    assert read_settings(tmp_path).state("answer_seconds").origin == "environment"
    monkeypatch.setenv("SEXTANT_ANSWER_SECONDS", "")
    assert read_config(tmp_path).generation.answer_seconds == 600
    remove_setting(tmp_path, "SEXTANT_ANSWER_SECONDS")
    assert read_config(tmp_path).generation.answer_seconds == 300


def test_ingestion_follows_the_file_of_its_workspace(tmp_path: Path) -> None:
    keep_setting(tmp_path, "preferred_languages", "FR, en", "Ada")
    keep_setting(tmp_path, "quality", "paper", "Ada")
    keep_setting(tmp_path, "minimum_pages", "2", "Ada")
    config = read_ingestion_config(tmp_path)
    assert config.deduplication.preferred_languages == ("fr", "en")
    assert (config.quality.minimum_bytes, config.quality.minimum_pages) == (200_000, 2)


@pytest.mark.parametrize(
    ("name", "value"), [("scope", 'heat "and" drought \\ cities, λ €'), ("preferred_languages", "it,en"), ("mmr", ".5")]
)
def test_a_value_comes_back_from_the_file_as_it_was_given(tmp_path: Path, name: str, value: str) -> None:
    keep_setting(tmp_path, name, value, 'Ada "the first"')
    setting = find_setting(name)
    assert read_settings(tmp_path).value(name) == setting.read(value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("answer_seconds", "0", "no number from 1 to"),
        ("answer_seconds", "inf", "no number from 1 to"),
        ("mmr", "2", "no number from 0 to 1"),
        ("minimum_pages", "2.5", "no whole number"),
        ("ocr", "abacus", "Use auto, tesseract"),
        ("ollama_url", "ftp://here", "no address"),
        ("ollama_url", "http://", "no address"),
        ("chroma_url", "http://ada:opensesame@here", "password"),
        ("scope", "two\nlines", "no text of one line"),
        ("scope", "  ", "unset scope"),
        ("encoder", "/nowhere", "no folder"),
        ("reader", "./adapter", "no whole path"),
        ("colour", "red", "no setting 'colour'"),
        ("openai_key", "k", "Only SEXTANT_OPENAI_KEY"),
        ("intranet", "10.0.0.0/8", "Only SEXTANT_INTRANET"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_and_nothing_is_written(
    tmp_path: Path, name: str, value: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        keep_setting(tmp_path, name, value, "Ada")
    assert not settings_file(tmp_path).exists()


def test_what_the_environment_sets_is_not_changed_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_OCR", "none")
    with pytest.raises(InputError, match="SEXTANT_OCR sets it; unset that variable"):
        keep_setting(tmp_path, "ocr", "auto", "Ada")


def test_a_secret_is_in_no_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_OPENAI_KEY", "open\nsesame")
    with pytest.raises(InputError, match="SEXTANT_OPENAI_KEY: openai_key is no text of one line") as error:
        read_config(tmp_path)
    assert "sesame" not in str(error.value)


def test_a_key_of_the_environment_goes_to_no_address_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_setting(tmp_path, "openai_url", "https://api.example/v1", "Ada")
    monkeypatch.setenv("SEXTANT_OPENAI_KEY", "key")
    assert read_config(tmp_path).generation.openai_key == ""
    assert "SEXTANT_OPENAI_URL" in str(why_not_kept(find_setting("openai_url")))
    monkeypatch.setenv("SEXTANT_OPENAI_URL", "https://api.example/v1")
    assert read_config(tmp_path).generation.openai_key == "key"


@pytest.mark.parametrize(
    ("text", "entry", "cure"),
    [
        ("colour = 'red'", "'colour'", "settings unset colour"),
        ("ocr = 'abacus'", "ocr='abacus'", "settings unset ocr"),
        ("answer_seconds = true", "answer_seconds=True", "settings unset answer_seconds"),
        ("openai_key = 'k'", "'openai_key'", "settings unset openai_key"),
        ("ollama_url = 'http://ada:opensesame@here'", "ollama_url", "settings unset ollama_url"),
    ],
)
def test_a_wrong_entry_is_named_with_its_file_and_can_be_removed(
    tmp_path: Path, text: str, entry: str, cure: str
) -> None:
    write(tmp_path, f"{text}\ncontroller = 'off'\n")
    with pytest.raises(InputError) as error:
        read_config(tmp_path)
    assert str(settings_file(tmp_path)) in str(error.value)
    assert entry in str(error.value)
    assert cure in str(error.value)
    assert "opensesame" not in str(error.value)
    assert read_config(tmp_path, kept=False).controller.mode == "auto"
    remove_setting(tmp_path, cure.rpartition(" ")[2])
    assert read_config(tmp_path).controller.mode == "off"


@pytest.mark.parametrize("text", ["answer_seconds = ", "\x00", "[[x]"])
def test_a_file_that_is_damaged_is_named(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(InputError, match=r"cannot be read.*Correct that line") as error:
        read_config(tmp_path)
    assert str(settings_file(tmp_path)) in str(error.value)


def test_entries_that_cannot_be_written_back_are_left_in_place(tmp_path: Path) -> None:
    write(tmp_path, "when = 2020-01-01\n")
    with pytest.raises(InputError, match="'when'"):
        keep_setting(tmp_path, "ocr", "none", "Ada")
    assert settings_file(tmp_path).read_text(encoding="utf-8") == "when = 2020-01-01\n"
    remove_setting(tmp_path, "when")
    assert read_config(tmp_path).ocr == "auto"
