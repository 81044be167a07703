"""Marks of an answer: the ways in which a model names a source, read and written as [Source N]."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rag_engine.prompts import LABEL_WORDS, NUMBER_SIGN, PAGE_WORDS, SOURCE_WORDS
from rag_engine.text.sentences import Span
from rag_engine.text.templates import kept_sentence

# A mark as a checked answer has it.
CHECKED_MARK = re.compile(r"\[Source (\d{1,3})\]")

_OPEN = r"\\?[\[【［{]"
_SQUARE, _SQUARE_CLOSE = r"\\?[\[【［]", r"\\?[\]】］]"
_ROUND, _ANY_CLOSE = r"[(（]", r"\\?[\]】］)）}]"
_JOIN = r"\s*(?:,|;|&|\+|/|[-–—]|\b(?:and|to|through|thru|e|et|und|bis|y|ve|a|à|al|até|hasta|ila|ile)\b)+\s*"
_NUMBER = rf"(?:{SOURCE_WORDS}\W{{0,2}})?{NUMBER_SIGN}\d{{1,3}}(?!\d)"
_NUMBERS = rf"({_NUMBER}(?:{_JOIN}{_NUMBER}){{0,20}})"
_PAGE = PAGE_WORDS + r"\b\.?\s{0,3}\d{1,4}(?:\s?[-–]\s?\d{1,4})?"
# Words after the numbers ("p. 12", a title) are dropped: pages and titles are known from the source, not the model.
_SAID = r"[^\]】］)）}\[\n(]{0,120}(?:\([^()\]】］}\[\n]{0,60}\)?[^\]】］)）}\[\n(]{0,60})?"
_TAIL = rf"(?:\s*[,;:.–—-]?\s{_SAID})?"
# In round brackets, as people write them: "(Source 1 emissions)" is no citation.
_ROUND_TAIL = rf"(?:\s*[,;:.–—-]\s{_SAID}|\s(?=[\d(]|{_PAGE}){_SAID})?"
_ARTICLE = r"(?:(?:the|die|der|das|den|la|le|les|il|i|lo|gli|las?|los|el|as?|os?)\s{1,3}|l['’]\s?)?"
_SEE = (
    r"(?:see(?:\s{1,3}also)?|cf\.?|from|according\s{1,3}to|based\s{1,3}on|as\s{1,3}per|siehe|vgl\.?|laut|nach|gemäß|"
    r"vedi|si\s{1,3}veda|cfr\.?|secondo|voir|selon|d['’]après|véase|ver|según|vide|conforme|segundo|bkz\.?|bakınız)"
)
_MARKS = (
    re.compile(
        rf"{_OPEN}\s{{0,5}}(?:{_SEE}\s{{1,3}}{_ARTICLE})?{SOURCE_WORDS}\W{{0,3}}{_NUMBERS}{_TAIL}{_ANY_CLOSE}", re.I
    ),
    re.compile(
        rf"{_ROUND}\s{{0,5}}(?:{_SEE}\s{{1,3}}{_ARTICLE})?{SOURCE_WORDS}\W{{0,3}}{_NUMBERS}{_ROUND_TAIL}{_ANY_CLOSE}",
        re.I,
    ),
)
# What models write who were taught another habit: [1], [1, 3], [^2], [1, p. 3], 【1†source】; no link, no year, and no
# docket ("[1] BvR"). [S1], [Doc 1] and [citation:1] are other ways to say it.
_BARE = re.compile(
    rf"{_SQUARE}\s{{0,3}}(?:{LABEL_WORDS}\s{{0,2}}[.:#]?\s{{0,2}}|s(?=\d))?\^?(\d{{1,3}}(?!\d)(?:{_JOIN}\d{{1,3}}(?!\d)){{0,20}})"
    rf"(?:†[^\]】］\n]{{0,80}}|\^|\s?[,;:]?\s{{0,3}}{_PAGE})?\s{{0,3}}{_SQUARE_CLOSE}(?!\(|\s?Bv[A-Z]\b)",
    re.I,
)
_BOLD = re.compile(rf"(?<![\w*])(\*{{1,3}}){SOURCE_WORDS}\s{{0,3}}{_NUMBERS}\s?:?\1(?![\w*])", re.I)
# Without brackets a source is named where the words around it say so: "source 1" may also be one of noise.
_FIRST = rf"{NUMBER_SIGN}\d{{1,3}}(?!\d)"
_NAMED = rf"(?<![\w“])(?P<mark>{SOURCE_WORDS}[^\S\n]{{1,3}}(?P<numbers>{_FIRST}(?:{_JOIN}{_NUMBER}){{0,20}}))"
# "As the source says" is not "as a source of noise", nor "come from source 1".
_NO_VERB = r"(?!(?:une?|una|uma|la|les|des|cette|esta|essa|questa|altra|otra|outra|from|with)\b)"
_CITING = (
    r"(?:according\s+to|as\s+per|see(?:\s+also)?|(?:as\s+)?(?:stated|noted|described|mentioned|reported|explained|set\s+out|"
    r"shown|defined|listed)\s+(?:in|by)|based\s+on|"
    r"secondo|in\s+base\s+a(?:lla|lle)?|come\s+VERB(?:\s+(?:nella|nelle|dalla|dalle))?|"
    r"selon|d['’]après|comme\s+(?:l['’]\s?)?VERB(?:\s+(?:dans|par))?|"
    r"según|de\s+acuerdo\s+con|como\s+(?:se\s+)?VERB(?:\s+(?:en|por))?|"
    r"laut|gemäß|nach|siehe|vgl\.|"
    r"segundo|conforme(?:\s+\w{3,14})?|de\s+acordo\s+com|como\s+VERB(?:\s+(?:na|nas|pela|pelas))?|"
    r"vedi|voir|véase|ver|vide|bkz\.|bakınız)"
).replace("VERB", rf"{_NO_VERB}\w{{3,14}}")
# What may follow a source that is cited, so that "According to Source 1 emissions" is not cut.
_FOLLOWS = (
    r"(?=\s*(?:[,.;:!?()\]’”»]|$|\n)|\s+(?:the|this|these|those|it|there|a|an|il|lo|la|i|gli|le|un|una|les|des|une|el|los|"
    r"las|der|die|das|den|dem|ein|eine|ist|sind|wird|werden|muss|müssen|soll|sollen|hat|haben|os?|as?|uma?)\b)"
)
_SAYS = (
    r"\s+(?:says?|states?|notes?|reports?|mentions?|describes?|explains?|shows?|indicates?|specif(?:y|ies)|points?|"
    r"confirms?|argues?|defines?|lists?|"
    r"dic(?:e|ono)|afferman?o?|indican?o?|riportan?o?|spiegan?o?|descriv(?:e|ono)|precisan?o?|menzionan?o?|"
    r"specifican?o?|segnalan?o?|confermano?|mostrano?|"
    r"dit|disent|(?:indiqu|précis|mentionn|expliqu|rapport|affirm|signal|confirm|montr|énonc)e(?:nt)?|décri(?:t|vent)|"
    r"dicen?|indican?|señalan?|mencionan?|explican?|describen?|precisan?|afirman?|informan?|confirman?|muestran?|"
    r"sag(?:t|en)|nenn(?:t|en)|besag(?:t|en)|erklär(?:t|en)|beschreib(?:t|en)|berichte(?:t|n)|erwähn(?:t|en)|"
    r"zeig(?:t|en)|gibt|geben|bestätig(?:t|en)|zufolge|"
    r"diz(?:em)?|afirmam?|indicam?|mencionam?|explicam?|descrevem?|referem?|relatam?|confirmam?|mostram?)\b"
)
_TURKISH = r"['’](?:\w{1,4}\s+göre|[dt][ae]n?)\b|\s+(?:belirt|söyl|açıkl|bildir|göster)\w+"
_CITED = (
    re.compile(rf"(?<!\w){_CITING}\s+{_ARTICLE}{_NAMED}{_FOLLOWS}", re.I),
    re.compile(rf"{_NAMED}(?:{_SAYS}|{_TURKISH})", re.I),
)
_QUOTED = re.compile('“[^”\n]{0,2000}”|„[^“”\n]{0,2000}[“”]|«[^»\n]{0,2000}»|"[^"\n]{0,2000}"')
_QUOTE_BEGUN = re.compile('[“„«"][^\n]*$')
_RANGE = re.compile(
    rf"(\d+)\s*(?:[-–—]|\b(?:to|through|thru|bis|a|à|al|até|hasta|ila)\b)\s*(?:{SOURCE_WORDS}\W{{0,2}})?(\d+)", re.I
)
_WIDEST_RANGE = 20
# The end of a text that may be the beginning of a mark.
_BEGUN = (
    re.compile(
        rf"(?:{_OPEN}|{_ROUND})\s{{0,5}}(?:[\w.]{{0,12}}|(?:{_SEE}\b|{LABEL_WORDS}|{SOURCE_WORDS}|s?\^?\d)"
        rf"[^\]】］)）}}\n(]{{0,160}}(?:\([^()\n]{{0,60}}\)?[^\]】］)）}}\n(]{{0,60}})?)\\?$",
        re.I,
    ),
    re.compile(
        rf"[*\\]{{1,3}}$|(?<!\w)\*{{0,3}}{SOURCE_WORDS}(?:\s{{0,3}}(?:(?:#|n\w{{0,2}}[.°º]?)\s?)?|\s{{1,3}}{NUMBER_SIGN}\d[^\]】］)）}}\n.!?]{{0,30}})$",
        re.I,
    ),
)
# A number in brackets that may be a link's or a docket's.
_ENDED = re.compile(rf"{_SQUARE}\s{{0,3}}\^?\d[^\]】］\n]{{0,20}}{_SQUARE_CLOSE}(?:\s?B?v?)$")
_LAST_WORD = re.compile(r"(?<!\w)\*{0,3}([^\W\d_]{1,8})$")
_SOURCE_BEGINNINGS = ("sources", "fonte", "fonti", "fontes", "fuentes", "quellen", "kaynaklar")


@dataclass(frozen=True, slots=True)
class CheckedText:
    """An answer's text in which every [Source N] exists, the numbers in it and those removed from it."""

    text: str
    cited: tuple[int, ...]
    removed: tuple[int, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place that names sources by their numbers."""

    start: int
    end: int
    numbers: tuple[int, ...]


def check_marks(text: str, numbers: Collection[int], start: int = 0, end: int | None = None) -> CheckedText:
    """Return the text with every form of citation written as [Source N] and those outside `numbers` removed.

    A number alone in brackets, and a source that is named without any, is a citation outside of quotations, where there
    is such a source; beside full ones any other stays as it is. The characters [start, end) are returned, and what is
    around them says how they are read.
    """
    pieces: list[str] = []
    cited: list[int] = []
    removed: list[int] = []
    position, end = start, len(text) if end is None else end
    for mark in _marks(text, numbers):
        if not position <= mark.start < end:
            continue
        kept = [number for number in mark.numbers if number in numbers]
        before = text[position : mark.start]
        # A mark that goes takes the blank before it along: "rose [Source 9]." becomes "rose."
        pieces += [before if kept else before.rstrip(" \t"), *(f"[Source {number}]" for number in kept)]
        cited += kept
        removed += [number for number in mark.numbers if number not in numbers]
        position = mark.end
    pieces.append(text[position:end])
    distinct, gone = tuple(dict.fromkeys(cited)), tuple(dict.fromkeys(removed))
    return CheckedText("".join(pieces), distinct, gone, tuple(_warnings(gone)))


def settled_end(text: str, start: int) -> int:
    """Return the end of what no words that follow can make a mark of, from `start` on.

    A text that ends within a quotation is settled up to the first number in it that would be a mark outside of one.
    """
    ends = [match.start() for begun in (*_BEGUN, _ENDED) if (match := begun.search(text, start))]
    last = _LAST_WORD.search(text, start)
    if last and any(word.startswith(last.group(1).casefold()) for word in _SOURCE_BEGINNINGS):
        ends.append(last.start())
    line = text.rfind("\n") + 1
    quote = _QUOTE_BEGUN.search(_QUOTED.sub(lambda match: "x" * len(match.group()), text[line:]))
    if quote:
        ends += [mark.start for mark in _bare(text, line + quote.start()) if mark.start >= start][:1]
    return min(ends, default=len(text))


def _marks(text: str, numbers: Collection[int]) -> list[_Mark]:
    """Return the citations in a text, in order."""
    full = [_mark(*match.span(), match.group(1)) for pattern in _MARKS for match in pattern.finditer(text)]
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    numbered = [mark for mark in _bare(text) if not _is_within(mark, quoted)]
    known = [mark for mark in numbered if set(mark.numbers) & set(numbers)]
    named = [mark for mark in _cited(text) if set(mark.numbers) & set(numbers) and not _is_within(mark, quoted)]
    found = [*full, *(numbered if known and not full else known), *named]
    return sorted(found, key=lambda mark: (mark.start, -mark.end))


def _bare(text: str, start: int = 0) -> Iterator[_Mark]:
    for match in _BARE.finditer(text, start):
        yield _mark(*match.span(), match.group(1))


def _cited(text: str) -> Iterator[_Mark]:
    """Yield the sources that are named without brackets, in bold or by words that cite them."""
    for match in _BOLD.finditer(text):
        yield _mark(*match.span(), match.group(2))
    for pattern in _CITED:
        for match in pattern.finditer(text):
            yield _mark(*match.span("mark"), match.group("numbers"))


def _mark(start: int, end: int, numbers: str) -> _Mark:
    return _Mark(start, end, tuple(dict.fromkeys(_numbers(numbers))))


def _is_within(mark: _Mark, spans: Sequence[Span]) -> bool:
    """Whether a mark begins within one of the spans, which are in order."""
    before = bisect_left(spans, (mark.start, 0))
    return before > 0 and mark.start < spans[before - 1][1]


def _numbers(text: str) -> Iterator[int]:
    """Source numbers in "1, 2", "1 and 4", "2-4", "2 through 4"."""
    for match in _RANGE.finditer(text):
        first, last = int(match.group(1)), int(match.group(2))
        if 0 < last - first <= _WIDEST_RANGE:
            text = text.replace(match.group(0), " ".join(str(number) for number in range(first, last + 1)))
    yield from (int(number) for number in re.findall(r"\d+", text))


def _warnings(removed: Sequence[int]) -> Iterator[str]:
    if removed:
        numbers = ", ".join(map(str, removed))
        yield kept_sentence(
            "The model cited sources that it was not given ({numbers}); the marks were removed from the text.",
            numbers=numbers,
        )
