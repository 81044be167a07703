"""Sides of a question: the documents, countries or years that it names beside each other.

"X in A and B", "from A to B" and "compare A with B" have two sides, each with a question of its own. A document is
named by its act, its identifier, a name of its title, or its file.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import PurePath

from rag_engine.answering.refuse_answer import YEAR
from rag_engine.answering_documents import identified_documents
from rag_engine.controller.sub_questions import MOST, PartWords, as_question, part_words, sub_questions
from rag_engine.geography import Gazetteer, country_in, place_mentions
from rag_engine.retrieval.act_lexicon import NameWord, load_lexicon, name_words
from rag_engine.retrieval.act_mentions import ALONE, find_acts
from rag_engine.retrieval.named_documents import own_documents
from rag_engine.storage.section_index import Act
from rag_engine.text.folding import fold
from rag_engine.text.identifiers import find_identifiers
from rag_engine.text.sentences import Span
from rag_engine.text.stop_words import stopwords
from rag_engine.types.document import DocumentRecord
from rag_engine.types.evidence import Side

# Documents that one name may mean, at least and as a share of the collection: what more have is no name of one.
_NAMESAKES, _SHARE = 4, 0.05
_LONGEST_NAME = 6
_SHORTEST_NAME = 3
_WORD = re.compile(r"[^\W_]+")
_YEAR_BEHIND = re.compile(r"[\s,(]*(?:1[5-9]|20)\d\d\)?(?![\w/:-]|[.,]\d)")
_ATTACHED = re.compile(r"['’]\w+")
# A series and its number, as it stands in the names of files: COP16, CMA 4.
_NUMBERED = re.compile(r"(?<!\w)([^\W\d_]{2,6})[\s-]?(\d{1,3})(?!\w)")


@dataclass(frozen=True, slots=True)
class _Mention:
    """Characters [start, end) of a question that name documents, a country with its documents, or a year."""

    start: int
    end: int
    documents: frozenset[int]
    country: str = ""
    year: str = ""

    def overlaps(self, others: Collection[_Mention]) -> bool:
        return any(self.start < other.end and other.start < self.end for other in others)

    def is_alike(self, other: _Mention) -> bool:
        """Return whether both name the same."""
        return (self.documents, self.country if not self.documents else "", self.year) == (
            other.documents,
            other.country if not other.documents else "",
            other.year,
        )


def named_sides(
    question: str,
    language: str,
    acts: Sequence[Act],
    documents: Mapping[int, DocumentRecord],
    gazetteer: Gazetteer,
) -> tuple[Side, ...]:
    """Return the sides of a question in its order; none where it names fewer than two beside each other.

    `documents` are those that may answer.
    """
    words = part_words(language)
    if words is None or not documents:
        return ()
    question = unicodedata.normalize("NFC", question)
    named = _of_documents(question, language, words, acts, documents)
    countries = [one for one in _of_countries(question, language, documents, gazetteer) if not one.overlaps(named)]
    mentions = _merged(sorted([*named, *countries], key=lambda one: one.start), question)
    mentions = [_dated(one, question) for one in mentions]
    run = _longest_run(mentions, question, words)
    years = [_Mention(*match.span(), frozenset(), year=match[0]) for match in YEAR.finditer(question)]
    if not run and (run := _longest_run(years, question, words)):
        mentions = sorted([*mentions, *run], key=lambda one: one.start)
    if not run:
        return ()
    # "What does the Paris Agreement say on Italy and on Germany": what stands outside holds both.
    frame = frozenset().union(*(one.documents for one in mentions if one not in run and not one.country))
    run = [_constitution(one, question, acts, documents) if one.country else one for one in run]
    texts = _questions(question, run, words, language)
    sides = [_side(one, own, question, language, frame, documents) for one, own in zip(run, texts, strict=True)]
    several = tuple(chain.from_iterable(_parts(side, language, gazetteer) for side in sides))
    return several if len(several) <= MOST else tuple(sides)


def _parts(side: Side, language: str, gazetteer: Gazetteer) -> tuple[Side, ...]:
    """Return a side for each part of its question: "How is it elected, and for how long?"."""
    questions, queries = (sub_questions(text, language, gazetteer) for text in (side.question, side.query))
    if len(questions) != len(queries):
        return (side,)
    return tuple(replace(side, question=one, query=own) for one, own in zip(questions, queries, strict=True))


def _side(
    mention: _Mention,
    texts: tuple[str, str],
    question: str,
    language: str,
    frame: frozenset[int],
    documents: Mapping[int, DocumentRecord],
) -> Side:
    of = frame if frame and (mention.country or mention.year) else mention.documents
    name = country_in(mention.country, language) if mention.country else question[mention.start : mention.end]
    full, query = (as_question(text, question, language) for text in texts)
    query = query if _WORD.search(query) else full
    country = mention.country if of == frame else ""
    return Side(name, full, query, of, sum(documents[key].pages for key in of), country, mention.year)


def _of_documents(
    question: str, language: str, words: PartWords, acts: Sequence[Act], documents: Mapping[int, DocumentRecord]
) -> list[_Mention]:
    """Return the mentions of documents: by identifier and act, then by a name of the title or the file."""
    found = [
        _Mention(one.start, one.end, named & documents.keys())
        for one in find_identifiers(question)
        if (named := identified_documents(one.identifier, documents))
    ]
    cuts = [*chain.from_iterable(match.span() for match in words.join.finditer(question)), len(question)]
    spans = list(zip([0, *cuts[1::2]], cuts[::2], strict=True))
    # An act ends at "and" before the act beside it, unless its own name has the word.
    for start, end in (*spans, (0, len(question))):
        placed = [
            _Mention(start + one.start, start + one.end, _of_acts(one.acts, documents))
            for one in find_acts(question[start:end], acts)
        ]
        found += [one for one in placed if one.documents and not one.overlaps(found)]
    # The capital of a German noun makes no name of it.
    shown = {key: record for key, record in documents.items() if not language == record.metadata.language == "de"}
    names = [one for span in spans for one in _by_title(question, span, acts, shown)]
    return [*found, *(one for one in names if not one.overlaps(found))]


def _of_acts(acts: Sequence[Act], documents: Mapping[int, DocumentRecord]) -> frozenset[int]:
    return frozenset().union(*(own_documents(act, documents) for act in acts))


def _by_title(
    question: str, span: Span, acts: Sequence[Act], documents: Mapping[int, DocumentRecord]
) -> Iterator[_Mention]:
    """Yield the longest names in a span of the question that few documents have in their title or file."""
    start, text = span[0], question[slice(*span)]
    most = max(_NAMESAKES, int(_SHARE * len(documents)))
    taken: list[_Mention] = []
    for found in _NUMBERED.finditer(text):
        number = fold(found[1]) + found[2]
        keys = frozenset(key for key, record in documents.items() if number in _file_words(record.file))
        if keys and len(keys) <= most:
            taken.append(_Mention(start + found.start(), start + found.end(), keys))
    for run in name_words(text):
        for size in range(min(len(run), _LONGEST_NAME), 0, -1):
            for first in range(len(run) - size + 1):
                window = run[first : first + size]
                place = _Mention(start + window[0].start, start + window[-1].end, frozenset())
                if not _may_name(run, window, question[: start + window[0].start]) or place.overlaps(taken):
                    continue
                keys = frozenset(key for key, record in documents.items() if _is_named(record, key, window, acts))
                if keys and len(keys) <= most:
                    taken.append(replace(place, documents=keys))
    yield from taken


def _may_name(run: Sequence[NameWord], window: Sequence[NameWord], before: str) -> bool:
    """Return whether words may name a document: a proper name, or a kind with what tells it from others.

    "Federal" and "Republic" are words of titles and no names. A part of a compound is no word.
    """
    outside = (one for one in run if one not in window)
    if any(one.start == window[0].start or one.end == window[-1].end for one in outside):
        return False
    # At the beginning of a question every word has a capital.
    begins = not before.strip(' ¿"“„«')
    if any(_is_proper(word) and (word.meanings or not begins) for word in window):
        return True
    kinds = sum(word.kind for word in window)
    return (
        0 < kinds < len(window)
        and any(word.capital for word in window)
        and not all(word.kind or word.place for word in window)
    )


def _is_proper(word: NameWord) -> bool:
    """Return whether a word is a city's name, or has a capital and no meaning in the names of acts."""
    if word.meanings:
        return not word.meanings.isdisjoint(load_lexicon().names)
    return word.capital and len(word.word) >= _SHORTEST_NAME


def _is_named(record: DocumentRecord, key: int, window: Sequence[NameWord], acts: Sequence[Act]) -> bool:
    """Return whether a document has all words in its title or its file, not as the name of another's act."""
    if all(any(word.means(own) for own in _names_of(PurePath(record.file).stem)) for word in window):
        return True
    title = record.metadata.title
    if not all(any(word.means(own) for own in _names_of(title)) for word in window):
        return False
    others = [one for one in find_acts(title, acts) if all(key not in act.documents for act in one.acts)]
    left = "".join(sign for at, sign in enumerate(title) if not any(one.start <= at < one.end for one in others))
    return not others or all(any(word.means(own) for own in _names_of(left)) for word in window)


@lru_cache(maxsize=10_000)
def _names_of(text: str) -> tuple[NameWord, ...]:
    """Return the words of a title or a file's name, each with its meanings in names."""
    return tuple(word for run in name_words(text.replace("_", " ")) for word in run)


@lru_cache(maxsize=10_000)
def _file_words(file: str) -> frozenset[str]:
    return frozenset(fold(word) for word in _WORD.findall(file.replace("_", " ")))


def _of_countries(
    question: str, language: str, documents: Mapping[int, DocumentRecord], gazetteer: Gazetteer
) -> list[_Mention]:
    """Return the mentions of a single country, each with its documents.

    What is attached to a name is of the mention ("İtalya'nın").
    """
    return [
        _Mention(
            start,
            attached.end() if (attached := _ATTACHED.match(question, end)) else end,
            frozenset(key for key, record in documents.items() if form.countries[0] in record.metadata.countries),
            form.countries[0],
        )
        for form, start, end in place_mentions(question, gazetteer, language)
        if len(form.countries) == 1
    ]


def _merged(mentions: Sequence[_Mention], question: str) -> list[_Mention]:
    """Return the mentions with two that are next to each other as one, where both name the same documents.

    An example is "Brazil's LGPD".
    """
    merged: list[_Mention] = []
    for mention in mentions:
        both = merged[-1].documents & mention.documents if merged else frozenset()
        if both and not question[merged[-1].end : mention.start].strip(" ('’s"):
            merged[-1] = _Mention(merged[-1].start, mention.end, both)
        else:
            merged.append(mention)
    return merged


def _dated(mention: _Mention, question: str) -> _Mention:
    """Return a mention that ends behind its brackets, and behind a year that follows it.

    Examples are "the data protection act (LGPD) on data" and "Bali 2007".
    """
    closed = question.rfind(")", mention.start, mention.end) + 1
    end = closed if "(" in question[mention.start : closed] else mention.end
    year = _YEAR_BEHIND.match(question, end)
    return replace(mention, end=year.end() if year else end)


def _longest_run(mentions: Sequence[_Mention], question: str, words: PartWords) -> list[_Mention]:
    """Return the longest run of mentions that a word joins, or none of two different ones."""
    runs: list[list[_Mention]] = [[]]
    for mention in mentions:
        if runs[-1]:
            gap = question[runs[-1][-1].end : mention.start]
            if not (words.join.search(gap) or words.opposed.fullmatch(gap.replace("’", "'"))):
                runs.append([])
        if not any(mention.is_alike(other) for other in runs[-1]):
            runs[-1].append(mention)
    longest = max(runs, key=len)
    return longest if len(longest) > 1 else []


def _constitution(
    mention: _Mention, question: str, acts: Sequence[Act], documents: Mapping[int, DocumentRecord]
) -> _Mention:
    """Return the mention of a country with its constitution alone, if constitutions are asked about.

    An example is the first country of "in the German and the Italian constitution".
    """
    country = question[mention.start : mention.end]
    for word in chain.from_iterable(name_words(question)):
        if not word.meanings.isdisjoint(ALONE):
            phrase = f"{country} {question[word.start : word.end]}"
            if found := [one for one in find_acts(phrase, acts) if one.end - one.start == len(phrase)]:
                return replace(mention, documents=_of_acts(found[0].acts, documents))
    return mention


def _questions(question: str, run: Sequence[_Mention], words: PartWords, language: str) -> list[tuple[str, str]]:
    """Return the question of each side, with its name and without.

    It has the side's own words, and those before and behind all of the sides.
    """
    ignored = stopwords(language)
    lead, tail = question[: run[0].start], question[run[-1].end :]
    behind, before = [], [""]
    for one, other in pairwise(run):
        gap = question[one.end : other.start]
        joins = list(words.join.finditer(gap))
        cut = joins[-1].span() if joins else (0, len(gap))
        behind.append(gap[: cut[0]])
        before.append(gap[cut[1] :])
    behind.append("")

    def says(text: str) -> bool:
        return any(fold(word) not in ignored for word in _WORD.findall(text))

    if not words.anywhere and any(words.asks.match(text.lstrip()) and says(text) for text in before):
        # Each side has a clause that asks, not just "and who in".
        leads, tails = [lead, *([""] * (len(run) - 1))], [*([""] * (len(run) - 1)), tail]
    else:
        leads, tails = [lead] * len(run), [tail] * len(run)
    texts = []
    for one, first, ahead, after, last in zip(run, leads, before, behind, tails, strict=True):
        head = f"{first}{ahead}" if says(ahead) else first
        rest = f"{after}{last}" if says(after) else last
        texts.append((f"{head}{question[one.start : one.end]}{rest}", f"{_bare(head, words)} {rest}"))
    return texts


def _bare(head: str, words: PartWords) -> str:
    """Return the words before a name without the preposition and the determiner of it."""
    openers = (words.determiner, *words.prepositions)
    while match := next(
        (found for one in openers if (found := re.search(rf"{one.pattern}\s*$", head, one.flags))), None
    ):
        head = head[: match.start()]
    return head
