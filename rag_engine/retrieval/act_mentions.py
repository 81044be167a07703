"""Acts of the collection that a question names, in any language.

An act is named by title, short title, abbreviation or number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from rag_engine.retrieval.act_lexicon import NameWord, compound, load_lexicon, name_words
from rag_engine.storage.section_index import Act
from rag_engine.text.folding import fold, fold_case

# What has a number behind it is that act and no other of its kind.
_NUMBERED_ACT = re.compile(r"\)?\s*,?\s*(?:n[ro]?\s?[.º°]?\s*)?\d", re.IGNORECASE)
_SHOUTED = 3
_WIDEST = 9
# Named alone, these mean the only one of the collection.
ALONE = frozenset({"constitution", "basic law"})

_BRACKETED = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
# Brackets with a number behind them, as in (EU) 2021/1119, belong to the number.
_CALLED = re.compile(r"[(\[]([^()\[\]]*)[)\]](?!\s*(?:n[ro]?[.º°]?\s*)?\d)", re.IGNORECASE)
_QUOTED = re.compile('[‘“„"«]\\s*([^‘’“”„"«»]{4,80}?)\\s*[’”“"»]')
# At the end of a line of the title: (‘European Climate Law’).
_ALSO_CALLED = re.compile('[(][‘“„"«]\\s*([^‘’“”„"«»()]{4,80}?)\\s*[’”“"»][)]\\s*$')
_SEPARATOR = re.compile(r"\s+[-–—]\s+|[,;]\s*")
_NUMBERED = re.compile(r"\S*\d\S*(?:\s+sayılı\b)?", re.IGNORECASE)
# The rest of the name says how the act changes others.
_TAIL = re.compile(
    r",?\s(?:to the|amending|establishing|repealing|laying down|implementing|supplementing|che modifica|modifiant|"
    r"por el que|por la que|que altera|zur Änderung|zur Durchführung)\b.*",
    re.IGNORECASE | re.DOTALL,
)
NUMBER = re.compile(
    r"(?<![\w/.])\d{1,3}(?:[.,]\d{3})+(?:/\d+)?|(?<![\w/.])\d+/\d+(?![\w/])|(?<![\w/.])\d+(?![\w/]|\.\d)"
)
# A bare number is an act's behind one of these words or in front of "sayılı".
NUMBER_WORD = re.compile(
    r"(?:\bn[ro]?\s?[.º°]?|№|\bnumber|\bnummer|\bnum[ée]ro|\bnumara\w*[\s|:]*+|\bsayılı|:)\s*$", re.IGNORECASE
)
NUMBER_AFTER = re.compile(r"\s+(?:sayılı|numaralı)\b", re.IGNORECASE)
_YEAR = re.compile(r"1[6-9]\d\d|20\d\d")
# The Code of Criminal Procedure is also cited as the Criminal Procedure Code.
_CODE_OF = re.compile(r"(?:the\s+)?(\w+)\s+of\s+(?:the\s+)?(.+)", re.IGNORECASE)
SHORT = re.compile(r"(?<!\w)[^\W\d_](?:[^\W\d_]|[.-](?=[^\W\d_])){1,6}\.?(?!\w)")
# What German writes together and abbreviates apart: Strafgesetzbuch is StGB.
_COMPOUND = re.compile(r"(?<=[a-zäöüß]{4})s?-?(gesetz|buch|ordnung|verordnung)", re.IGNORECASE)
_LONG_WORD = 12
# A title with so large a share of capitals is printed in them.
_CAPITALS = 0.3
# Two initials may be anything.
_SHORTEST_INITIALS = 2


@dataclass(frozen=True, slots=True)
class ActMention:
    """Characters [start, end) of a question that name acts of the collection."""

    start: int
    end: int
    acts: tuple[Act, ...]


def find_acts(question: str, acts: Sequence[Act], sections: Sequence[tuple[int, int]] = ()) -> list[ActMention]:
    """Return the places where the question names acts of the collection, in its order.

    Of names that overlap the longest counts. `sections` are the places where the question names sections; directly next
    to one an abbreviation may be in small letters. A name is understood in any of the languages, word by word
    (rag_engine/retrieval/act_lexicon.py). A phrase that is only a part of an act's names counts under two conditions: a
    single act has all its words, and no neighbouring word contradicts it.
    """
    question = unicodedata.normalize("NFC", question)
    named = [(act, _names_of((act.name, *act.titles), act.countries, act.opening)) for act in acts]
    found = [*_by_number(question, named), *_by_abbreviation(question, named, sections), *_by_name(question, named)]
    mentions: list[ActMention] = []
    for mention in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if all(mention.end <= other.start or other.end <= mention.start for other in mentions):
            mentions.append(mention)
    return sorted(mentions, key=lambda one: one.start)


def names_any_act(question: str) -> bool:
    """Return whether a question names an act, of this or another collection.

    The kind of an act or an abbreviation is enough.
    """
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
    """Return whether a question has a word that tells the act from others of its kind."""
    return any(
        not word.meanings.isdisjoint(meanings) if word.meanings else any(word.means(other) for other in unknown)
        for word in (*names.described, *(word for phrase in names.phrases for word in phrase))
        if not word.kind or not word.meanings.isdisjoint(ALONE)
    )


def _described(run: Sequence[NameWord], start: int, end: int, named: Sequence[tuple[Act, ActNames]]) -> list[Act]:
    """Return the one act that a part of its names describes.

    If several acts fit or a neighbouring word contradicts, the list is empty.
    """
    window = run[start:end]
    kinds = frozenset(meaning for word in window if word.kind for meaning in word.meanings)
    constitution = not kinds.isdisjoint(ALONE)
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
        # "Erwähnt das Grundgesetz Hubschrauber?": German nouns have capitals.
        noun = word is after and "basic law" in kinds
        if word is not None and (
            word.place
            or (joined and word.capital and not noun)
            or (word.meanings and not word.kind and not constitution)
        ):
            return []
    if len(fitting) > 1:
        said = {word.word for word in window}
        fitting = [(act, names) for act, names in fitting if said <= {word.word for word in names.described}]
    return [act for act, _ in fitting] if len(fitting) == 1 else []


@dataclass(frozen=True, slots=True, eq=False)
class ActNames:
    """Ways of naming an act: phrases of words, capitals of abbreviations, its number.

    `phrases` name it alone. `initials` are not printed anywhere and count only next to a section. `described` holds all
    words of its names and countries, of which a question may use some.
    """

    phrases: tuple[tuple[NameWord, ...], ...]
    described: tuple[NameWord, ...]
    kinds: frozenset[str]
    abbreviations: frozenset[str]
    initials: frozenset[str]
    numbers: frozenset[str]


@lru_cache(maxsize=10_000)
def _names_of(titles: tuple[str, ...], countries: tuple[str, ...], opening: str) -> ActNames:
    """Return the ways of naming an act; worked out once for each name, title and opening."""
    given = dict.fromkeys(titles)
    called = [part for one in given for part in _called(one)] + list(_called_in(opening))
    written = list(dict.fromkeys(filter(None, [*map(_plain, given), *called])))
    initials = frozenset(short for one in written for short in _initials(one))
    shorts = {short for one in (*written, *given) for short in abbreviations(one)} | set(_printed_alone(opening))
    shorts |= {short for short in initials if len(short) > _SHORTEST_INITIALS}
    phrases = [words for one in written if _is_telling(words := _words(one))]
    for known, short_forms in _known():
        if any(same(words, one) for words in phrases for one in known):
            phrases += known
            shorts |= short_forms
    named = [_words(one) for one in (*written, *countries)]
    heads = [next((_widened(word) for word in words if word.kind), None) for words in named]
    numbers = next((numbers for one in given if (numbers := _own_number(one))), None) or _number_in(opening)
    return ActNames(
        phrases=tuple(dict.fromkeys(map(tuple, phrases))),
        described=tuple(_widened(word) for words in named for word in words),
        kinds=frozenset(meaning for word in heads if word for meaning in word.meanings),
        abbreviations=frozenset(shorts),
        initials=initials,
        numbers=numbers,
    )


@cache
def _known() -> tuple[tuple[list[tuple[NameWord, ...]], frozenset[str]], ...]:
    """Return the names of well-known acts and their abbreviations."""
    return tuple(
        ([_words(name) for name in names], frozenset(fold(short.replace(".", "")).upper() for short in shorts))
        for names, shorts in load_lexicon().known
    )


def _widened(word: NameWord) -> NameWord:
    """Return a word of an act's own name with its other descriptions."""
    wider = load_lexicon().wider
    return replace(word, meanings=word.meanings | {wider[meaning] for meaning in word.meanings if meaning in wider})


def _plain(name: str) -> str:
    """Return a name without its number, its date, brackets, and its effect on other acts."""
    plain = " ".join(_TAIL.sub("", _BRACKETED.sub(" ", name)).split())
    # Capitals throughout say nothing.
    plain = fold_case(plain) if plain.isupper() and " " in plain else plain
    return next((part for piece in _NUMBERED.split(plain) if (part := piece.strip(" ,.–-"))), plain)


def _called(name: str) -> Iterator[str]:
    """Yield the names of an act in its title: in brackets or quotation marks, and turned."""
    for pattern in (_CALLED, _QUOTED):
        for found in pattern.findall(name):
            yield from (part.strip("‘’“”„\"'") for part in _SEPARATOR.split(found))
    code = _CODE_OF.fullmatch(_plain(name))
    if code:
        yield f"{code.group(2)} {code.group(1)}"


def _called_in(opening: str) -> Iterator[str]:
    """Yield the names, and their abbreviations in parentheses, from the text before the first section."""
    for line in opening.splitlines():
        if (also := _ALSO_CALLED.search(line)) and any(word.kind for word in _words(also[1])):
            yield also[1]
        for match in re.finditer(r"([^()\n.;:]{6,150}?)\s*\(([^()\s]{2,8})\)", line):
            name, short = match.group(1).strip(), capitals(match.group(2))
            initials = "".join(word[0] for word in re.findall(r"[^\W\d_]+", name) if word[0].isupper()).upper()
            if len(short) > 1 and initials.startswith(short) and any(word.kind for word in _words(name)):
                yield name
                yield match.group(2)


def _printed_alone(opening: str) -> Iterator[str]:
    """Yield abbreviations that stand alone on a line before the first section."""
    for line in opening.splitlines():
        if SHORT.fullmatch(line.strip()) and len(capitals(line)) > 1:
            yield capitals(line)


def _words(name: str) -> tuple[NameWord, ...]:
    """Return the words of a name, without those of its parent act."""
    words = [word for run in name_words(name) for word in run]
    kinds = [place for place, word in enumerate(words) if word.kind]
    others = [place for place in kinds[1:] if words[place].meanings.isdisjoint(words[kinds[0]].meanings)]
    if others:
        end = kinds[0] + 1
        words = words[: end if end > 1 else min(end + 1, others[0])]
    return tuple(words)


def _is_telling(words: Sequence[NameWord]) -> bool:
    """Return whether these words name one act: several words, a long one, or one of a single act."""
    if len(words) == 1:
        return "basic law" in words[0].meanings or (len(words[0].word) >= _LONG_WORD and not words[0].kind)
    return len(words) > 1


def _initials(name: str) -> Iterator[str]:
    """Yield the initials of a name's words, and of the parts of compounds.

    StGB stands for Strafgesetzbuch.
    """
    ignored = load_lexicon().ignored
    split = _COMPOUND.sub(r" \1", name)
    words = [word for word in map(fold, re.findall(r"[^\W\d_]+", split)) if word not in ignored]
    parts = [[part for part, _ in compound(word)] for word in words]
    for some in (words, [part for each in parts for part in each], parts[0] if parts else []):
        if len(some) > 1:
            yield "".join(word[0] for word in some).upper()


def abbreviations(text: str) -> Iterator[str]:
    """Yield the capitals of the words that have two or more (StGB gives SGB).

    A text printed in capitals gives none.

    >>> list(abbreviations("Damages under the StGB"))
    ['SGB']
    """
    shouted = sum(map(str.isupper, text)) > _CAPITALS * sum(map(str.isalpha, text))
    for match in () if shouted and " " in text else SHORT.finditer(text):
        if len(capitals(match.group())) > 1:
            yield capitals(match.group())


def capitals(word: str) -> str:
    """Return the capitals of an abbreviation, without accents."""
    return fold("".join(filter(str.isupper, word))).upper()


def _own_number(name: str) -> frozenset[str]:
    """Return the number of an act in its written forms; later numbers in a name are other acts'."""
    for match in NUMBER.finditer(name):
        numbered = not match.group().isdecimal() or NUMBER_WORD.search(name[: match.start()])
        if (numbered or NUMBER_AFTER.match(name, match.end())) and not _YEAR.fullmatch(match.group()):
            return forms(match.group())
    return frozenset()


def _number_in(opening: str) -> frozenset[str]:
    """Return the number that the lines in front of the first section give the act: "Kanun Numarası : 634"."""
    for match in NUMBER.finditer(opening):
        named = NUMBER_WORD.search(opening[: match.start()])
        if named and behind_kind(opening[: named.start()]):
            return forms(match.group())
    return frozenset()


def forms(number: str) -> frozenset[str]:
    """Return a number without the points of thousands, and with and without its year: 13709, 2021/1119."""
    plain = number.replace(".", "").replace(",", "")
    first, slash, second = plain.partition("/")
    turned = slash and _YEAR.fullmatch(second) and not _YEAR.fullmatch(first)
    return frozenset((plain, first, f"{second}/{first}") if turned else (plain,))


def same(window: Sequence[NameWord], phrase: Sequence[NameWord]) -> bool:
    """Return whether two sequences hold the same words, in any order."""
    if len(window) != len(phrase):
        return False
    left = list(phrase)
    for word in window:
        match = next((one for one in left if word.means(one)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def behind_kind(before: str) -> bool:
    """Return whether a text ends with a word for a kind of act: "Law 634"."""
    runs = name_words(before[-60:])
    return bool(runs) and runs[-1][-1].kind and not before[-60:][runs[-1][-1].end :].strip()
