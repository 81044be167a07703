"""Acts of the collection that a question names: by title, short title, abbreviation or number, in any language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_engine.retrieval.act_lexicon import NameWord, name_words
from rag_engine.retrieval.act_names import (
    NUMBER,
    NUMBER_AFTER,
    NUMBER_WORD,
    SHORT,
    ActNames,
    behind_kind,
    capitals,
    forms,
    names_of,
    same,
)
from rag_engine.storage.section_index import Act
from rag_engine.text.folding import fold

# What has a number behind it is that act and no other of its kind.
_NUMBERED_ACT = re.compile(r"\)?\s*,?\s*(?:n[ro]?\s?[.º°]?\s*)?\d", re.IGNORECASE)
_SHOUTED = 3
_WIDEST = 9
# Named alone, these mean the one that there is.
_ALONE = frozenset({"constitution", "basic law"})


@dataclass(frozen=True, slots=True)
class ActMention:
    """Characters [start, end) of a question that name acts of the collection."""

    start: int
    end: int
    acts: tuple[Act, ...]


def find_acts(question: str, acts: Sequence[Act], sections: Sequence[tuple[int, int]] = ()) -> list[ActMention]:
    """Return where the question names acts of the collection, in its order; of names that overlap the longest.

    `sections` are the places where it names sections; directly beside one an abbreviation may be in small letters. A
    name is understood in any of the languages, word by word (rag_engine/retrieval/act_lexicon.py). A phrase that is
    only a part of an act's names counts where a single act bears them all and nothing beside it says otherwise.
    """
    question = unicodedata.normalize("NFC", question)
    named = [(act, names_of(act)) for act in acts]
    found = [*_by_number(question, named), *_by_abbreviation(question, named, sections), *_by_name(question, named)]
    mentions: list[ActMention] = []
    for mention in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if all(mention.end <= other.start or other.end <= mention.start for other in mentions):
            mentions.append(mention)
    return sorted(mentions, key=lambda one: one.start)


def names_any_act(question: str) -> bool:
    """Return whether a question names an act of whatever collection: by its kind or by an abbreviation."""
    runs = name_words(unicodedata.normalize("NFC", question))
    return any(word.kind for run in runs for word in run) or any(
        len(capitals(match.group())) > 1 for match in SHORT.finditer(question)
    )


def _by_number(question: str, named: Sequence[tuple[Act, ActNames]]) -> Iterator[ActMention]:
    for match in NUMBER.finditer(question):
        bare = match.group().isdecimal()
        if bare and not (
            NUMBER_WORD.search(question[: match.start()])
            or NUMBER_AFTER.match(question, match.end())
            or behind_kind(question[: match.start()])
        ):
            continue
        wanted = forms(match.group())
        acts = tuple(act for act, names in named if not wanted.isdisjoint(names.numbers))
        if acts:
            yield ActMention(match.start(), match.end(), acts)


def _by_abbreviation(
    question: str, named: Sequence[tuple[Act, ActNames]], sections: Sequence[tuple[int, int]]
) -> Iterator[ActMention]:
    shouted = question.isupper() and question.count(" ") >= _SHOUTED
    for match in SHORT.finditer(question):
        gaps = [
            question[end : match.start()] if end <= match.start() else question[match.end() : start]
            for start, end in sections
            if end <= match.start() or match.end() <= start
        ]
        beside = any(not gap.strip(" ,") for gap in gaps)
        short = {capitals(match.group())} if not shouted else set()
        if beside:
            short.add(fold(match.group().replace(".", "")).upper())
        acts = tuple(
            act
            for act, names in named
            if not short.isdisjoint(names.abbreviations) or (beside and not short.isdisjoint(names.initials))
        )
        if acts:
            yield ActMention(match.start(), match.end(), acts)


def _by_name(question: str, every: Sequence[tuple[Act, ActNames]]) -> Iterator[ActMention]:
    runs = name_words(question)
    meanings = frozenset(meaning for run in runs for word in run for meaning in word.meanings)
    unknown = [word for run in runs for word in run if not word.meanings]
    # Comparing every window with every act of a large collection would take its time.
    named = [(act, names) for act, names in every if _may_be_named(names, meanings, unknown)]
    for run in runs if named else ():
        for start in range(len(run)):
            for end in range(start + 1, min(len(run), start + _WIDEST) + 1):
                window = run[start:end]
                exact = [act for act, names in named if any(same(window, phrase) for phrase in names.phrases)]
                numbered = _NUMBERED_ACT.match(question, window[-1].end)
                acts = exact or ([] if numbered else _described(run, start, end, named))
                if acts:
                    yield ActMention(window[0].start, window[-1].end, tuple(acts))


def _may_be_named(names: ActNames, meanings: frozenset[str], unknown: Sequence[NameWord]) -> bool:
    """Return whether a word that tells the act from others of its kind is among those of a question."""
    return any(
        not word.meanings.isdisjoint(meanings) if word.meanings else any(word.means(other) for other in unknown)
        for word in (*names.described, *(word for phrase in names.phrases for word in phrase))
        if not word.kind or not word.meanings.isdisjoint(_ALONE)
    )


def _described(run: Sequence[NameWord], start: int, end: int, named: Sequence[tuple[Act, ActNames]]) -> list[Act]:
    """Return the one act that a part of its names describes; none where several fit or a neighbour says otherwise."""
    window = run[start:end]
    kinds = frozenset(meaning for word in window if word.kind for meaning in word.meanings)
    constitution = not kinds.isdisjoint(_ALONE)
    if not kinds or not (constitution or any(not word.kind and not word.place for word in window)):
        return []
    fitting = [
        (act, names)
        for act, names in named
        if not kinds.isdisjoint(names.kinds) and all(any(w.means(d) for d in names.described) for w in window)
    ]
    before = run[start - 1] if start else None
    after = run[end] if end < len(run) else None
    for word, joined in ((before, window[0].joined), (after, after.joined if after else False)):
        if word is not None and (
            word.place or (joined and word.capital) or (word.meanings and not word.kind and not constitution)
        ):
            return []
    if len(fitting) > 1:
        said = {word.word for word in window}
        fitting = [(act, names) for act, names in fitting if said <= {word.word for word in names.described}]
    return [act for act, _ in fitting] if len(fitting) == 1 else []
