"""Values of a sentence that its passage does not have.

Values are who does what to whom, must and may, how often, how much, and except whom.

They are read by the words of data/claim_values.toml. A sentence is compared with the clause of the passage that says
most of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from rag_engine.text import claims
from rag_engine.text.analyzer import stems_of
from rag_engine.text.claims import PREDICATE_LAST
from rag_engine.text.folding import fold
from rag_engine.text.quantities import quantities
from rag_engine.text.stop_words import stopwords
from rag_engine.text.tables import read_table
from rag_engine.types.answer import SupportLabel

_WORD = re.compile(r"[^\W\d_]+")
_WORD_OR_COMMA = re.compile(r"[^\W\d_]+|,")
WordRole = Literal["by", "to", "from", "first", "bare", "other"]

_SENTENCE = re.compile(r"(?<=[.;!?])\s+|\n+")
# Between a number and its unit: 2 million euros, 3 millones de euros.
_SCALE = r"(?:(?:mio|mln|mrd|mil+i\w+|mil|mila|thousand|tausend|bin|billion\w*)\.?\s*(?:(?:de|di|of|d)\W\s*|\s)?)?"
_NUMBER = r"(?P<n>\d+|[^\W\d_]{2,})"
# Share of the longer word with which two words begin that are forms of one.
_SAME_BEGINNING = 0.6
_SAME_STEM = 0.45  # of languages with long endings
_SHORTEST = 3
_SUBJECT = 4  # words with which a clause names its subject
_ITEM = 2  # words of an item of a list
_ONCE, _TWICE = 1.0, 2.0
# What is compared as a value and not as a word.
_VALUES = ("duty", "may", "should", "except", "including", "by", "least", "up_to", "most", "few")
_NEAR = 0.02  # of months: how far two intervals differ that are one

# What a table calls a verb, and what it says.
_MODALS = {"duty": "must", "may": "may", "should": "should"}
_MARKERS: tuple[Literal["by", "to", "from"], ...] = ("by", "to", "from")
# Parts of a word that are never one in other words. To act and to be taken from are: "gives" and "receives from".
_TURNED = ({"acts", "to"}, {"to", "from"})

# Of these, a passage that says one does not say another.
_SHARES = (("least", "up_to"), ("every_one", "most", "few"))
_SAID = {"least": "at least", "up_to": "at most", "every_one": "all", "most": "most", "few": "a few"}

ChangeKind = Literal["modal", "frequency", "unit", "quantity", "exception", "role", "word"]


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A value of a sentence that is another in its passage; `sure` where only a change explains it."""

    kind: ChangeKind
    reason: str
    sure: bool = True


def label_of_changes(found: Collection[ClaimChange]) -> SupportLabel:
    """Return the label of a sentence with these changes whose passage supports it otherwise."""
    return "unsupported" if any(one.sure for one in found) else "not checked" if found else "supported"


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause of a text: its words as they stand, and those of the sentence that it may lean on."""

    text: str
    subject: tuple[str, ...]
    sentence: str


def changes(sentence: str, language: str, passage: str, written: str, about: str = "") -> list[ClaimChange]:
    """Return the values of a sentence that its passage does not have.

    Units, frequencies and modal verbs are compared in any two languages of data/claim_values.toml, the rest within
    one. `about` names the document of the passage and its section.
    """
    found = list(_other_units(sentence, language, passage, written))
    known = read_table("claim_values")
    if language not in known or written not in known:
        return found
    if language != written:
        found += _other_intervals(_intervals(sentence, language), _intervals(passage, written))
        found += _other_modal(_modals(sentence, language), _modals(passage, written), sure=False)
        return found
    clauses = _clauses(passage, language)
    named = _WORD.findall(fold(about))
    parts = _clauses(sentence, language) if clauses else []
    for part in parts:
        said = _content(part.text, language)
        nearness = [_nearness(one, said, language) for one in clauses]
        nearest = clauses[nearness.index(max(nearness))]
        found += _other_intervals(_intervals(part.text, language), _intervals(nearest.sentence, language))
        found += _other_share(part.text, nearest, language)
        # "According to the Ordinance," is no clause.
        if len(said) > _ITEM or len(parts) == 1:
            found += _other_modal(_modals(part.text, language), _modals(nearest.text, language), sure=True)
            found += _left_out(sentence, nearest, language)
            found += _other_roles(part.text, nearest, language)
        found += [
            ClaimChange("word", f'"{word}" is not said so in the passage', sure=False)
            for word in said
            if not _holds(nearest, word, language) and not any(_alike(word, one, language) for one in named)
        ]
    return list(dict.fromkeys(found))


def _other_units(sentence: str, language: str, passage: str, written: str) -> Iterator[ClaimChange]:
    known: dict[float, set[str]] = {}
    for _, values, unit in _measured(passage, written):
        for value in values:
            known.setdefault(value, set()).add(unit)
    for text, values, unit in _measured(sentence, language):
        units = set().union(*(known.get(value, set()) for value in values))
        if units and unit not in units:
            yield ClaimChange("unit", f"{text} {unit} is {text} {' or '.join(sorted(units))} in the passage")


def _measured(text: str, language: str) -> Iterator[tuple[str, frozenset[float], str]]:
    """Yield the numbers of a text with a unit: as written, their values, the unit."""
    place = 0
    for quantity in quantities(text, language):
        start = text.find(quantity.text, place)
        if start < 0:
            continue
        place = start + len(quantity.text)
        match = _units().match(fold(text[place : place + 60]))
        if match:
            yield quantity.text, quantity.values, _unit_names()[int(str(match.lastgroup)[1:])]


def _other_intervals(asked: Mapping[str, float], known: Mapping[str, float]) -> Iterator[ClaimChange]:
    for written, months in asked.items():
        if not known:
            yield ClaimChange("frequency", f'"{written}" is not in the passage', sure=False)
        elif not any(abs(months - other) <= _NEAR * max(months, other) for other in known.values()):
            yield ClaimChange("frequency", f'"{written}" is "{next(iter(known))}" in the passage')


def _intervals(text: str, language: str) -> dict[str, float]:
    """Return how often a text says that something happens: each as written, in months between two times."""
    folded = fold(text)
    matches = [(match, way) for pattern, way in _frequencies(language) for match in pattern.finditer(folded)]
    found: dict[str, float] = {}
    taken: list[tuple[int, int]] = []
    # "beş yılda bir" holds "yılda bir".
    for match, way in sorted(matches, key=lambda one: one[0].start() - one[0].end()):
        months = _months(match, way, language)
        if months and all(match.end() <= start or end <= match.start() for start, end in taken):
            taken.append(match.span())
            found[match.group()] = months
    return found


def _months(match: re.Match[str], way: str | float, language: str) -> float:
    if isinstance(way, float):
        return way
    groups = match.groupdict()
    number = groups.get("n") or groups.get("joined") or groups.get("joined_month") or ""
    count = _ONCE if groups.get("once") else _TWICE if groups.get("twice") else _value(number, language)
    period = 1.0 if groups.get("joined_month") else 12.0
    for pattern, months in _table(language)["periods"].items():
        if groups.get("period") and re.fullmatch(pattern, groups["period"]):
            period = months
    if number and not count:
        return 0.0
    return period * (count or 1.0) if way == "every" else period / (count or 1.0)


def _value(number: str, language: str) -> float:
    if number in _table(language).get("ones", ()):
        return _ONCE
    return next((max(one.values) for one in quantities(number, language)), 0.0)


def _other_modal(asked: Collection[str], known: Collection[str], *, sure: bool) -> Iterator[ClaimChange]:
    if asked and known and not set(asked) & set(known):
        verbs = _MODALS[min(asked)], _MODALS[min(known)]
        yield ClaimChange("modal", 'it says "{}", and the passage "{}"'.format(*verbs), sure=sure)
    elif sure and "may" in asked and not known:
        yield ClaimChange("modal", 'it says "may", and the passage does not', sure=False)
    elif sure and set(known) == {"may"} and not asked:
        yield ClaimChange("modal", 'the passage says "may", and it does not', sure=False)


def _modals(text: str, language: str) -> set[str]:
    if language in PREDICATE_LAST:
        # An ending in the middle is an adjective's: "taşınabilir".
        text = " ".join(" ".join(part.split()[-2:]) for part in _boundary(language).split(text))
    return {kind for kind in _MODALS if _matches(kind, text, language)}


def _other_share(sentence: str, clause: _Clause, language: str) -> Iterator[ClaimChange]:
    """Yield what a sentence says of more or fewer than its passage, or of a least that is a most there."""
    for kinds in _SHARES:
        asked, known = ({kind for kind in kinds if _matches(kind, text, language)} for text in (sentence, clause.text))
        if asked and known and not asked & known:
            yield ClaimChange("quantity", f"it is about {_SAID[min(asked)]}, and the passage about {_SAID[min(known)]}")


def _left_out(sentence: str, clause: _Clause, language: str) -> Iterator[ClaimChange]:
    """Yield the exception of a clause that a sentence leaves out or turns round."""
    if not _matches("except", clause.sentence, language):
        return
    if _matches("including", sentence, language) and not _matches("including", clause.sentence, language):
        yield ClaimChange("exception", "the passage makes an exception, and it does not")
    elif not _matches("except", sentence, language) and not (
        _denies(sentence, language) and not claims.denies(clause.sentence, language)
    ):
        yield ClaimChange("exception", "an exception of the passage is left out", sure=False)


def _denies(text: str, language: str) -> bool:
    return claims.denies(text, language) or claims.limits(text, language)


def _other_roles(sentence: str, clause: _Clause, language: str) -> Iterator[ClaimChange]:
    """Yield a word that acts in a sentence and is acted on in the passage, or the other way round."""
    asked, known = _agencies(sentence, language), _agencies(clause.text, language)
    turned, acting, acted = [], [], []
    for word, mine in asked.items():
        theirs = known.get(word) or next((known[one] for one in known if _alike(word, one, language)), set())
        if mine and theirs and all({one, other} in _TURNED for one in mine for other in theirs):
            turned.append(word)
        if mine == {"acts"} and theirs == {"bare"}:
            acting.append(word)
        if theirs == {"acts"} and mine == {"bare"}:
            acted.append(word)
    passive = any(_matches("passive", text, language) for text in (sentence, clause.text))
    swapped = bool(acting and acted) and not passive
    if turned or swapped:
        named = (turned or acting)[0]
        yield ClaimChange("role", f'"{named}" has another part in the passage', sure=len(turned) > 1 or swapped)


def _agencies(text: str, language: str) -> dict[str, set[str]]:
    """Return what each word of a text does: it acts, it is given something, or something is taken from it."""
    roles = list(_roles(text, language))
    passive = any(role == "by" for _, role in roles)
    found: dict[str, set[str]] = {}
    for word, role in roles:
        acts = role == "by" or (role == "first" and not passive)
        found.setdefault(word, set()).update(["acts"] if acts else [role] if role in ("to", "from", "bare") else [])
    return found


def _roles(text: str, language: str) -> Iterator[tuple[str, WordRole]]:
    """Yield the folded words that carry meaning, each with its part in the clause."""
    table, stops = _table(language), stopwords(language)
    marker: WordRole = "first"
    written = _WORD_OR_COMMA.findall(text.casefold())
    for word, after in zip(written, [*written[1:], ""], strict=True):
        if word == ",":
            marker = "other" if language in PREDICATE_LAST else "first"
            continue
        plain = fold(word)
        role = next(
            (one for one in _MARKERS if re.fullmatch(table[one], plain if language in PREDICATE_LAST else word)),
            None,
        )
        if language in PREDICATE_LAST and role != "by":
            if word not in stops and not _is_unit(plain):
                behind = re.fullmatch(table["by"], fold(after))
                yield plain, "by" if behind else role or ("first" if marker == "first" else "other")
                marker = "other"
        elif role:
            marker = role
        elif plain in _articles(language):
            continue
        elif any(re.fullmatch(table[kind], plain) for kind in _MODALS):
            marker = "bare"
        elif word in stops:
            marker = "other"
        elif not _is_unit(plain) and not quantities(plain, language):
            yield plain, marker
            marker = "bare" if marker == "first" else marker


def _is_unit(word: str) -> bool:
    return _units().match(f" {word}") is not None


def _clauses(text: str, language: str) -> list[_Clause]:
    """Return the clauses of a text that name their subject, or stand for one by a pronoun."""
    found: list[_Clause] = []
    before: tuple[str, ...] = ()
    for sentence in filter(str.strip, _SENTENCE.split(text)):
        parts = [part for part in _boundary(language).split(sentence) if _content(part, language)]
        for part in parts:
            first = next(iter(_WORD.findall(fold(part))), "")
            subject = before if _leans(first, language) else ()
            found.append(_Clause(part, subject, sentence))
            before = subject or tuple(_content(part, language)[:_SUBJECT])
        if any(len(_content(part, language)) <= _ITEM or _matches("except", part, language) for part in parts[1:]):
            # A list, or a part that says when or except whom.
            found.append(_Clause(sentence, (), sentence))
    return found


@cache
def _boundary(language: str) -> re.Pattern[str]:
    """Return where a clause that names its subject begins: behind a comma or "and", with an article."""
    articles = "" if language in PREDICATE_LAST else rf"(?=\s*(?:{'|'.join(_articles(language))})\b)"
    joined = f"{claims.CONJUNCTIONS}|ed"
    return re.compile(rf"(?:[,:–—]\s+(?:(?:{joined})\b)?|(?<!\w)(?:{joined})(?!\w)){articles}", re.IGNORECASE)


def _leans(word: str, language: str) -> bool:
    return word in fold(read_table("asked_for")["leaning"].get(language, "")).split()


def _content(text: str, language: str) -> list[str]:
    """Return the folded words of a text that carry its meaning, each once; values are read by themselves."""
    left_out = _left_out_words(language)
    folded = fold(text)
    for pattern, _ in _frequencies(language):
        folded = pattern.sub(" ", folded)
    for quantity in quantities(folded, language):
        folded = folded.replace(quantity.text, " ")
    for kind in _VALUES:
        # In Turkish the ending of a verb says whether it must or may be.
        folded = folded if language in PREDICATE_LAST and kind in _MODALS else _pattern(kind, language).sub(" ", folded)
    words = (word for word in _WORD.findall(folded) if word not in left_out and len(word) > 1)
    return list(dict.fromkeys(words))


@cache
def _left_out_words(language: str) -> frozenset[str]:
    words = read_table("support_words")[language]
    limits = (word for phrase in words["limits"] for word in _WORD.findall(phrase))
    # "According to the text, ..."
    listed = " ".join((_table(language)["light"], words["about"])).split()
    return frozenset((*listed, *_articles(language), *map(fold, stopwords(language)), *limits))


def _nearness(clause: _Clause, said: Collection[str], language: str) -> tuple[int, int, int]:
    """Return how many words a clause holds, how many of them itself, and how short it is."""
    held = sum(_holds(clause, word, language) for word in said)
    return held, sum(_holds(replace(clause, subject=()), word, language) for word in said), -len(clause.text)


def _holds(clause: _Clause, word: str, language: str) -> bool:
    return any(_alike(word, one, language) for one in (*_WORD.findall(fold(clause.text)), *clause.subject))


def _alike(word: str, other: str, language: str) -> bool:
    """Return whether two folded words may be forms of one."""
    stems, forms = _stems(word, language), _irregular(language)
    if (
        word == other
        or (word in forms and forms[word] == forms.get(other))
        or stems & _stems(other, language)
        or any(len(one) > _SHORTEST + 1 and one in other for one in stems)
    ):
        return True
    common = 0
    for one, another in zip(word, other, strict=False):
        if one != another:
            break
        common += 1
    shortest, share = (_SHORTEST, _SAME_STEM) if language in PREDICATE_LAST else (_SHORTEST + 1, _SAME_BEGINNING)
    return common >= shortest and common >= share * max(len(word), len(other))


@cache
def _irregular(language: str) -> Mapping[str, str]:
    """Return the first form of each irregular form of a verb."""
    return {form: forms.split()[0] for forms in _table(language)["irregular"] for form in forms.split()}


@cache
def _stems(word: str, language: str) -> frozenset[str]:
    return frozenset(stems_of(word, language)[:1])


def _matches(kind: str, text: str, language: str) -> bool:
    return _pattern(kind, language).search(fold(text)) is not None


def _table(language: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = read_table("claim_values")[language]
    return table


@cache
def _articles(language: str) -> frozenset[str]:
    return frozenset(_table(language)["articles"].split())


@cache
def _pattern(kind: str, language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_table(language)[kind]})(?!\w)")


@cache
def _frequencies(language: str) -> list[tuple[re.Pattern[str], str | float]]:
    """Return the patterns of how often, with the way to read each."""
    table = _table(language)
    period = f"(?P<period>{'|'.join(table['periods'])})"
    forms: list[tuple[str, str | float]] = [(form, "times") for form in table["times"]]
    forms += [(form, "every") for form in table["every"]]
    forms += [(form, float(months)) for form, months in table["adverbs"].items()]
    return [
        (re.compile(rf"(?<!\w)(?:{form.replace('{n}', _NUMBER).replace('{period}', period)})(?!\w)"), way)
        for form, way in forms
    ]


@cache
def _unit_names() -> tuple[str, ...]:
    return tuple(read_table("claim_values")["units"])


@cache
def _units() -> re.Pattern[str]:
    forms = enumerate(read_table("claim_values")["units"].values())
    listed = "|".join(rf"(?P<u{n}>(?:{form})(?!\w))" for n, form in forms)
    return re.compile(rf"[\s-]*{_SCALE}(?:{listed})")
