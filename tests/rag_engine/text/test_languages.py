"""Languages by name and by code."""

import pytest

from rag_engine.text.languages import READ_LANGUAGES, language_code, language_name


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("pt-BR", "pt"), ("EN", "en"), ("German", "de"), ("Türkçe", "tr"), ("turkce", "tr"), ("日本語", "ja"),
        ("nb", "no"), ("Norwegian", "no"), ("Hindi", "hi"), ("klingon", ""), ("", ""), ("xx", ""),
    ],
)  # fmt: skip
def test_a_language_is_understood_by_code_locale_and_name(given: str, code: str) -> None:
    assert language_code(given) == code


def test_a_code_has_its_english_name() -> None:
    assert [language_name(code) for code in ("el", "nb", "no", "hi", "xx", "")] == [
        "Greek", "Norwegian", "Norwegian", "Hindi", "", "",
    ]  # fmt: skip
    assert {language_code(language_name(code)) for code in READ_LANGUAGES} == set(READ_LANGUAGES)
