"""Words and places of a question, texts that say them, and whether it asks for several things."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from rag_engine.answering.citations import words
from rag_engine.chunking.section.references import named_sections
from rag_engine.geography import Gazetteer, find_places, place_mentions
from rag_engine.text.analyzer import analyse
from rag_engine.text.tables import read_table

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")
# In front of a place's English name, so that no word is taken for it.
_PLACE = "place:"

# As "Article 4(4)" has it, "paragraph 4 of", "§ 5 Abs. 2", "Art. 52, § 1º", "2. fıkra".
_PARAGRAPH = re.compile(
    r"(?<=\d)\s?\((\d{1,3}[a-z]?)\)|§\s?(\d{1,3})\s?º|\b(\d{1,3})\.?\s?(?:inci |nci |üncü |uncu )?fıkra"
    r"|\b(?:para(?:graphe?|\.)?|par\.|abs(?:atz|\.)|comma|alinéa|apartado|p[aá]r[aá]gra[fp]o|párrafo)\s*(\d{1,3}[a-z]?)\b",
    re.IGNORECASE,
)

# The forms of a word or a place, any of which says it.
Term = frozenset[str]


def terms_of(question: str, language: str, gazetteer: Gazetteer) -> tuple[Term, ...]:
    """Return the places and the other words of a question, each once."""
    found: dict[Term, None] = {}
    taken: list[tuple[int, int]] = []
    for form, start, end in place_mentions(question, gazetteer, language):
        if names := frozenset(_PLACE + name for name in (*form.countries, *form.regions)):
            taken.append((start, end))
            found[names] = None
    for match in _WORD.finditer(question):
        forms = frozenset((*analyse(match[0], language), *words(match[0])))
        if forms and not any(start < match.end() and match.start() < end for start, end in taken):
            found[forms] = None
    return tuple(found)


def asks_for_section_alone(question: str, language: str, names: Iterable[str]) -> bool:
    """Return whether a question has no words but a section, its act, and what asks for its text."""
    rest, beyond = "", 0
    for section in named_sections(question, language):
        rest += question[beyond : max(beyond, section.start)] + " "
        beyond = max(beyond, section.end)
    known = set(analyse(" ".join([*names, read_table("asked_for")["says"].get(language, "")]), language))
    return set(analyse(rest + question[beyond:], language)) <= known


def section_labels(question: str, language: str) -> frozenset[str]:
    """Return the labels of the sections that a question names, in their normal form."""
    return frozenset(section.label for section in named_sections(question, language))


def asked_paragraph(question: str) -> str:
    """Return the number of the paragraph of a section that a question names, or "".

    >>> asked_paragraph("What does Article 4(4) say?"), asked_paragraph("Was steht in § 5 Abs. 2?")
    ('4', '2')
    """
    found = _PARAGRAPH.search(question)
    return next(filter(None, found.groups()), "").lower() if found else ""


def forms_in(text: str, language: str, gazetteer: Gazetteer | None) -> frozenset[str]:
    """Return every form that a text in this language says; of places only with a gazetteer."""
    forms = frozenset((*words(text), *analyse(text, language)))
    if gazetteer is None:
        return forms
    places = find_places(text, gazetteer, language, running=True)
    return forms.union(_PLACE + name for name in (*places.countries, *places.regions))


def says_place(terms: Sequence[Term]) -> bool:
    """Return whether one of the terms is a place."""
    return any(form.startswith(_PLACE) for term in terms for form in term)


def shares_said(
    terms: Sequence[Term], texts: Sequence[AbstractSet[str]], lengths: Sequence[int]
) -> NDArray[np.float64]:
    """Return the share of the terms in each text; a term in fewer texts counts more.

    `texts` are the forms of each and `lengths` its words: a long text says many of them by chance. The name of a place
    is what tells one row of a table from the others.
    """
    found = np.array([[not term.isdisjoint(text) for term in terms] for text in texts], dtype=np.float64)
    found = found.reshape(len(texts), -1)
    rarity = np.log((len(texts) + 1) / (found.sum(axis=0) + 0.5))
    length = 1 + np.log1p(np.maximum(lengths, 1)) / 10
    result: NDArray[np.float64] = (found @ rarity) / (rarity.sum() or 1.0) / length
    return result


def asks_for_several(question: str, language: str) -> bool:
    """Return whether a question asks for a list; not in a language without patterns."""
    pattern: str = read_table("asked_for")["several"].get(language, "(?!)")
    return re.search(pattern, question.strip().casefold()) is not None
