"""Names and codes of languages, from the Unicode CLDR by way of Babel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from rag_engine.text.folding import fold

# The languages that documents and pages are read in, most likely first, with their codes of ISO 639-2.
READ_LANGUAGES = {"en": "eng", "it": "ita", "es": "spa", "fr": "fra", "de": "deu", "pt": "por", "tr": "tur"}
# Languages whose own name is understood too.
_OWN_NAMES = tuple(
    "en it fr es de pt tr nl pl ro el cs sv da no fi hu bg hr sk sl lt lv et ca ru uk ar ja zh ko sr is ga mt".split()  # noqa: SIM905
)
# The detector calls both forms of Norwegian "no".
_ONE_CODE = {"nb": "no", "nn": "no"}


def language_name(code: str) -> str:
    """Return the English name of an ISO 639-1 code; "" for an unknown one."""
    return english_names().get(_ONE_CODE.get(code, code), "")


def name_in(code: str, language: str) -> str:
    """Return the name of an ISO 639-1 code in another language, else the code itself."""
    from babel import Locale, UnknownLocaleError

    try:
        names = Locale.parse(language or "en").languages
    except (UnknownLocaleError, ValueError):
        names = Locale("en").languages
    return str(names.get(code, code))


def language_code(given: str) -> str:
    """Return the ISO 639-1 code of a language given by code, locale (pt-BR) or name; "" for none.

    Case and accents do not matter.

    >>> language_code("pt-BR"), language_code("Deutsch")
    ('pt', 'de')
    """
    name = fold(given.strip())
    code = re.split("[-_]", name, maxsplit=1)[0]
    found = names_to_codes(_OWN_NAMES).get(name) or _by_english_name().get(name, code)
    return _ONE_CODE.get(found, found) if found in english_names() else ""


@cache
def names_to_codes(codes: tuple[str, ...]) -> Mapping[str, str]:
    """Return the folded own and English names of the languages, each with its code."""
    from babel import Locale

    own = {fold(Locale.parse(code).get_language_name() or code): code for code in codes}
    return own | {fold(language_name(code)): code for code in own.values()}


@cache
def english_names() -> dict[str, str]:
    """Return the English names of languages by their codes of ISO 639-1."""
    from babel import Locale

    return {code: name for code, name in Locale("en").languages.items() if len(code) == 2}


@cache
def _by_english_name() -> dict[str, str]:
    return {fold(name): code for code, name in english_names().items()}
