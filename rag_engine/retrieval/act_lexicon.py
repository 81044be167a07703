"""Words of acts' names by meaning, so that a name is the same in every language (data/act_names.toml)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rag_engine.chunking.section.rules import section_words
from rag_engine.geography import load_gazetteer, place_mentions
from rag_engine.text.folding import fold
from rag_engine.text.languages import READ_LANGUAGES
from rag_engine.text.stop_words import stopwords
from rag_engine.text.tables import read_table

_WORD = re.compile(r"\w+(?:[./]\w+)*")
# Plurals and genitives; Turkish endings, with or without an apostrophe.
_ENDING = re.compile(r"(?:e?[sn]|e[rm]?)?|(?:l[ae]r)?(?:s?[iu])?(?:y?[iu]|n?[iu]n|[ny]?[ae]|n?[dt][ae]n?)?")
_SHORTEST_ENDED = 4
_SHORTEST_HALF = 3
_JOINTS = ("", "s", "n", "es")
# A mark after which a name cannot go on.
_BREAK = re.compile(r"[.?!;:\n]\s|[.?!;:]$|[\"“”„»«]")


@dataclass(frozen=True, slots=True)
class NameWord:
    """A word of a name with its possible meanings.

    `word` is written as in the text, folded; `place` says whether it is a country or region. It has the characters
    [start, end) of the text. `joined` says that only a hyphen or blank separates it from the word before; `capital`
    that it has a capital letter.
    """

    meanings: frozenset[str]
    word: str
    start: int
    end: int
    joined: bool
    capital: bool
    kind: bool = False
    place: bool = False

    def means(self, other: NameWord) -> bool:
        """Return whether two words mean the same, or are the same but for their endings."""
        if self.meanings or other.meanings:
            return not self.meanings.isdisjoint(other.meanings)
        short, long = sorted((self.word, other.word), key=len)
        if short == long:
            return True
        return len(short) >= _SHORTEST_ENDED and long.startswith(short) and bool(_ENDING.fullmatch(long[len(short) :]))


@dataclass(frozen=True, slots=True, eq=False)
class ActLexicon:
    """Folded words, singly or in sequence, with their meanings.

    `kinds` are meanings of whole acts, `names` of cities. `wider` says what else an act of some meaning is called;
    `known` are names and abbreviations of well-known acts.
    """

    phrases: Mapping[tuple[str, ...], frozenset[str]]
    longest: int
    kinds: frozenset[str]
    names: frozenset[str]
    wider: Mapping[str, str]
    ignored: frozenset[str]
    known: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


@cache
def load_lexicon() -> ActLexicon:
    """Return the lexicon of the committed table."""
    table = read_table("act_names")
    # "Lei" is a law in one language and a pronoun in another.
    kinds = {fold(word) for written in table["kinds"].values() for word in written}
    dropped = frozenset(word for language in READ_LANGUAGES for word in stopwords(language)) - kinds
    phrases: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for part in ("kinds", "names", "subjects"):
        for meaning, written in table[part].items():
            for one in written:
                phrases[tuple(word for word in fold(one).split() if word not in dropped)].add(meaning)
    return ActLexicon(
        phrases={words: frozenset(meanings) for words, meanings in phrases.items()},
        longest=max(map(len, phrases)),
        kinds=frozenset(table["kinds"]),
        names=frozenset(table["names"]),
        wider=table["wider"],
        ignored=dropped | frozenset(map(fold, table["ignored"])),
        known=tuple(((one["name"], *one.get("also", ())), tuple(one.get("short", ()))) for one in table["known"]),
    )


def name_words(text: str) -> list[list[NameWord]]:
    """Return the words with a meaning in names, in runs that may hold a name.

    Marks of sentences, numbers and the nouns of sections part the runs ("Article 7 of X" leaves X).
    """
    lexicon = load_lexicon()
    places = [(start, end, form) for form, start, end in place_mentions(text, load_gazetteer())]
    runs: list[list[NameWord]] = [[]]
    matches = list(_WORD.finditer(text))
    position, previous = 0, 0
    while position < len(matches):
        match = matches[position]
        if _BREAK.search(text[previous : match.start()]):
            runs.append([])
        joined = previous > 0 and not text[previous : match.start()].strip(" -‑'’")
        joined = joined and bool(runs[-1]) and runs[-1][-1].end == previous
        place = next((place for place in places if place[0] == match.start()), None)
        if place:
            meanings = frozenset((*place[2].countries, *place[2].regions))
            # What is European in one language is of the Union in another.
            meanings |= {"Europe"} if "European Union" in meanings else frozenset()
            size = sum(1 for one in matches[position:] if one.start() < place[1])
            word = text[place[0] : place[1]]
            found: list[NameWord] | None = [
                NameWord(meanings, fold(word), place[0], place[1], joined, True, place=True)
            ]
        else:
            size, found = _read(matches[position : position + lexicon.longest + 2], joined)
        if found is None:
            runs.append([])
        else:
            runs[-1] += found
        position += size
        previous = matches[position - 1].end()
    return [run for run in runs if run]


def _read(matches: Sequence[re.Match[str]], joined: bool) -> tuple[int, list[NameWord] | None]:
    """Return the next word of a name, and how many words of the text it takes.

    The list is empty for a function word, and None where the run ends.
    """
    lexicon = load_lexicon()
    written = matches[0].group()
    folded = fold(written)
    start, end, capital = matches[0].start(), matches[0].end(), written[:1].isupper()
    told = [(place, fold(match.group())) for place, match in enumerate(matches)]
    content = [(place, word) for place, word in told if word not in lexicon.ignored]
    for size in range(min(lexicon.longest, len(content)), 1, -1):
        if content[0][0] != 0:
            break
        meanings = _phrase(tuple(word for _, word in content[:size]))
        if meanings:
            last = content[size - 1][0]
            kind = not meanings.isdisjoint(lexicon.kinds)
            return last + 1, [NameWord(meanings, folded, start, matches[last].end(), joined, capital, kind)]
    if folded in lexicon.ignored or len(folded) == 1:
        return 1, []
    if any(character.isdecimal() for character in folded) or folded.rstrip(".") in section_words().kinds:
        meanings = _phrase((folded,))
        return (1, None) if not meanings else (1, [NameWord(meanings, folded, start, end, joined, capital, kind=True)])
    parts = compound(folded)
    return 1, [
        NameWord(
            meanings,
            word,
            start,
            end,
            joined or place > 0,
            capital,
            kind=not meanings.isdisjoint(lexicon.kinds),
        )
        for place, (word, meanings) in enumerate(parts)
    ]


@lru_cache(maxsize=10_000)
def _phrase(words: tuple[str, ...]) -> frozenset[str]:
    """Return the meanings of a sequence of folded words, without their endings, or an empty set."""
    lexicon = load_lexicon()
    found = lexicon.phrases.get(words)
    if found:
        return found
    last = words[-1]
    for length in range(len(last) - 1, _SHORTEST_ENDED - 1, -1):
        stem = (*words[:-1], last[:length])
        if _ENDING.fullmatch(last[length:]) and stem in lexicon.phrases:
            return lexicon.phrases[stem]
    return frozenset()


@lru_cache(maxsize=10_000)
def compound(word: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return a word with its meanings, or the halves of a compound if both are known.

    For example "klimagesetz" gives "klima" and "gesetz".
    """
    meanings = _phrase((word,))
    if meanings:
        return ((word, meanings),)
    for cut in range(len(word) - _SHORTEST_HALF, _SHORTEST_HALF - 1, -1):
        head = _phrase((word[cut:],))
        joints = (word[:cut].removesuffix(joint) for joint in _JOINTS if word[:cut].endswith(joint))
        for first in joints if head else ():
            before = compound(first) if len(first) >= _SHORTEST_HALF else ()
            if before and all(each for _, each in before):
                return (*before, (word[cut:], head))
    return ((word, frozenset()),)
