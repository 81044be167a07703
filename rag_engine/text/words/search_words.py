"""Reading what is typed into a search: words, phrases, beginnings of words, operators and negations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Generic, TypeAlias, TypeVar

from rag_engine.text.folding import fold
from rag_engine.text.stop_words import stopwords
from rag_engine.text.tables import read_table
from rag_engine.text.words.grouped_numbers import GROUPED

# Each opening quotation mark with the marks that close it. One at a letter or a digit is an apostrophe or inches.
_CLOSING = {'"': '"', "“": '”“"', "„": '“”"', "«": "»", "»": "«", "'": "'’", "‘": "’'"}
_SINGLE = "'‘"
_PIECE = re.compile(
    rf"(?P<blank>\s+)|(?P<open>[-−–+]?\()|(?P<close>\))|(?P<number>{GROUPED.pattern})|(?P<mark>[,;:.?!…]+(?=\s|$))"
    r"|(?P<word>(?:§+\s*(?=\d))?[^\s()\"“”„«»‟]+(?:\([^\s()]{1,4}\))*)"
)
_LEADING = re.compile(r"[-−–]+(?=[\w\"“„«'‘*])")
# Degrees and shares below zero: -5 °C leaves nothing out.
_BELOW_ZERO = re.compile(r"[-−–]\d+(?:[.,]\d+)?\s?[°%]")
_LEAST_LETTERS = 2
# A longer text is no list of key words, and no one nests more brackets.
_LONGEST, _MOST_BRACKETS = 1000, 40

Leaf = TypeVar("Leaf")


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """A word or the words of a phrase as they are typed; a star stands for any letters of a word."""

    text: str
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class Every(Generic[Leaf]):
    """All of the parts have to be there."""

    parts: tuple[Node[Leaf], ...]


@dataclass(frozen=True, slots=True)
class Some(Generic[Leaf]):
    """One of the parts has to be there."""

    parts: tuple[Node[Leaf], ...]


@dataclass(frozen=True, slots=True)
class Without(Generic[Leaf]):
    """The part must not be there."""

    part: Node[Leaf]


Node: TypeAlias = Leaf | Every[Leaf] | Some[Leaf] | Without[Leaf]


@dataclass(frozen=True, slots=True)
class SearchWords:
    """Words of a search, joined as they were typed.

    `plain` is the text without operators and without what is left out, to be searched by meaning. `operated` says
    whether more than plain words was typed, `phrased` whether there is a phrase in quotation marks, and `unclosed`
    whether a quotation mark is not closed: its phrase goes to the end.
    """

    tree: Every[SearchTerm]
    plain: str
    operated: bool = False
    phrased: bool = False
    unclosed: bool = False


@dataclass(frozen=True, slots=True)
class _SearchToken:
    """A part of the text: a term, a bracket, an operator (and, or, not) or a punctuation mark."""

    kind: str
    text: str
    closed: bool = True


@lru_cache(maxsize=100)
def read_search(text: str) -> SearchWords:
    """Return what the words of a search ask for.

    OR joins what is beside it, AND binds closer, and words side by side are all wanted.

    >>> read_search("floods but not drought").tree
    Every(parts=(SearchTerm(text='floods', phrase=False), Without(part=SearchTerm(text='drought', phrase=False))))
    """
    if len(text) > _LONGEST:
        return SearchWords(Every(tuple(map(SearchTerm, text.split()))), text)
    tokens = list(_tokens(text))
    if sum(token.kind == "open" for token in tokens) > _MOST_BRACKETS:
        tokens = [token for token in tokens if token.kind not in ("open", "close")]
    negated = _negated(_without_emphasis(tokens))
    kinds = {token.kind for token in negated}
    tree, wanted = _TreeReader(negated).everything()
    phrased = any(term.phrase for term in leaves(tree))
    unclosed = any(not token.closed for token in tokens)
    globbed = any("*" in token.text for token in tokens if token.kind == "term")
    operated = unclosed or globbed or bool(kinds & {"and", "or", "not"})
    return SearchWords(tree, " ".join(wanted) if operated else text, operated or phrased, phrased, unclosed)


def leaves(tree: Every[Leaf] | Some[Leaf]) -> Iterator[Leaf]:
    """Yield the leaves that are wanted, not those that must not be there."""
    for part in tree.parts:
        if isinstance(part, Every | Some):
            yield from leaves(part)
        elif not isinstance(part, Without):
            yield part


def all_leaves(node: Every[Leaf] | Some[Leaf] | Without[Leaf]) -> Iterator[Leaf]:
    """Yield the leaves that are wanted and those that must not be there."""
    for part in (node.part,) if isinstance(node, Without) else node.parts:
        if isinstance(part, Every | Some | Without):
            yield from all_leaves(part)
        else:
            yield part


def holds(node: Every[Leaf] | Some[Leaf] | Without[Leaf], is_there: Callable[[Leaf], bool]) -> bool:
    """Return whether something meets a tree, by what is there of its leaves."""

    def is_met(part: Node[Leaf]) -> bool:
        return holds(part, is_there) if isinstance(part, Every | Some | Without) else is_there(part)

    if isinstance(node, Without):
        return not is_met(node.part)
    return (all if isinstance(node, Every) else any)(map(is_met, node.parts))


def _tokens(text: str) -> Iterator[_SearchToken]:
    """Yield the parts of the text; a phrase in quotation marks is one."""
    at = 0
    while at < len(text):
        starts = at == 0 or text[at - 1].isspace() or text[at - 1] in "(-−–+"
        leading = _LEADING.match(text, at) if starts and not _BELOW_ZERO.match(text, at) else None
        if leading and (at == 0 or not text[at - 1].isalnum()):
            yield _SearchToken("not", leading[0])
            at = leading.end()
        if quoted := _quoted(text, at):
            at, phrase = quoted
            yield from [phrase] if phrase.text else []
            continue
        match = _PIECE.match(text, at)
        at = match.end() if match else at + 1
        if match and match.lastgroup in ("open", "close"):
            yield from [_SearchToken("not", "-")] if match[0][0] in "-−–" else []
            yield _SearchToken(match.lastgroup, match[0][-1])
        elif match and match.lastgroup not in ("blank", None):
            yield from _word_tokens(match[0], str(match.lastgroup))


def _quoted(text: str, at: int) -> tuple[int, _SearchToken] | None:
    """Return the phrase that opens here, with where the text goes on; None without a quotation mark."""
    mark = text[at : at + 1]
    if mark not in _CLOSING or not mark or (at and text[at - 1].isalnum()):
        return None
    places = range(at + 1, len(text))
    ends = (one for one in places if text[one] in _CLOSING[mark])
    closing = next((one for one in ends if mark not in _SINGLE or not text[one + 1 : one + 2].isalnum()), None)
    if mark in _SINGLE and (closing is None or " " not in text[at:closing]):
        return None
    end = len(text) if closing is None else closing
    words = " ".join(text[at + 1 : end].split())
    if not any(character.isalnum() for character in words):
        return (at if closing is None else end) + 1, _SearchToken("phrase", "")
    return end + 1, _SearchToken("phrase", words, closed=closing is not None)


def _word_tokens(text: str, kind: str) -> Iterator[_SearchToken]:
    if kind == "mark":
        yield _SearchToken("mark", text[0])
        return
    word = text.strip("*") if sum(map(str.isalnum, text)) < _LEAST_LETTERS else re.sub(r"\*+", "*", text)
    bare = word.rstrip(",;:.?!…")
    operator = {"&&": "and", "||": "or", "|": "or"}.get(bare) or _operators().get(bare)
    if operator:
        yield _SearchToken(operator, word)
    elif any(character.isalnum() for character in word):
        yield _SearchToken("term", word.removeprefix("+"))
        yield from [_SearchToken("mark", word[-1])] if word[-1:] in ",;:.?!…" and kind == "word" else []


@cache
def _operators() -> Mapping[str, str]:
    named = {word: name for name, words in read_table("search_words")["operators"].items() for word in words.split()}
    return named | {word: "not" for table in _negations() for word in table.operators}


@dataclass(frozen=True, slots=True)
class _Negations:
    """The folded words of one language by which a plain question leaves something out."""

    leaving_out: tuple[tuple[str, ...], ...]
    after: frozenset[str]
    before: frozenset[str]
    operators: frozenset[str]
    kept: frozenset[str]
    passed: frozenset[str]
    joining: frozenset[str]
    verbal: re.Pattern[str] | None
    capitals: bool
    stop_words: frozenset[str]


@cache
def _negations() -> tuple[_Negations, ...]:
    tables = {name: table for name, table in read_table("search_words").items() if name != "operators"}
    return tuple(
        _Negations(
            leaving_out=tuple(sorted((tuple(words.split()) for words in table["leaving_out"]), key=len, reverse=True)),
            after=frozenset(table.get("after", ())),
            before=frozenset(table.get("before", ())),
            operators=frozenset(table["not"].split()),
            kept=frozenset(table["kept"].split()),
            passed=frozenset(table["passed"].split()),
            joining=frozenset(table["joining"].split()),
            verbal=re.compile(table["verbal"]) if "verbal" in table else None,
            capitals=language == "de",
            stop_words=stopwords(language),
        )
        for language, table in tables.items()
    )


def _without_emphasis(tokens: Sequence[_SearchToken]) -> list[_SearchToken]:
    """Return the tokens with a NOT that names nothing as a plain word: "What must NOT be shown?"."""
    folded = _folded(tokens)
    plain: list[_SearchToken] = []
    at = 0
    while at < len(tokens):
        token, after = tokens[at], at + 1
        tables = [table for table in _negations() if token.kind == "not" and token.text in table.operators]
        while tables and after < len(tokens) and any(folded[after] in table.passed for table in tables):
            after += 1
        names = after < len(tokens) and (
            tokens[after].kind == "open" or any(_names(tokens, folded, after, table) for table in tables)
        )
        plain.append(token if names or not tables else replace(token, kind="term"))
        at = after if names else at + 1
    return plain


def _folded(tokens: Sequence[_SearchToken]) -> list[str]:
    return [fold(token.text).replace("’", "'").strip(",;:.?!…*") or token.text for token in tokens]


def _negated(tokens: Sequence[_SearchToken]) -> list[_SearchToken]:
    """Return the tokens in which "but not drought" is the operator NOT before its words."""
    folded = _folded(tokens)
    for table in _negations():
        for at in range(1, len(tokens)):
            if folded[at] in table.after and (turned := _before(tokens, folded, at, table)):
                return turned
            for words in table.leaving_out:
                if tuple(folded[at : at + len(words)]) == words:
                    if left_out := list(_left_out(tokens, folded, at + len(words), table)):
                        named = [_named_out(tokens[first:end]) for first, end in left_out]
                        # A token in front, since nothing is left out at the beginning.
                        rest = _negated([_SearchToken("mark", "."), *tokens[left_out[-1][1] :]])[1:]
                        return [*tokens[:at], *(one for some in named for one in some), *rest]
                    break
    return list(tokens)


def _before(tokens: Sequence[_SearchToken], folded: Sequence[str], at: int, table: _Negations) -> list[_SearchToken]:
    """Return the tokens with the words before a Turkish negation left out, or none if it negates none."""
    opening = next((place for place in range(at - 1, 0, -1) if folded[place] in table.before), None)
    first = at - 1 if opening is None else opening + 1
    if not 0 < first < at or at - first > 3 or (opening is None and folded[at] == "degil"):
        return []
    return [*tokens[: first if opening is None else opening], *_named_out(tokens[first:at]), *tokens[at + 1 :]]


def _named_out(tokens: Sequence[_SearchToken]) -> list[_SearchToken]:
    """Return the operator NOT before the tokens, in brackets if they are several."""
    some = [replace(token, text=token.text.rstrip(",;:.?!…")) for token in tokens if token.kind != "mark"]
    return [_SearchToken("not", "-"), _SearchToken("open", "("), *some, _SearchToken("close", ")")]


def _left_out(
    tokens: Sequence[_SearchToken], folded: Sequence[str], at: int, table: _Negations
) -> Iterator[tuple[int, int]]:
    """Yield the tokens [first, end) of each thing that is left out from a place on."""
    while True:
        while at < len(tokens) and folded[at] in table.passed:
            at += 1
        first = at
        while at < len(tokens) and _names(tokens, folded, at, table):
            at += 1
        if at == first:
            return
        yield first, at
        if at >= len(tokens) or folded[at] not in table.joining:
            return
        at += 1


def _names(tokens: Sequence[_SearchToken], folded: Sequence[str], at: int, table: _Negations) -> bool:
    """Return whether a token may name what is left out: a phrase, or a word but no verb or function word."""
    if tokens[at].kind == "phrase":
        return True
    word = tokens[at].text.strip(",;:.?!…")
    if tokens[at].kind != "term" or folded[at] in table.kept | table.stop_words:
        return False
    # Where nouns have capitals, a word without one is none, unless no word has one.
    lowered = table.capitals and word[:1].islower() and any(token.text[:1].isupper() for token in tokens[1:])
    return not lowered and not (table.verbal and table.verbal.fullmatch(word))


def _flat(parts: Iterable[Node[SearchTerm]]) -> Iterator[Node[SearchTerm]]:
    """Yield the parts that are wanted together, of brackets too."""
    for part in parts:
        yield from _flat(part.parts) if isinstance(part, Every) else [part]


class _TreeReader:
    """A reader of tokens, from the first to the last."""

    def __init__(self, tokens: Sequence[_SearchToken]) -> None:
        self._tokens = [token for token in tokens if token.kind != "mark"]
        self._at = 0
        self._wanted: list[str] = []
        self._left_out = 0

    def everything(self) -> tuple[Every[SearchTerm], list[str]]:
        """Return the tree of all tokens, and the texts of the terms that are wanted."""
        parts: list[Node[SearchTerm]] = []
        while self._at < len(self._tokens):
            parts += self._sequence()
            # A bracket that closes none.
            self._at += 1
        return Every(tuple(_flat(parts))), self._wanted

    def _sequence(self) -> list[Node[SearchTerm]]:
        parts: list[Node[SearchTerm]] = []
        while self._kind() not in ("", "close"):
            before = self._at
            options = [one for one in [self._joined()] if one]
            while self._kind() == "or":
                self._at += 1
                options += [one for one in [self._joined()] if one]
            parts += [Some(tuple(options))] if len(options) > 1 else options
            # An operator with nothing to join.
            self._at += self._at == before
        return parts

    def _joined(self) -> Node[SearchTerm] | None:
        parts = [one for one in [self._factor()] if one]
        while self._kind() == "and":
            self._at += 1
            parts += [one for one in [self._factor()] if one]
        return Every(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None

    def _factor(self) -> Node[SearchTerm] | None:
        kind = self._kind()
        if kind == "not":
            self._at += 1
            self._left_out += 1
            part = self._factor()
            self._left_out -= 1
            return part and Without(part)
        if kind == "open":
            self._at += 1
            inner = self._sequence()
            self._at += 1
            return Every(tuple(inner)) if len(inner) > 1 else inner[0] if inner else None
        if kind not in ("term", "phrase"):
            return None
        term = SearchTerm(self._tokens[self._at].text.strip(",;:?!…"), phrase=kind == "phrase")
        self._at += 1
        if not self._left_out:
            text = term.text.replace("*", "")
            self._wanted.append(f"“{text}”" if term.phrase else text)
        return term

    def _kind(self) -> str:
        return self._tokens[self._at].kind if self._at < len(self._tokens) else ""
