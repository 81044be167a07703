"""A question of several parts taken apart by rules, in seven languages.

The rules recognise:

- questions one after another
- several named sections, countries, years or names
- lists whose items begin alike

Words that the parts share stay with each of them. The rules only propose: a part too many costs a search, and a
question that is not understood stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from rag_engine import prompts
from rag_engine.answering.citations import words
from rag_engine.answering.refuse_answer import YEAR, years_of
from rag_engine.chunking.section.references import Reference, named_sections
from rag_engine.chunking.section.rules import normal_label
from rag_engine.controller.memory import SubQuestion
from rag_engine.errors import BackendError
from rag_engine.geography import Gazetteer, find_places, place_mentions
from rag_engine.protocols import Generator
from rag_engine.text.folding import fold
from rag_engine.text.sentences import Span
from rag_engine.text.stop_words import stopwords
from rag_engine.text.tables import read_table
from rag_engine.types.evidence import QueryPlan

_CHARACTERS = (5, 300)

# Sub-questions at most: a longer list is searched as one.
MOST = 8
# Words before the first asking word that belong to every part: "In Italy and Germany, who ...".
_LONGEST_LEAD = 9
_SENTENCE = re.compile(r"(?<=[?？])\s+(?=\S)")
# A word with a capital and more of them, with small words in between: "Sharm el-Sheikh".
_NAME = re.compile(r"(?<![\w'’])[^\W\d_a-zß-öø-ÿ][\w'’.-]*(?:\s[^\W\d_a-zß-öø-ÿ][\w'’.-]*)*")
_WORD = re.compile(r"\w+")
_WORD_START = re.compile(r"(?<!\S)\S")
_FIRST_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_END = re.compile(r"\s?[?？]$")
_LOOSE = re.compile(r"^[¿\s,;]+|[\s,;?？!.…]+$")

PartSplit = Callable[[str], list[str]]


def plan_by_rules(plan: QueryPlan, gazetteer: Gazetteer) -> tuple[SubQuestion, ...]:
    """Return the parts of a question as the rules see them; a question without parts is one."""
    texts = sub_questions(plan.queries[0], plan.language, gazetteer)
    return _with_queries(texts, plan, gazetteer)


def plan_by_model(
    plan: QueryPlan, generator: Generator, gazetteer: Gazetteer, *, seconds: float
) -> tuple[SubQuestion, ...]:
    """Return the parts of a question as a language model sees them.

    Every part must have a word of the question, so that a model can neither invent a part nor answer it. A reply that
    cannot be used raises BackendError.
    """
    reply = generator.complete_json(
        prompts.SUB_QUESTION_RULES, prompts.planner_message(plan.question), prompts.SUB_QUESTION_SCHEMA, seconds=seconds
    )
    listed = reply.get("sub_questions")
    texts = [" ".join(one.split()) for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    asked = words(plan.question)
    shortest, longest = _CHARACTERS
    good = [text for text in dict.fromkeys(texts) if shortest <= len(text) <= longest and words(text) & asked]
    if not 2 <= len(good) <= MOST or len(good) < len(texts):
        raise BackendError(
            "the model's list of sub-questions has {count} of {total} that can be used.",
            count=len(good),
            total=len(texts),
        )
    return _with_queries(good, plan, gazetteer)


def _with_queries(texts: tuple[str, ...] | list[str], plan: QueryPlan, gazetteer: Gazetteer) -> tuple[SubQuestion, ...]:
    return tuple(
        SubQuestion(
            text=text,
            queries=tuple(dict.fromkeys((text, _in_context(text, plan)))),
            language=plan.language,
            scope=find_places(text, gazetteer, plan.language),
            sections=named_labels(text, plan.language),
            years=tuple(years_of(text)),
        )
        for text in texts
    )


def _in_context(text: str, plan: QueryPlan) -> str:
    """Return the part with the question's words before it, which explain "it" and "the law"."""
    own = words(text)
    before = plan.queries[0].split("?")[0].split(",")[0].split()
    stop_words = stopwords(plan.language)
    added = [word for word in before if fold(word.strip("¿.,;:'’")) not in stop_words and not words(word) <= own]
    return " ".join((text, *added))


@dataclass(frozen=True, slots=True)
class _Item:
    """Characters [start, end) of a question that are one of several alike, and their name."""

    start: int
    end: int
    name: str


def sub_questions(question: str, language: str, gazetteer: Gazetteer) -> tuple[str, ...]:
    """Return the parts of a question, in its order; a question without parts is one.

    A step that would make more than eight parts is left out.

    >>> from rag_engine.geography import load_gazetteer
    >>> sub_questions("How many houses were flooded, and who paid?", "en", load_gazetteer())
    ('How many houses were flooded?', 'Who paid?')
    """
    words = part_words(language)
    if words is None:
        return (question,)
    parts = [question]
    for split in _splits(language, words, gazetteer):
        further = list(dict.fromkeys(piece for part in parts for piece in split(part)))
        parts = further if len(further) <= MOST else parts
    return tuple(as_question(part, question, language) for part in parts) if len(parts) > 1 else (question,)


def named_labels(text: str, language: str) -> tuple[str, ...]:
    """Return the sections that a text names, in their normal form ("article 9").

    >>> named_labels("Compare Article 5 and Article 9.", "en")
    ('article 5', 'article 9')
    """
    return tuple(dict.fromkeys(normal_label(section.label) for section in named_sections(text, language)))


def _splits(language: str, words: PartWords, gazetteer: Gazetteer) -> tuple[PartSplit, ...]:
    return (
        lambda text: [piece for piece in _SENTENCE.split(text) if _WORD.search(piece)],
        lambda text: _clauses(text, words),
        lambda text: _sections(text, language, words),
        lambda text: _alike(text, _places(text, gazetteer, language), words),
        lambda text: _alike(text, [_Item(*match.span(), match.group()) for match in YEAR.finditer(text)], words),
        lambda text: _alike(text, _names(text, language, words), words),
        lambda text: _repeated(text, words.prepositions, words),
        lambda text: _repeated(text, (words.determiner,), words, after=words.prepositions),
        lambda text: _listed(text, language, words),
    )


def _clauses(text: str, words: PartWords) -> list[str]:
    """Cut at each comma or joining word that an asking word follows.

    A comma counts only in a list whose last item follows a joining word.
    """
    cuts = [cut for cut in words.join.finditer(text) if words.anywhere or words.asks.match(text, cut.end())]
    if words.anywhere:
        return _asking(text, cuts, words)
    while cuts and not _word_of(cuts[-1]):
        cuts.pop()
    pieces = _between(text, [cut.span() for cut in cuts])
    if len(pieces) < 2:
        return pieces
    first = pieces[0]
    starts = (found.start() for found in _WORD_START.finditer(first))
    asked = next((start for start in starts if words.asks.match(first, start)), None)
    if asked is None and len(first.split()) <= _LONGEST_LEAD:
        return [f"{first}, {piece}" for piece in pieces[1:]]
    # What comes before the asking word of the first part, unless that is too much.
    lead = first[: asked or 0]
    lead = lead if len(lead.split()) <= _LONGEST_LEAD else ""
    return [first, *(f"{lead}{piece}" for piece in pieces[1:])]


def _asking(text: str, cuts: Sequence[re.Match[str]], words: PartWords) -> list[str]:
    """Return the pieces between cuts, one without an asking word joined to the piece that follows it."""
    spans: list[Span] = []
    start = 0
    for cut in cuts:
        if words.asks.search(text, start, cut.start()) and words.asks.search(text, cut.end()):
            spans.append(cut.span())
            start = cut.end()
    return _between(text, spans)


def _sections(text: str, language: str, words: PartWords) -> list[str]:
    """Give each named section a separate question."""
    references = [section for section in named_sections(text, language) if not section.document]
    if len({reference.label for reference in references}) < 2:
        return [text]
    gaps = [text[reference.end : other.start] for reference, other in pairwise(references)]
    if all(words.gap.fullmatch(gap) for gap in gaps):
        start, end = references[0].start, references[-1].end
        return [text[:start] + _label(text, reference, references) + text[end:] for reference in references]
    # Sections of different acts: each with the words up to the one that joins the next.
    cuts = [list(words.join.finditer(text, reference.end, other.start)) for reference, other in pairwise(references)]
    if not all(cuts):
        return [text]
    first = references[0].start
    pieces = _between(text[first:], [(found[-1].start() - first, found[-1].end() - first) for found in cuts])
    return [text[:first] + piece for piece in pieces]


def _label(text: str, reference: Reference, references: Sequence[Reference]) -> str:
    """Return a section with its noun: "Articles 8" for the second of "Articles 5, 8 and 11"."""
    written = text[reference.start : reference.end]
    if re.search(r"[^\W\d_]{2,}|§", written):
        return written
    nouned = (text[one.start : one.end] for one in references)
    full = next((one for one in nouned if re.search(r"[^\W\d_]{2,}|§", one)), written)
    return re.sub(r"\d+\w?", written.strip(), full, count=1)


def _places(text: str, gazetteer: Gazetteer, language: str) -> list[_Item]:
    mentions = place_mentions(text, gazetteer, language)
    return [_Item(start, end, form.countries[0]) for form, start, end in mentions if len(form.countries) == 1]


def _names(text: str, language: str, words: PartWords) -> list[_Item]:
    """Return the names inside the question.

    German gives none, because all its nouns have a capital. A single name with several parts gives none.
    """
    if language == "de" or words.undivided.search(text):
        return []
    names = [_Item(*match.span(), fold(match.group())) for match in _NAME.finditer(text) if match.start() > 1]
    return [] if _is_one_name(text, names, words) else names


def _alike(text: str, items: Sequence[_Item], words: PartWords) -> list[str]:
    """Give each item of the longest run of items, joined by commas and words, a separate question."""
    runs: list[list[_Item]] = [[]]
    for item in items:
        if runs[-1] and not words.gap.fullmatch(text, runs[-1][-1].end, item.start):
            runs.append([])
        runs[-1].append(item)
    run = max(runs, key=len)
    if len({item.name for item in run}) < 2:
        return [text]
    return [text[: run[0].start] + text[item.start : item.end] + text[run[-1].end :] for item in run]


def _is_one_name(text: str, names: Sequence[_Item], words: PartWords) -> bool:
    """Return whether two names are one: only the first has a determiner.

    An example is "the Climate Technology Centre and Network".
    """
    return any(
        _follows(text, one.start, (words.determiner,))
        and words.gap.fullmatch(text, one.end, other.start) is not None
        and not words.determiner.search(text, one.end, other.start)
        for one, other in pairwise(names)
    )


def _repeated(
    text: str, openers: Sequence[re.Pattern[str]], words: PartWords, *, after: Sequence[re.Pattern[str]] = ()
) -> list[str]:
    """Give each item of a list a separate question, if the items begin with the same kind of word.

    The first item begins at the last such word before the first cut, but not right `after` one of these.
    """
    joins = list(words.join.finditer(text))
    for opener in openers:
        cuts = [cut for cut in joins if opener.match(text, cut.end())]
        while cuts and not _word_of(cuts[-1]):
            cuts.pop()
        if not cuts:
            continue
        heads = [
            match for match in opener.finditer(text, 0, cuts[0].start()) if not _follows(text, match.start(), after)
        ]
        if not heads:
            continue
        head = heads[-1].start()
        if _follows(text, head, words.auxiliaries) or words.undivided.search(text, 0, cuts[0].start()):
            continue
        pieces = _between(text[head:], [(cut.start() - head, cut.end() - head) for cut in cuts])
        return [text[:head] + piece for piece in pieces]
    return [text]


def _listed(text: str, language: str, words: PartWords) -> list[str]:
    """Give each of three or more single words in a list a separate question."""
    joins = list(words.join.finditer(text))
    last = next((place for place, cut in reversed(list(enumerate(joins))) if _word_of(cut)), None)
    if last is None:
        return [text]
    first = last
    while first and len(text[joins[first - 1].end() : joins[first].start()].split()) <= 2:
        first -= 1
    head = re.search(r"\S+$", text[: joins[first].start()])
    tail = _FIRST_WORD.match(text, joins[last].end())
    if first == last or head is None or tail is None:
        return [text]
    items = _between(
        text[head.start() : tail.end()],
        [(c.start() - head.start(), c.end() - head.start()) for c in joins[first : last + 1]],
    )
    if words.undivided.search(text, 0, head.start()) or any(fold(item) in stopwords(language) for item in items):
        return [text]
    return [text[: head.start()] + item + text[tail.end() :] for item in items]


def _follows(text: str, position: int, patterns: Sequence[re.Pattern[str]]) -> bool:
    """Return whether the word before a position is one of these."""
    before = re.search(r"[\w'’]+\s*$", text[:position])
    return before is not None and any(pattern.fullmatch(before.group().strip()) for pattern in patterns)


def _word_of(cut: re.Match[str]) -> str:
    return cut["word"] or cut["alone"] or ""


def _between(text: str, cuts: Sequence[Span]) -> list[str]:
    edges = [0, *(edge for cut in cuts for edge in cut), len(text)]
    return [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]


def as_question(part: str, question: str, language: str) -> str:
    """Return a part with a capital and with the signs that the question opens and ends with."""
    plain = _LOOSE.sub("", " ".join(part.split()))
    capital = "İ" if language == "tr" and plain.startswith("i") else plain[:1].upper()
    signs = _END.search(question.rstrip())
    return f"{'¿' if question.lstrip().startswith('¿') else ''}{capital}{plain[1:]}{signs[0] if signs else ''}"


@dataclass(frozen=True, slots=True)
class PartWords:
    """The words of one language that join the parts of a question or open one, ready to use.

    - `join`: a comma, a semicolon or a joining word between two parts, with a group `word` for the word
    - `gap`: everything that may be between two items of a list
    - `asks`: the start of a part that asks, or with `anywhere` an asking word
    - `prepositions`, `determiner`: openers of an item of a list
    - `opposed`: what alone stands between two things that are compared ("from a to b")
    - `undivided`: words after which a list is one thing ("the difference between")
    - `auxiliaries`: words after which a list is a subject, whose verb follows
    """

    join: re.Pattern[str]
    gap: re.Pattern[str]
    asks: re.Pattern[str]
    anywhere: bool
    prepositions: tuple[re.Pattern[str], ...]
    determiner: re.Pattern[str]
    opposed: re.Pattern[str]
    undivided: re.Pattern[str]
    auxiliaries: tuple[re.Pattern[str], ...]


@cache
def part_words(language: str) -> PartWords | None:
    """Return the words of a language, or None if the table lacks it."""
    table = read_table("sub_questions").get(language)
    if table is None:
        return None
    joins = _any_of(table["joins"])
    prepositions = [_any_of(row) for row in table["prepositions"]]
    before = rf"(?:(?:{'|'.join(prepositions)})\s*)?" if prepositions else ""
    openers = "|".join([*prepositions, _any_of(table["determiners"])])
    asks = rf"[¿\s]*{before}(?:{'|'.join(table['asks'])})(?![\w])"
    anywhere = bool(table.get("anywhere"))
    return PartWords(
        join=_compile(rf"\s*[,;]\s*(?:(?P<word>{joins})\s+)?|\s+(?P<alone>{joins})\s+"),
        # A word may stand for the noun of the last item: "la Costituzione italiana e quella tedesca".
        gap=_compile(rf"(?:\s*[,;]\s*(?:{joins}\s+)?|\s+{joins}\s+)(?:(?:{openers})\s*){{0,3}}(?:[\w'’]{{1,6}}\s+)?"),
        asks=_compile(rf"(?<!\w)(?:{'|'.join(table['asks'])})(?!\w)" if anywhere else asks),
        anywhere=anywhere,
        prepositions=tuple(_compile(rf"(?<![\w'’]){preposition}") for preposition in prepositions),
        determiner=_compile(rf"(?<![\w'’]){_any_of(table['determiners'])}"),
        opposed=_compile(rf"\W*?{_any_of(table['opposed'])}\s*(?:(?:{openers})\s*)*"),
        undivided=_compile(rf"(?<!\w){_any_of(table['undivided'])}"),
        auxiliaries=tuple(_compile(_any_of([word])) for word in table.get("auxiliaries", ())),
    )


def _any_of(words: Sequence[str]) -> str:
    """Return a pattern that matches any of these words, and nothing if there are none.

    A word that ends in an apostrophe needs no blank after it.
    """
    patterns = [
        re.escape(word[:-1]) + "['’]" if word.endswith("'") else rf"{re.escape(word)}(?![\w'’])"
        for word in sorted(words, key=len, reverse=True)
    ]
    return f"(?:{'|'.join(patterns) or '(?!)'})"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
