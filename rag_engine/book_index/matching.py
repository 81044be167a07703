"""Matching of questions with the entries of the collection's book indexes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from rag_engine.text.analyzer import analyse, surface
from rag_engine.text.file_kinds import pages_text
from rag_engine.text.sentences import Span
from rag_engine.types.document import DocumentRecord
from rag_engine.types.passage import IndexListing

# A word may be broken at a line's end, or hold soft hyphens.
_WORD = re.compile(r"[^\W_]+(?:(?:\u00ad|-\n)[^\W\d_]+)*")
_BREAK = re.compile("\u00ad|-\n")
_SYMBOL = re.compile(r"[^\w\s,;.:()'’\"“”«»/&-]")
_LETTER = re.compile(r"[^\W\d_]")
# Words of a phrase that are apart belong together only where the phrase says enough.
_WIDEST = 12
_LONGEST_PHRASE = 8
# A reference may lead to an entry that is one itself.
_FARTHEST_REFERENCE = 3
# A word of another language must be at least so long to be taken for a name that both share.
_SHORTEST_SHARED = 4

TermKey = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyedWord:
    """A word that says something, with its key and its place in the text."""

    key: str
    start: int
    end: int


def words_of(text: str, language: str, start: int = 0, end: int | None = None) -> list[KeyedWord]:
    """Return the words of text[start:end] in order, without stop words.

    Their offsets count in the whole text.

    >>> [word.key for word in words_of("The sea walls", "en")]
    ['sea', 'wall']
    """
    matches = list(_WORD.finditer(text, start, len(text) if end is None else end))
    written = [_BREAK.sub("", match[0]) for match in matches]
    shouted = [len(word) > 1 and word.isupper() for word in written]
    found = []
    for at, (match, word) in enumerate(zip(matches, written, strict=True)):
        # A word in capitals is an acronym and no stop word, but not where its neighbours are in capitals too.
        in_capitals = shouted[at] and any(shouted[max(0, at - 1) : at] + shouted[at + 1 : at + 2])
        key = word_key(word.lower() if in_capitals else word, language)
        if key:
            found.append(KeyedWord(key, match.start(), match.end()))
    return found


@lru_cache(maxsize=100_000)
def word_key(word: str, language: str) -> str:
    """Return the stem that the forms of a word share, or "" for a stop word."""
    terms = analyse(word, language)
    return terms[0] if terms else ""


def phrases_of(term: str, subterm: str) -> list[str]:
    """Return the forms in which a text may name an entry, the most telling first.

    "climate, change of" is also "change of climate", and a sub-entry is sought with its head, then alone, then the
    head alone.

    >>> phrases_of("rivers", "floods of")[0]
    'floods of rivers'
    """
    forms = []
    if subterm:
        forms += [f"{subterm} {term}", f"{term} {subterm}", *turned(subterm)]
    forms += turned(term)
    return list(dict.fromkeys(forms))


def turned(term: str) -> list[str]:
    """Return a term as it reads, before that the form in which its words were turned for the alphabet.

    >>> turned("damage, loss and")
    ['loss and damage', 'damage, loss and']
    """
    head, comma, rest = term.partition(", ")
    if not comma or not head.strip() or not rest.strip():
        return [term]
    return [f"{rest} {head}", term]


def is_symbolic(term: str) -> bool:
    r"""Return whether a term is a sign or a command, which is sought letter by letter: "§", "\label", "%".

    >>> is_symbolic("%")
    True
    """
    return bool(_SYMBOL.search(term)) or not _LETTER.search(term)


def says_enough(keys: Sequence[str]) -> bool:
    """Return whether a phrase of these words can be searched for.

    At least one word must have two characters and a letter.
    """
    return any(len(key) > 1 and _LETTER.search(key) for key in keys)


def find_literal(text: str, term: str, start: int, end: int) -> Span | None:
    """Return the first place in text[start:end] that has exactly the characters of a term.

    A place that ends inside a word does not count.
    """
    sought = term.strip()
    place = text.find(sought, start, end) if sought else -1
    while place >= 0:
        beyond = place + len(sought)
        if not (sought[-1].isalnum() and text[beyond : beyond + 1].isalnum()):
            return place, beyond
        place = text.find(sought, beyond, end)
    return None


def find_phrase(words: Sequence[KeyedWord], sought: Sequence[str]) -> Span | None:
    """Return the first place where the words follow each other; stop words between them do not count."""
    length = len(sought)
    for at in range(len(words) - length + 1):
        if words[at].key == sought[0] and all(words[at + i].key == sought[i] for i in range(1, length)):
            return words[at].start, words[at + length - 1].end
    return None


def find_together(words: Sequence[KeyedWord], sought: Sequence[str]) -> Span | None:
    """Return the first stretch of a sentence that holds all the words in any order.

    The stretch is at most a dozen words long.
    """
    wanted = set(sought)
    last: dict[str, int] = {}
    for at, word in enumerate(words):
        if word.key in wanted:
            last[word.key] = at
            first = min(last.values())
            if len(last) == len(wanted) and at - first < _WIDEST:
                return words[first].start, word.end
    return None


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """One passage that an index lists: its entry, its place, and the language of the index.

    `start` and `end` are the sentences that it leads to, as offsets in the document's text. `see` are the entries that
    this one refers to; an entry that only refers has no child (empty) and page 0. A `glossary` explains its entries.
    """

    term: str
    subterm: str
    language: str
    document_id: str = ""
    child_id: str = ""
    page: int = 0
    see: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    glossary: bool = False


@dataclass(frozen=True, slots=True)
class MatchedEntry:
    """An entry that a question names, with the passages that it lists.

    `via` is the entry that refers to it, or "".
    """

    term: str
    subterm: str
    via: str
    passages: tuple[IndexedPassage, ...]

    @property
    def children(self) -> tuple[str, ...]:
        """Ids of the children that it leads to, each once."""
        return tuple(dict.fromkeys(passage.child_id for passage in self.passages if passage.child_id))

    @property
    def pages(self) -> tuple[tuple[str, int], ...]:
        """Its pages as (document id, page), each once."""
        return tuple(dict.fromkeys((passage.document_id, passage.page) for passage in self.passages))

    def listing(self, page: int) -> IndexListing:
        """Return the index's reference for one of its pages, or the glossary's if no index lists it."""
        glossary = all(passage.glossary for passage in self.passages if passage.page == page)
        return IndexListing(entry_name(self.term, self.subterm), page, self.via, glossary)


def explained(listings: Iterable[IndexListing], document: DocumentRecord) -> tuple[str, ...]:
    """Return in words what an index lists in a document, each once."""
    pages = ((one, pages_text(document.file, document.named_page(one.page))) for one in listings)
    return tuple(dict.fromkeys(one.explain(page) for one, page in pages))


@dataclass(frozen=True, slots=True)
class _Entry:
    """All that the indexes list under one entry."""

    term: str
    subterm: str
    head: TermKey
    sub: TermKey
    passages: tuple[IndexedPassage, ...]
    see: tuple[str, ...]


class IndexTerms:
    """The entries of all indexes by the words that name them; built once, asked for every question."""

    def __init__(self, listed: Iterable[IndexedPassage]) -> None:
        by_language: defaultdict[str, list[IndexedPassage]] = defaultdict(list)
        for passage in listed:
            by_language[passage.language].append(passage)
        self._of_language = {language: _Entries(ones, language) for language, ones in by_language.items()}

    def match(self, question: str, language: str) -> list[MatchedEntry]:
        """Return the entries that the question names, the longest names first, each once.

        In an index of the question's language (ISO 639-1) forms of a word are the same. In an index of another language
        only words that match letter by letter count. A name inside a longer one does not count. Entries that a named
        one refers to come behind it.
        """
        return [
            matched
            for index_language, entries in self._of_language.items()
            for matched in entries.match(question, language == index_language, language)
        ]


class _Entries:
    """The entries of the indexes of one language."""

    def __init__(self, listed: Sequence[IndexedPassage], language: str) -> None:
        self._language = language
        self._by_head: defaultdict[TermKey, list[_Entry]] = defaultdict(list)
        self._by_sign: defaultdict[str, list[_Entry]] = defaultdict(list)
        self._by_surface: defaultdict[TermKey, list[_Entry]] = defaultdict(list)
        ordered = sorted(listed, key=lambda passage: (passage.term, passage.subterm))
        for (term, subterm), group in groupby(ordered, key=lambda passage: (passage.term, passage.subterm)):
            self._add(term, subterm, list(group))
        keys = [*self._by_head, *self._by_surface]
        self._longest = min(_LONGEST_PHRASE, max(map(len, keys), default=0))

    def _add(self, term: str, subterm: str, group: Sequence[IndexedPassage]) -> None:
        forms = [_key(form, self._language) for form in turned(term)]
        entry = _Entry(
            term,
            subterm,
            forms[0],
            _key(subterm, self._language),
            tuple(passage for passage in group if passage.page),
            tuple(dict.fromkeys(name for passage in group for name in passage.see)),
        )
        if is_symbolic(term) and len(term.split()) == 1:
            # Questions write a command or sign as the index does; they do not ask for a bare sign.
            if says_enough([term]):
                self._by_sign[term].append(entry)
            return
        for key in dict.fromkeys(form for form in forms if says_enough(form)):
            self._by_head[key].append(entry)
        for words in dict.fromkeys(tuple(surface(form)) for form in turned(term)):
            if says_enough(words) and (len(words) > 1 or len(words[0]) >= _SHORTEST_SHARED):
                self._by_surface[words].append(entry)

    def match(self, question: str, same_language: bool, language: str) -> Iterator[MatchedEntry]:
        """Yield as `IndexTerms.match`, of this language's entries."""
        if same_language:
            words = [word.key for word in words_of(question, self._language)]
            heads = _longest_first(words, self._by_head, self._longest)
        else:
            words = [word for word in surface(question) if analyse(word, language)]
            heads = _longest_first(words, self._by_surface, self._longest)
        signs = [self._by_sign[sign] for sign in _written(question) if sign in self._by_sign]
        named = [_named(entries, set(words), question) for entries in [*signs, *heads]]
        inside = {word for entries in named for entry in entries if _is_sub_named(entry, words) for word in entry.sub}
        seen: set[tuple[str, str]] = set()
        for entries in named:
            for entry in entries:
                # A word that tells which sub-entry is meant is no question about that word.
                if not (inside.issuperset(entry.head) and entry.head and not _is_sub_named(entry, words)):
                    yield from self._followed(entry, seen)

    def _followed(self, entry: _Entry, seen: set[tuple[str, str]]) -> Iterator[MatchedEntry]:
        """Yield the entry and the entries that it refers to, each once, over a few references.

        Entries in `seen` are left out.
        """
        waiting: list[tuple[_Entry, str, int]] = [(entry, "", 0)]
        while waiting:
            at, via, far = waiting.pop(0)
            if (at.term, at.subterm) in seen:
                continue
            seen.add((at.term, at.subterm))
            if at.passages:
                yield MatchedEntry(at.term, at.subterm, via, at.passages)
            # "See also" leads one step on; a chain is followed only through entries that have nothing themselves.
            if far == 0 or (far < _FARTHEST_REFERENCE and not at.passages):
                waiting += [
                    (target, entry_name(at.term, at.subterm), far + 1)
                    for name in at.see
                    for target in self._referred(name)
                ]

    def _referred(self, name: str) -> list[_Entry]:
        """Return the entries that a reference names: the head, or its sub-entry where the reference goes on."""
        whole = [entry for entry in self._by_head.get(_key(name, self._language), []) if not entry.subterm]
        if whole:
            return whole
        head, _, rest = name.replace(":", ",").partition(",")
        under = self._by_head.get(_key(head, self._language), [])
        sub = _key(rest, self._language)
        return [entry for entry in under if sub and entry.sub == sub] or ([] if rest else under)


def _named(entries: Sequence[_Entry], words: set[str], question: str) -> list[_Entry]:
    """Return the head and the entries under it whose words are in the question.

    If there is no such entry and the head has neither page nor reference, return all entries under the head. A sign or
    command must be written as the index does.
    """
    present = [entry for entry in entries if not is_symbolic(entry.term) or entry.term in question]
    subs = [entry for entry in present if entry.subterm and entry.sub and words.issuperset(entry.sub)]
    heads = [entry for entry in present if not entry.subterm]
    return [*subs, *heads] if subs or any(entry.passages or entry.see for entry in heads) else present


def _written(question: str) -> list[str]:
    """Return the words of a question as they are written, with and without the sign behind them."""
    words = [word.strip("\"'“”«»()?!,;:") for word in question.split()]
    return list(dict.fromkeys(form for word in words for form in (word, word.rstrip(".")) if form))


def _is_sub_named(entry: _Entry, words: Sequence[str]) -> bool:
    return bool(entry.sub) and set(words).issuperset(entry.sub)


def _longest_first(words: Sequence[str], known: Mapping[TermKey, list[_Entry]], longest: int) -> Iterator[list[_Entry]]:
    """Yield the entries of every run of words that is known and does not lie in a longer one."""
    taken = [False] * len(words)
    for length in range(min(longest, len(words)), 0, -1):
        for at in range(len(words) - length + 1):
            if all(taken[at : at + length]):
                continue
            found = known.get(tuple(words[at : at + length]))
            if found is not None:
                taken[at : at + length] = [True] * length
                yield found


def _key(text: str, language: str) -> TermKey:
    return tuple(word.key for word in words_of(text, language))


def entry_name(term: str, subterm: str) -> str:
    """Return an entry as a reader looks it up: "loss and damage, finance for".

    >>> entry_name("loss and damage", "finance for")
    'loss and damage, finance for'
    """
    return f"{term}, {subterm}" if subterm else term
