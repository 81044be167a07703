"""Documents that a question names: by title, act, identifier, issuing body, session, country or state."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from rag_engine.answering_documents import identified_documents
from rag_engine.chunking.section.references import named_sections
from rag_engine.geography import load_gazetteer
from rag_engine.retrieval.act_mentions import ActMention, find_acts
from rag_engine.retrieval.place_fit import place_fit
from rag_engine.storage.section_index import Act
from rag_engine.storage.snapshot import CollectionView
from rag_engine.text.folding import fold, fold_in_place
from rag_engine.text.identifiers import find_identifiers
from rag_engine.text.tables import read_table
from rag_engine.types.document import DocumentRecord
from rag_engine.types.evidence import QueryPlan

# A capitalised word within a sentence; in German any noun has a capital.
_NAME = re.compile(r"(?<=[\w,;)’'] )[^\W\d_a-zß-öø-ÿ][^\W\d_]{3,}")
_WORD = re.compile(r"\w+")
# A word in the titles of more documents tells too little.
_FEW = 3


@dataclass(frozen=True, slots=True)
class NamedDocuments:
    """The documents that a question names.

    `acts` are named by title, act or identifier, `bodies` by the body that issued them or by a name in their title.
    `places` are about the question's countries or states. `mentioned` are the acts and titles themselves.
    """

    mentioned: tuple[Act, ...] = ()
    acts: frozenset[int] = frozenset()
    bodies: frozenset[int] = frozenset()
    places: frozenset[int] = frozenset()

    @property
    def first(self) -> frozenset[int]:
        """The documents to search before all others; a named act counts more than a place."""
        return self.acts | self.bodies or self.places


def name_documents(plan: QueryPlan, view: CollectionView, allowed: Collection[int] | None) -> NamedDocuments:
    """Return the documents that the question names, of the allowed ones (None allows all)."""
    documents = {key: one for key, one in view.snapshot.documents.items() if allowed is None or key in allowed}
    question = unicodedata.normalize("NFC", plan.question)
    mentions = act_mentions(question, plan.language, view)
    acts = {key for mention in mentions for act in mention.acts for key in act_documents(act, documents)}
    for placed in find_identifiers(question):
        acts |= identified_documents(placed.identifier, documents)
    folded = fold_in_place(question)
    bodies = {
        key
        for key, one in documents.items()
        if any(form.search(question if capitals else folded) for capitals, form in _forms_of(one.metadata.authority))
    }
    if plan.language != "de":
        bodies |= _named_in_titles(question, mentions, documents)
    gazetteer = load_gazetteer()
    # The world and its regions are no place that a document must be about.
    wanted = plan.scope.countries
    places = {
        key for key, one in documents.items() if wanted and place_fit(plan.scope, one.metadata, gazetteer) == "about"
    }
    mentioned = tuple(dict.fromkeys(act for mention in mentions for act in mention.acts))
    return NamedDocuments(mentioned, frozenset(acts), frozenset(bodies), frozenset(places))


def act_mentions(text: str, language: str, view: CollectionView) -> list[ActMention]:
    """Return the places where a text names acts or documents of the collection."""
    acts, folded = _with_titles(view), fold_in_place(text)
    titled = [
        ActMention(start, start + len(title), (act,))
        for act in acts
        for title in map(fold_in_place, act.titles)
        if " " in title and (start := folded.find(title)) >= 0
    ]
    references = [(one.start, one.end) for one in named_sections(text, language)]
    found = find_acts(text, acts, references)
    return [*titled, *(one for one in found if all(one.end <= it.start or it.end <= one.start for it in titled))]


def act_documents(act: Act, documents: Mapping[int, DocumentRecord]) -> Iterator[int]:
    """Yield the documents that hold an act, or bear its name."""
    yield from (key for key in act.documents if key in documents)
    if not act.sections:
        yield from (key for key, one in documents.items() if one.metadata.title == act.name)


def own_documents(act: Act, documents: Mapping[int, DocumentRecord]) -> frozenset[int]:
    """Return the documents that bear the title of an act, else all that hold it."""
    held = frozenset(act_documents(act, documents))
    return frozenset(key for key in held if documents[key].metadata.title in act.titles) or held


def _with_titles(view: CollectionView) -> tuple[Act, ...]:
    """Return the acts of the collection, and its other documents as acts without sections."""
    known = {title for act in view.acts for title in act.titles}
    titles = {one.metadata.title: one for one in view.snapshot.documents.values() if one.metadata.title not in known}
    others = (
        Act(title, (title,), one.metadata.countries, one.metadata.language, "", {}) for title, one in titles.items()
    )
    return (*view.acts, *others)


def _named_in_titles(
    question: str, mentions: Sequence[ActMention], documents: Mapping[int, DocumentRecord]
) -> frozenset[int]:
    """Return the few documents whose titles hold a name of the question, such as "Cancun" of a session."""
    found: set[int] = set()
    for match in _NAME.finditer(question):
        if any(one.start < match.end() and match.start() < one.end for one in mentions):
            continue
        having = {key for key, one in documents.items() if fold(match.group()) in _title_words(one.metadata.title)}
        found |= having if len(having) <= _FEW else set()
    return frozenset(found)


@lru_cache(maxsize=10_000)
def _title_words(title: str) -> frozenset[str]:
    return frozenset(map(fold, _WORD.findall(title)))


@lru_cache(maxsize=10_000)
def _forms_of(authority: str) -> tuple[tuple[bool, re.Pattern[str]], ...]:
    """Return whether a name of a body is in capitals, and its expression; of a body that is a state none.

    Names are folded, except those in capitals.
    """
    known = _bodies().get(authority, {})
    if not authority or known.get("weak"):
        return ()
    return tuple(
        (form.isupper(), re.compile(rf"(?<!\w){re.escape(form if form.isupper() else fold_in_place(form))}(?!\w)"))
        for form in (authority, *known.get("aliases", ()))
    )


@cache
def _bodies() -> dict[str, dict[str, Any]]:
    groups = read_table("authorities")["group"]
    return {one["name"]: one for group in groups for one in group["authorities"]}
