"""Replies of a model, checked: its marks, the references and the refusal that it adds, its language."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_engine.answer_sentences import INSUFFICIENT
from rag_engine.messages import Message
from rag_engine.protocols import Embedder, Vectors
from rag_engine.text.languages import language_name
from rag_engine.text.neutralise import LABEL_WORDS, NUMBER_SIGN, SOURCE_WORDS
from rag_engine.text.sentences import Span
from rag_engine.types.evidence import QueryPlan

# What models put before a page.
_PAGE_WORDS = r"(?:pp?|pages?|s|seiten?|pag|pagin[ae]|págs?|páginas?|sayfa|sf)"
# Headings that models write above a list of sources in spite of their rules.
_REFERENCE_HEADINGS = frozenset(
    (
        *(
            "references",
            "full references",
            "list of references",
            "reference list",
            "references used",
            "references cited",
        ),
        *(
            "sources",
            "source",
            "sources used",
            "sources cited",
            "sources consulted",
            "cited sources",
            "list of sources",
        ),
        *("source list", "works cited", "bibliography", "citations", "literature cited"),
        *("riferimenti", "riferimenti bibliografici", "elenco dei riferimenti", "fonti", "fonte", "fonti citate"),
        *("fonti utilizzate", "fonti consultate", "elenco delle fonti", "lista delle fonti", "bibliografia"),
        *("références", "références bibliographiques", "liste des références", "liste des sources", "sources citées"),
        *("sources utilisées", "sources consultées", "bibliographie", "ouvrages cités"),
        *("referencias", "referencias bibliográficas", "lista de referencias", "fuentes", "fuente", "fuentes citadas"),
        *("fuentes utilizadas", "fuentes consultadas", "lista de fuentes", "bibliografía", "obras citadas"),
        *("quellen", "quelle", "quellenangaben", "quellenangabe", "quellenverzeichnis", "quellenliste"),
        *("quellennachweis", "quellennachweise", "verwendete quellen", "zitierte quellen", "liste der quellen"),
        *("referenzen", "literatur", "literaturverzeichnis", "literaturangaben"),
        *("referências", "referências bibliográficas", "lista de referências", "fontes", "fontes citadas"),
        *("fontes utilizadas", "fontes consultadas", "lista de fontes"),
        *("kaynaklar", "kaynak", "kaynakça", "kaynak listesi", "kaynaklar listesi", "kullanılan kaynaklar"),
        *("referanslar", "referans listesi", "bibliyografya"),
    )
)

# A mark as a checked answer has it.
CHECKED_MARK = re.compile(r"\[Source (\d{1,3})\]")

_OPEN = r"\\?[\[【［{]"
_SQUARE, _SQUARE_CLOSE = r"\\?[\[【［]", r"\\?[\]】］]"
_ROUND, _ANY_CLOSE = r"[(（]", r"\\?[\]】］)）}]"
_JOIN = r"\s*(?:,|;|&|\+|/|[-–—]|\b(?:and|to|through|thru|e|et|und|bis|y|ve|a|à|al|até|hasta|ila|ile)\b)+\s*"
_NUMBER = rf"(?:{SOURCE_WORDS}\W{{0,2}})?{NUMBER_SIGN}\d{{1,3}}(?!\d)"
_NUMBERS = rf"({_NUMBER}(?:{_JOIN}{_NUMBER}){{0,20}})"
_PAGE = _PAGE_WORDS + r"\b\.?\s{0,3}\d{1,4}(?:\s?[-–]\s?\d{1,4})?"
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
# Marks of models that were taught another habit: [1], [1, 3], [^2], [1, p. 3], 【1†source】; no link, no year, and no
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
# Text that may follow a source that is cited, so that "According to Source 1 emissions" is not cut.
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

_YEAR = r"\(?(?:1[89]|20)\d\d[a-z]?\)?"
_LISTED_PAGE = _PAGE_WORDS + r"\.?\s*\d{1,4}(?:\s*[-–]\s*\d{1,4})?"
_YEAR_OR_PAGE = re.compile(rf"\s*(?:{_YEAR}|{_LISTED_PAGE})\s*\.?\s*", re.IGNORECASE)
_DESCRIBED = re.compile(rf"(?:^|[,;:.(])\s*(?:{_YEAR}|{_LISTED_PAGE})\s*(?=[,;:.)]|$)", re.IGNORECASE)
_LICENCE = re.compile(r"\s*(?:CC[ -]BY\b|CC0|public domain)[^,;]*", re.IGNORECASE)
# The end of the day and month before the year of a date: "3 May, 2020".
_DAY = re.compile(
    r"\b(?:\d{1,2}(?:st|nd|rd|th)?|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\s*$", re.IGNORECASE
)
_ADDRESS = re.compile(r"https?://|\bwww\.|\.(?:pdf|docx?|html?)\b", re.IGNORECASE)
_LINE_START = r"\s*(?:[-–—*•]\s*|\d{1,2}[.)]\s*)?\*{0,2}"
_ENTRY_START = re.compile(r"\s*[-–—*•\[【(（\d]")
_LISTED_START = re.compile(rf"\s*(?:[\[【［]|[(（]{SOURCE_WORDS}|\d{{1,2}}[.)]\s|[-–—*•]\s)", re.IGNORECASE)
_MARK = rf"[\[【［(（](?:{SOURCE_WORDS}|{LABEL_WORDS}|s)?\W{{0,3}}\^?\d{{1,3}}(?!\d)[^\]】］)）\n]{{0,20}}[\]】］)）]"
_MARKED_LINE = re.compile(rf"{_LINE_START}{_MARK}[*:.\s]*(?=\w|[“\"«])", re.IGNORECASE)
_MARK_BEGUN = re.compile(
    rf"{_LINE_START}(?:[\[【［(（][^\]】］)）\n]{{0,40}}(?:[\]】］)）][*:.\s]*)?)?$", re.IGNORECASE
)
# Words of a title or a name; a sentence without a comma is soon longer.
_LONGEST_PART = 24

_REFUSAL = re.compile("|".join(re.escape(sentence.rstrip(".")) for sentence in INSUFFICIENT.values()), re.IGNORECASE)
_AROUND = " \t\n*_-–—"

ANSWERED_AND_REFUSED = (
    "The model answered and then wrote that the documents hold no answer: check whether the cited passages do."
)

# Letters from which on the language of a text is known well enough to be held against a model.
_ENOUGH = 60


@dataclass(frozen=True, slots=True)
class CheckedText:
    """An answer's text in which every [Source N] exists, with its numbers and the removed ones."""

    text: str
    cited: tuple[int, ...]
    removed: tuple[int, ...]
    warnings: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place that names sources by their numbers."""

    start: int
    end: int
    numbers: tuple[int, ...]


def check_marks(text: str, numbers: Collection[int], start: int = 0, end: int | None = None) -> CheckedText:
    """Return the text with every citation written as [Source N], without numbers outside `numbers`.

    Outside of quotations, a number alone in brackets and a bare "Source N" are citations, if there is such a source. If
    the text has full citations, any other number stays as it is. The characters [start, end) are returned; the text
    around them decides how they are read.

    >>> check_marks("Seas rise (Source 1).", {1}).text
    'Seas rise [Source 1].'
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
    """Return the end of the text, from `start` on, that no later words can turn into a mark.

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
    """Return whether a mark begins within one of the spans, which are in order."""
    before = bisect_left(spans, (mark.start, 0))
    return before > 0 and mark.start < spans[before - 1][1]


def _numbers(text: str) -> Iterator[int]:
    """Return the source numbers in "1, 2", "1 and 4", "2-4", "2 through 4"."""
    for match in _RANGE.finditer(text):
        first, last = int(match.group(1)), int(match.group(2))
        if 0 < last - first <= _WIDEST_RANGE:
            text = text.replace(match.group(0), " ".join(str(number) for number in range(first, last + 1)))
    yield from (int(number) for number in re.findall(r"\d+", text))


def _warnings(removed: Sequence[int]) -> Iterator[Message]:
    if removed:
        numbers = ", ".join(map(str, removed))
        yield Message(
            "The model cited sources that it was not given ({numbers}); the marks were removed from the text.",
            numbers=numbers,
        )


class UnlistedWords:
    """An answer's words as they come, without lists of references.

    `listed` are the places of the dropped lists in the text that came.
    """

    def __init__(self) -> None:
        self.listed: list[Span] = []
        self._line = ""  # what came of a line that is not decided yet
        self._start = 0  # where that begins in the text
        self._is_open = False  # whether the beginning of its line is given already
        self._is_list = False
        self._waiting: list[tuple[int, str]] = []  # blank lines and entries without a heading, until something follows
        self._has_given = False
        self._came = ""  # all that came before anything was given

    def take(self, piece: str) -> str:
        """Return the new words that are certain to stay."""
        self._line += piece
        if not self._has_given:
            self._came += piece
        given = ""
        while "\n" in self._line:
            line, _, rest = self._line.partition("\n")
            given += self._decided(line)
            end = self._drop if self._is_list else self._wait
            end("\n")
            self._line = rest
        if self._line and (self._is_open or not self._may_be_listed(self._line)):
            given += self._given(self._line)
            self._line, self._is_open, self._is_list = "", True, False
        return given

    def rest(self) -> str:
        """Return the words that were held back when the text ended, without a list of references.

        Blank lines at the end are dropped. A text that is nothing but a list stays.
        """
        given = self._decided(self._line) if self._line else ""
        if not self._has_given:
            self.listed = []
            return self._came
        self.listed += [(start, start + len(text)) for start, text in self._waiting if text.strip()]
        return given

    def _decided(self, line: str) -> str:
        """Return a whole line, without its end, as far as it is given now."""
        if self._is_open:
            self._is_open = False
            return self._given(line)
        if not line.strip():
            return self._drop(line) if self._is_list else self._wait(line)
        if _is_heading(line) or _is_inline_list(line):
            self._is_list = True
            return self._drop(line)
        if self._is_list:
            names = "," in line and not line.rstrip().endswith((".", "!", "?", ":")) and _has_short_parts(line)
            if names or _ENTRY_START.match(line) or _is_described(line):
                return self._drop(line)
        self._is_list = False
        return self._wait(line) if _is_marked_entry(line) else self._given(line)

    def _given(self, text: str) -> str:
        before = "".join(text for _, text in self._waiting)
        self._waiting = []
        self._start += len(text)
        self._has_given = self._has_given or bool(text.strip())
        return before + text

    def _wait(self, text: str) -> str:
        self._waiting.append((self._start, text))
        self._start += len(text)
        return ""

    def _drop(self, text: str) -> str:
        if text.strip():
            self.listed.append((self._start, self._start + len(text)))
        self._start += len(text)
        return ""

    def _may_be_listed(self, line: str) -> bool:
        """Return whether the beginning of a line may turn out to belong to a list of references."""
        if self._is_list or not line.strip():
            return True
        plain = _plain(line)
        if any(heading.startswith(plain.partition(":")[0].rstrip("*_ ")) for heading in _REFERENCE_HEADINGS):
            return plain.partition(":")[0].rstrip("*_ ") in _REFERENCE_HEADINGS or ":" not in plain
        if _MARK_BEGUN.match(line):
            return True
        marked = _MARKED_LINE.match(line)
        return marked is not None and _has_short_parts(line[marked.end() :])


def without_references(text: str) -> str:
    """Return the text without the lists of references in it."""
    words = UnlistedWords()
    kept = words.take(text) + words.rest()
    return kept.strip() if words.listed else text


def listed_spans(text: str) -> list[Span]:
    """Return the places of the lists of references in a text."""
    words = UnlistedWords()
    words.take(text)
    words.rest()
    return words.listed


def _plain(line: str) -> str:
    """Return a line without the signs of a heading around it."""
    return " ".join(line.strip().lstrip("#*_ 0123456789.)").rstrip("*_:. ").casefold().split())


def _is_heading(line: str) -> bool:
    return _plain(line) in _REFERENCE_HEADINGS


def _is_inline_list(line: str) -> bool:
    """Return whether a line is a heading with its list: "Sources used: Ministry, 1999, page 77"."""
    head, colon, listed = line.partition(":")
    listed = listed.strip("*_ ")
    return bool(colon and listed) and _is_heading(head) and (bool(_LISTED_START.match(listed)) or _is_described(listed))


def _is_described(text: str) -> bool:
    """Return whether a text has a year, page or address between commas or brackets, unlike a sentence."""
    return bool(_ADDRESS.search(text) or _DESCRIBED.search(text))


def _is_marked_entry(line: str) -> bool:
    """Return whether a line is an entry without any heading above.

    It has a mark, names, and last a year, a page or a licence.
    """
    match = _MARKED_LINE.match(line)
    if not match:
        return False
    *names, last = re.split("[,;]", line[match.end() :])
    return (
        bool(names)
        and bool(_YEAR_OR_PAGE.fullmatch(last) or _LICENCE.fullmatch(last))
        and not _DAY.search(names[-1])
        and _has_short_parts(line[match.end() :])
    )


def _has_short_parts(text: str) -> bool:
    return all(len(part.split()) <= _LONGEST_PART for part in re.split("[,;]", text))


def without_closing_refusal(text: str) -> str:
    """Return a checked answer without a refusal below statements that name their sources.

    A text without such statements stays as it is: a model that begins with the refusal has not answered.
    """
    found = _REFUSAL.search(text)
    before = text[: found.start()].rstrip(_AROUND) if found else ""
    return before if CHECKED_MARK.search(before) else text


def written_language(text: str, plan: QueryPlan, identify: Callable[[str], str]) -> str:
    """Return the language of a checked answer (ISO 639-1), or the question's if it is unknown."""
    plain = " ".join(CHECKED_MARK.sub(" ", text).split())
    if not plan.output_instructions and sum(map(str.isalpha, plain)) < _ENOUGH:
        return plan.language
    return identify(plain) or plan.language


def language_warning(written: str, plan: QueryPlan) -> Iterator[Message]:
    """Yield a warning if an answer without output instructions is not in the question's language."""
    if plan.output_instructions or not plan.language or written == plan.language:
        return
    yield Message(
        "The model answered in {written}, not in {wanted}. Ask again, or use another model.",
        written=language_name(written) or Message("another language"),
        wanted=language_name(plan.language) or Message("the language of the question"),
    )


class AnswerEmbedder:
    """An encoder that encodes no passage twice; not for longer than one answer, as it keeps every vector."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension, self.prefixes = embedder.name, embedder.dimension, embedder.prefixes
        self.execution = embedder.execution
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors |= zip(new, self._embedder.encode_passages(new), strict=True)
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([self._vectors[text] for text in texts])

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        return self._embedder.encode_queries(texts)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of the text under the model's tokenizer, special tokens included."""
        return self._embedder.count_tokens(text)
