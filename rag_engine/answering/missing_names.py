"""Acts, sections and attributes that a question asks for and that none of its passages names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from rag_engine.answering.quotations.question_terms import asks_for_section_alone
from rag_engine.chunking.section.references import find_references, named_sections
from rag_engine.chunking.section.rules import normal_label
from rag_engine.retrieval.act_lexicon import NameWord, load_lexicon, name_words
from rag_engine.retrieval.act_mentions import SHORT, capitals
from rag_engine.retrieval.place_fit import said
from rag_engine.text.folding import fold
from rag_engine.text.tables import read_table
from rag_engine.types.passage import Source

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def unknown_act(question: str, sources: Sequence[Source]) -> str:
    """Return the name of an act that the question names and no source does, or "".

    The name is a kind of act with a name of its own ("Montreal Protocol"), or the abbreviation of a well-known act.
    """
    for written, words in _named_acts(question):
        if not any(_names(source, words) for source in sources):
            return written
    asked, texts = fold(question), [fold(said(source)) for source in sources]
    shorts = {short: match.group() for match in SHORT.finditer(question) if len(short := capitals(match.group())) > 1}
    for names, known in load_lexicon().known:
        written = next((name for name in names if fold(name) in asked), "")
        written = written or next((shorts[capitals(one)] for one in known if capitals(one) in shorts), "")
        if written and not any(fold(name) in text for name in (*names, *known) for text in texts):
            return written
    return ""


def missing_section(question: str, language: str, sources: Sequence[Source]) -> str:
    """Return the section that a question asks for alone and that no source is of or names, or ""."""
    sections = named_sections(question, language)
    if not sections or not asks_for_section_alone(question, language, [one.document.metadata.title for one in sources]):
        return ""
    labels = {section.label for section in sections}
    for source in sources:
        referred = find_references(source.text, source.document.metadata.language)
        if not labels.isdisjoint([normal_label(source.section), *(one.label for one in referred)]):
            return ""
    return question[sections[0].start : sections[0].end]


def missing_attribute(question: str, sources: Sequence[Source]) -> str:
    """Return the word for an attribute that the question asks for and no source states, or ""."""
    texts = [fold(said(source)) for source in sources]
    for match in _WORD.finditer(question):
        for asked, beginnings in _attributes():
            if fold(match.group()) in asked and not any(beginnings.search(text) for text in texts):
                return match.group()
    return ""


def _named_acts(question: str) -> Iterator[tuple[str, tuple[NameWord, NameWord]]]:
    """Yield the acts that a question names by a proper name and a kind: as written, and these two words."""
    for run in name_words(question):
        for place, word in enumerate(run):
            if not word.kind:
                continue
            before = run[place - 1 : place] if place and word.joined else []
            after = [] if before else run[place + 1 : place + 2]
            own = [one for one in (*before, *after) if one.capital and not one.kind and not one.place]
            gap = question[word.end : own[0].start] if own and own[0].start >= word.end else ""
            if own and len(gap.split()) <= 1 and question[word.start].isupper():
                start, end = min(word.start, own[0].start), max(word.end, own[0].end)
                yield question[start:end], (own[0], word)


def _names(source: Source, words: tuple[NameWord, NameWord]) -> bool:
    """Return whether a source has the two words beside each other, in any language and order."""
    pairs = (pair for run in name_words(said(source)) for pair in pairwise(run))
    first, second = words
    return any(
        (one.means(first) and other.means(second)) or (one.means(second) and other.means(first)) for one, other in pairs
    )


@cache
def _attributes() -> tuple[tuple[frozenset[str], re.Pattern[str]], ...]:
    """Return the words that ask for each attribute, and the expression that finds it stated."""
    return tuple(
        (
            frozenset(fold(one["asked"]).split()),
            re.compile(
                "|".join(rf"(?<!\w){re.escape(word)}" for word in fold(f"{one['asked']} {one['said']}").split())
            ),
        )
        for one in read_table("attributes")["attribute"]
    )
