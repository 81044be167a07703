"""The numbers printed on pages, or declared by a file, as the labels that its pages are cited by.

A label is believed where it counts with the pages: a wrong one is worse than none.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from ingestion.extraction.date_patterns import written_dates
from ingestion.extraction.layout.numerals import roman
from ingestion.extraction.layout.paragraphs import body_size
from ingestion.extraction.layout.quarter_turns import size_of
from ingestion.extraction.layout.text_rows import PageRows, TextRow
from rag_engine.text.tables import read_table

# A printed number: whether it is Roman, and its value.
Printed = tuple[bool, int]

_ROMAN = {roman(number): number for number in range(1, 4_000)}
# No page has a longer number, and Python reads none of thousands of digits.
_LONGEST = 9
# Shares of the height of a page in which its number is; what stands beside a running head is one of its outer rows.
_MARGIN, _OUTER_ROWS = 0.2, 2
_LONGEST_HEAD = 120
_FEWEST_PAGES = 3
# Pages in a row that may hide their number: a blank one, and the first of a chapter.
_HIDDEN = 4
# Share of the height by which numbers at the same place differ.
_SAME_PLACE = 0.02
# What is larger than the text by so much is a heading.
_LARGE = 1.4
# What is smaller than the text by so much is a running head.
_SMALL = 0.95
_FEW_WORDS = 3
# Pages are seldom numbered so high, and years often count with the pages.
_YEARS, _MANY_PAGES = range(1850, 2101), 12
# Share of labels that may repeat the one before them: those of slides that appear bit by bit do.
_REPEATED = 0.1

_COUNTER = r"(?:\d{1,5}|[ivxlc]{1,8}|[IVXLC]{1,8})"
# "A-5", "2-14"; the letter and number of an Official Journal is no part of the page's.
_TOKEN = rf"(?:[LC]I? ?\d{{1,3}} ?[AE]?/)?(?P<label>(?:(?:[A-Z]{{1,3}}|\d{{1,2}})[-–])?{_COUNTER})"
_TOTAL = r"(?: ?(?:/|\||\b(?:of|von|de|di|do|da|sur|van|af|av|fra|z|ze|iz|od|din|από|из|от|з)\b) ?\d{1,5})?"
_PAGE = (
    r"(?:pages?|p ?a ?g ?e|pagina|página|pàgina|pag|pág|pagină|seite|strona|strana|stránka|stranica|stran|str|sida|"
    r"side|sivu|lk|lehekülg|lpp|puslapis|psl|oldal|sayfa|bladzijde|blz|σελίδα|σελ|страница|стр|сторінка|стор)"
)
# The number of a paragraph is in round brackets.
_SIGNS = r"[\s\-–—|\[\]{}<>•·~*]*"
_ALONE = re.compile(rf"{_SIGNS}{_TOKEN}{_TOTAL}{_SIGNS}")
_CALLED = re.compile(
    rf"(?<!\w)(?i:{_PAGE}(?!\w)[.:]?|(?:pp?|s|с)\.) ?(?i:(?:no|nr|n°)\.? )?[:\-–]? ?{_TOKEN}(?![\w]|[.,]\d){_TOTAL}"
)
_CALLED_AFTER = re.compile(rf"(?<![\w.,/-]){_TOKEN}\.? ?[|–-]? (?i:{_PAGE})(?!\w)")
_PARTS = re.compile(r" [|•·] ")
_FIRST = re.compile(rf"{_TOKEN} (?P<rest>\S+ .+)")
_LAST = re.compile(rf"(?P<rest>.+ \S+) {_TOKEN}")
# Words before the number of a unit, beside those of data/abbreviations.toml.
_UNITS = {
    "n", "№", "measure", "measures", "action", "objective", "target", "indicator", "recommendation", "principle",
    "requirement", "sheet", "slide", "box", "map", "plate", "mesure", "objectif", "fiche", "recommandation", "annexe",
    "misura", "azione", "obiettivo", "scheda", "raccomandazione", "allegato", "medida", "acción", "objetivo", "ficha",
    "recomendación", "anexo", "maßnahme", "ziel", "empfehlung", "blatt", "anlage", "anhang", "ação", "recomendação",
}  # fmt: skip
# How a file may label a page; the names of picture files are none.
_DECLARED = re.compile(
    rf"(?i:(?:{_PAGE}|pp?|s)[. ] ?)?(?P<label>(?:[A-Za-z]{{1,3}}[-–. ]?|\d{{1,3}}[-–./])?{_COUNTER})"
)
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in the margin of a page that may be the page's.

    `series` is what it counts in: the part of the label before it, and whether it is Roman. `head` are the words beside
    it, empty for a number alone or called a page; `loose` if nothing but a blank parts them.
    """

    page: int
    label: str
    series: tuple[str, bool]
    value: int
    height: float
    head: str = ""
    loose: bool = False

    @property
    def distance(self) -> int:
        """How far the number of the sheet is from that of the page."""
        return self.page - self.value


# What the numbers of consecutive pages share: their series, and their distance from the sheets.
_Key = tuple[tuple[str, bool], int]


def value_of(printed: str) -> Printed | None:
    """Return whether a printed number is Roman, and its value; None if it is no number."""
    text = printed.strip().lower()
    if text.isdecimal():
        return (False, int(text)) if len(text) <= _LONGEST else None
    return (True, _ROMAN[text]) if text in _ROMAN else None


def read_labels(pages: Sequence[PageRows], declared: Sequence[str]) -> dict[int, str]:
    """Return the labels of pages, as the file declares them unless its print contradicts.

    `declared` has one label a page, or is empty. Of pages that bear no number there is none.
    """
    printed, stated = printed_labels(pages), _believable(declared)
    both = printed.keys() & stated.keys()
    agreeing = sum(_counted(printed[page]) == _counted(stated[page]) for page in both)
    labels = {**printed, **stated} if 2 * agreeing >= len(both) else printed
    return labels if 2 * len(labels) >= len(pages) else {}


def labels_of_pages(labels: Mapping[int, str], count: int) -> tuple[str, ...]:
    """Return one label a page, "" where there is none; nothing where they say what the sheets say.

    >>> labels_of_pages({2: "1", 3: "2"}, count=3)
    ('', '1', '2')
    """
    if all(label == str(page) for page, label in labels.items()):
        return ()
    return tuple(labels.get(page, "") for page in range(1, count + 1))


def without_numbers(pages: Sequence[PageRows], labels: Mapping[int, str]) -> list[PageRows]:
    """Return the pages without the outer rows that are nothing but their label."""
    kept = []
    for page in pages:
        label = labels.get(page.number)
        if label is None:
            kept.append(page)
            continue
        outer = (row for side in _margins(page) for row in side[:_OUTER_ROWS])
        numbers = {id(row) for row in outer if any(number.label == label for number in _alone(row, page))}
        kept.append(replace(page, rows=tuple(row for row in page.rows if id(row) not in numbers)))
    return kept


def declared_label(text: str) -> str:
    """Return the label of a page as a file declares it, without the word for a page; "" if it is none.

    >>> declared_label("Page 5"), declared_label("Cover"), declared_label("A-5")
    ('5', '', 'A-5')
    """
    match = _DECLARED.fullmatch(" ".join(text.split()).rstrip("."))
    return match["label"].strip() if match and _counted(match["label"]) is not None else ""


def tells_apart(labels: Sequence[str]) -> bool:
    """Return whether there are labels, and most of them say another page than the one before."""
    repeated = sum(label == before != "" for before, label in pairwise(labels))
    return any(labels) and repeated <= _REPEATED * len(labels)


def _believable(declared: Sequence[str]) -> dict[int, str]:
    """Return the declared labels by page; nothing if they are the sheets' or do not tell pages apart."""
    labels = list(map(declared_label, declared))
    named = {page: label for page, label in enumerate(labels, 1) if label}
    is_known = not tells_apart(labels) or all(_is_sheet(page, label) for page, label in named.items())
    return {} if is_known else named


def _is_sheet(page: int, label: str) -> bool:
    return _counted(label) == (False, page)


def _counted(label: str) -> Printed | None:
    """Return the part of a label that counts: 14 of "2-14"."""
    return value_of(re.split(r"[-–./ ]|(?<=[A-Za-z])(?=\d)", label)[-1])


def printed_labels(pages: Sequence[PageRows]) -> dict[int, str]:
    """Return the labels that pages bear in print.

    Numbers are believed that count with the pages on three of them at one place. So are those between: the first page
    of a chapter often hides its own.
    """
    series: defaultdict[_Key, list[_Number]] = defaultdict(list)
    for number in _trusted(pages):
        series[number.series, number.distance].append(number)
    # All pages of a sheet with two sides, but of a single page nothing is known.
    least = 2 if len(pages) == 2 else _FEWEST_PAGES
    runs = {key: believed for key, numbers in series.items() if (believed := _runs(numbers, least))}
    runs |= _further(series, runs)
    labels: dict[int, str] = {}
    shown = {number.page for numbers in runs.values() for number in numbers}
    for key, numbers in sorted(runs.items(), key=lambda one: -len(one[1])):
        own = {number.page: number.label for number in numbers}
        for page in range(_first_page(key, own), max(own) + 1):
            if page not in labels and (page in own or page not in shown):
                labels[page] = own.get(page) or _label(key, page, numbers[0].label)
    return labels


def _first_page(key: _Key, own: Mapping[int, str]) -> int:
    """Return the first page of a run: nothing but page 1 is before page 2, though it hides its number."""
    first = min(own)
    return first - 1 if first - key[1] == 2 and first > 1 else first


def _label(key: _Key, page: int, like: str) -> str:
    (before, is_roman), distance = key
    if not is_roman:
        return f"{before}{page - distance}"
    written = roman(page - distance)
    return before + (written.upper() if like.isupper() else written)


def _trusted(pages: Sequence[PageRows]) -> list[_Number]:
    """Return the numbers of margins that stand alone, are called pages, or are beside a recurrent head."""
    body = body_size(pages)
    numbers = [number for page in pages for number in _numbers_on(page, body)]
    heads = Counter((number.head, number.loose) for number in numbers if number.head)
    return [n for n in numbers if not n.head or heads[n.head, n.loose] >= (_FEWEST_PAGES if n.loose else 2)]


def _runs(numbers: Sequence[_Number], least: int) -> list[_Number]:
    """Return the numbers of a series that follow each other on enough pages, at one place."""
    found: list[_Number] = []
    run: list[_Number] = []
    for number in numbers:
        if run and number.page - run[-1].page > _HIDDEN:
            found += run if _is_enough(run, least) else []
            run = []
        run.append(number)
    return found + (run if _is_enough(run, least) else [])


def _is_enough(run: Sequence[_Number], least: int) -> bool:
    if all(number.value in _YEARS for number in run) and len({number.page for number in run}) < _MANY_PAGES:
        return False
    return any(len({one.page for one in run if _is_level(one, number)}) >= least for number in run)


def _is_level(one: _Number, other: _Number) -> bool:
    return abs(one.height - other.height) < _SAME_PLACE


def _further(series: Mapping[_Key, list[_Number]], runs: Mapping[_Key, list[_Number]]) -> dict[_Key, list[_Number]]:
    """Return short runs that longer ones bear out: of a preface, and of short chapters."""
    arabic = [number for (kind, _), run in runs.items() if not kind[1] for number in run]
    chapters = [number for (kind, _), run in runs.items() if kind[0] for number in run]
    first = min((number.page for number in arabic), default=0)
    found: dict[_Key, list[_Number]] = {}
    for key, numbers in series.items():
        (before, is_roman), _ = key
        alone = [number for number in numbers if not number.head]
        preface = is_roman and not before and _follow(alone) and alone[-1].page < first
        chapter = bool(before) and any(_is_level(one, other) for one in alone for other in chapters)
        if key not in runs and (preface or chapter):
            found[key] = alone
    return found


def _follow(numbers: Sequence[_Number]) -> bool:
    return any(_is_level(one, after) and after.page == one.page + 1 for one, after in pairwise(numbers))


def _numbers_on(page: PageRows, body: float) -> Iterator[_Number]:
    """Yield the numbers in the margins that may be the page's; larger ones are those of chapters.

    `body` is the size of the text, 0 if it is not known.
    """
    sides = _margins(page)
    outer = {id(row) for side in sides for row in _apart(side)}
    for row in (row for side in sides for row in side if row.size <= _LARGE * body or not body):
        alone = list(_alone(row, page))
        yield from alone
        if not alone and id(row) in outer and len(row.text) <= _LONGEST_HEAD:
            yield from _beside(row, page, small=row.size < _SMALL * body)


def _margins(page: PageRows) -> tuple[list[TextRow], list[TextRow]]:
    """Return the rows in the upper and in the lower margin, the outermost first."""
    upper = [row for row in page.rows if row.box.y1 < _MARGIN * _height(row, page)]
    lower = [row for row in page.rows if row.box.y0 > (1 - _MARGIN) * _height(row, page)]
    return sorted(upper, key=lambda row: row.box.y0), sorted(lower, key=lambda row: -row.box.y1)


def _height(row: TextRow, page: PageRows) -> float:
    """Return the height of a page as a row reads; one on its side has its head and foot there."""
    return size_of(row.turned, page.width, page.height)[1] if row.turned else page.height


def _apart(side: Sequence[TextRow]) -> list[TextRow]:
    """Return the outermost rows of a margin, as far as a gap parts them from the text: a table has none."""
    levels: list[list[TextRow]] = []
    for row in side:
        if levels and any(row.box.y0 < one.box.y1 and one.box.y0 < row.box.y1 for one in levels[-1]):
            levels[-1].append(row)
        elif levels and _gap(levels[-1][0], row) > levels[-1][0].box.y1 - levels[-1][0].box.y0:
            break
        else:
            levels.append([row])
    return [row for level in levels for row in level] if len(levels) <= _OUTER_ROWS else []


def _gap(row: TextRow, inner: TextRow) -> float:
    return max(inner.box.y0 - row.box.y1, row.box.y0 - inner.box.y1)


def _alone(row: TextRow, page: PageRows) -> Iterator[_Number]:
    """Yield the number that makes up a row, with the word for a page."""
    match = _ALONE.fullmatch(row.text) or _CALLED.fullmatch(row.text.strip("-–—|[]() "))
    yield from _number(match or _CALLED_AFTER.fullmatch(row.text), row, page)


def _beside(row: TextRow, page: PageRows, *, small: bool) -> Iterator[_Number]:
    """Yield the numbers of a row that are called pages, or stand at its edge.

    Where nothing parts them from its words, these are `small`, or several: others may be a heading.
    """
    called = _CALLED.search(row.text) or _CALLED_AFTER.search(row.text)
    if called:
        yield from _number(called, row, page)
        return
    first, *others = _PARTS.split(row.text)
    if others:
        yield from _number(_ALONE.fullmatch(first), row, page, head=" ".join(others))
        if not _names_unit(before := " ".join((first, *others[:-1]))):
            yield from _number(_ALONE.fullmatch(others[-1]), row, page, head=before)
    elif not row.bold and (small or len(row.text.split()) > _FEW_WORDS):
        for match in filter(None, (_FIRST.fullmatch(row.text), _LAST.fullmatch(row.text))):
            if not _is_dated(match) and (match.re is _FIRST or not _names_unit(match["rest"])):
                yield from _number(match, row, page, head=match["rest"], loose=True)


def _is_dated(match: re.Match[str]) -> bool:
    """Return whether the number is that of a day in a date."""
    place = match.start("label")
    return any(date.start <= place < date.end for date in written_dates(match.string))


def _names_unit(head: str) -> bool:
    """Return whether the number behind these words is that of an article, a table or a measure."""
    return head.rsplit(maxsplit=1)[-1].strip(".,:°º").lower() in _units()


@cache
def _units() -> frozenset[str]:
    listed = read_table("abbreviations").values()
    return frozenset(_UNITS) | {word for one in listed for name in ("labelled", "number") for word in one.get(name, ())}


def _number(
    match: re.Match[str] | None, row: TextRow, page: PageRows, *, head: str = "", loose: bool = False
) -> Iterable[_Number]:
    if match is None or (counted := _counted(match["label"])) is None:
        return
    label = match["label"]
    before = label[: re.search(rf"{_COUNTER}$", label).start()]  # type: ignore[union-attr]
    height = (row.box.y0 + row.box.y1) / 2 / max(_height(row, page), 1.0)
    # The numbers in a head change with the chapter or the date.
    words = _DIGITS.sub("#", head.lower())
    yield _Number(page.number, label, (before, counted[0]), counted[1], height, words, loose)
