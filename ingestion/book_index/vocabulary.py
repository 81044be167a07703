"""Words by which indexes and glossaries are recognised."""

from __future__ import annotations

import re

from ingestion.patterns import load_words
from rag_engine.text.folding import fold

_WORDS = load_words("index_words")
INDEX_TITLES = frozenset(_WORDS["index_titles"].split("|"))
GLOSSARY_TITLES = frozenset(_WORDS["glossary_titles"].split("|"))
# The names of the columns of an index table.
COLUMNS = {
    key.removeprefix("column_"): frozenset(names.split("|"))
    for key, names in _WORDS.items()
    if key.startswith("column_")
}
CONTINUED = re.compile(_WORDS["continued"])
DEFINES = re.compile(_WORDS["defines"])
_CUES = f"{_WORDS['see_also']}|{_WORDS['see']}"
# References to another entry: behind a sign or in brackets, at the start, or between words.
SEE = re.compile(
    rf"(?P<before>^|[,.;:(\[–—]\s*|\s+)(?P<cue>{_CUES})\s*:?\s+(?P<targets>[^()\[\]]+?)\s*[)\]]?\s*\.?$",
    re.IGNORECASE,
)
SEE_IN_BRACKETS = re.compile(rf"[(\[](?:{_CUES})\s*:?\s+(?P<targets>[^()\[\]]+)[)\]]", re.IGNORECASE)
ENDS_IN_SEE = re.compile(rf"(?:^|[\s,.;(\[])(?:{_CUES})$", re.IGNORECASE)


def folded(text: str) -> str:
    """Return the words of a title without case, accents, numbers and signs."""
    return " ".join(re.sub(r"[\W\d]+", " ", fold(text)).split())


def is_index_title(text: str) -> bool:
    """Return whether a line is the title of an index, or its running head with a page number."""
    return len(text) < 60 and folded(text) in INDEX_TITLES


def is_glossary_title(text: str) -> bool:
    """Return whether a line is the title of a glossary, a list of definitions or of abbreviations."""
    return len(text) < 60 and folded(text) in GLOSSARY_TITLES
