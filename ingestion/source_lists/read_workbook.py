"""New sources from the analyst's own list.

A workbook, CSV, sitemap, feed, list of addresses or folder of files.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from pathlib import Path

from ingestion.extraction.file_type import OLE, detect
from ingestion.metadata_file import NAME as DESCRIPTIONS
from ingestion.metadata_file import read_descriptions
from ingestion.source_lists.columns import SourceColumns, find_columns
from ingestion.source_lists.feeds import FeedEntry, list_kind, read_entries, read_sitemap, unpack
from ingestion.source_lists.merge import (
    SourceCandidate,
    SourceListReading,
    SourceListReport,
    match_sources,
    prefix_for,
    whole,
)
from ingestion.source_lists.urls import Addresses, addresses_in, why_refused
from ingestion.spreadsheets.list_rows import read_delimited, read_head, read_rows, sniff_encoding
from ingestion.spreadsheets.row import Row, column_letter
from ingestion.types.outcome import Refusal
from ingestion.types.source import ListedSource
from ingestion.web.urls import normal_url
from rag_engine.errors import InputError
from rag_engine.messages import Message, join_messages
from rag_engine.text.file_kinds import why_no_file

_JUDGED_ROWS = 200
_MOST_XML_BYTES = 50_000_000
_TABLES = (".csv", ".tsv", ".tab")


def read_source_list(path: Path, known: Sequence[ListedSource]) -> SourceListReport:
    """Return the sources of a list that are not known yet.

    InputError if it is no list or holds no address at all.

    The kind of list is known by its content. A row is known when its address or path is, however it is spelt.
    """
    reading = SourceListReading()
    if path.is_dir():
        _read_folder(path, reading)
    else:
        _read_file(path, frozenset(source.code.casefold() for source in known), reading)
    return match_sources(reading, known)


def _read_file(path: Path, known: Collection[str], reading: SourceListReading) -> None:
    head = read_head(path)
    if not head.strip():
        raise InputError(
            "{file} is empty.", help='Give a list with a column "URL", or one address a line.', file=path.name
        )
    if head.startswith(b"%PDF-"):
        raise InputError(
            "{file} is a document and not a list of sources.",
            help="Put it into a folder and give the folder.",
            file=path.name,
        )
    if head.startswith((b"PK", OLE)):
        _read_table(path, read_rows(path), known, reading)
    elif head.startswith(b"\x1f\x8b") or head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
        _read_xml(path, reading)
    else:
        if sniff_encoding(path) == "cp1252":
            reading.warnings.append(
                Message("{file} is not UTF-8 and was read as Windows-1252; check accented letters.", file=path.name)
            )
        if path.suffix.lower() in _TABLES or _is_table(path):
            _read_table(path, read_delimited(path), known, reading)
        else:
            _read_lines(path, reading)


def _is_table(path: Path) -> bool:
    """Return whether a text file has a header for addresses, and is no bare list of them."""
    try:
        head = list(islice(read_delimited(path), _JUDGED_ROWS))
    except InputError:  # a line longer than any cell; what is wrong with it is reported where lines are read
        return False
    columns = find_columns(head)
    return bool(columns.header and columns.urls and len(head) > 1)


def _read_table(path: Path, rows: Iterable[Row], known: Collection[str], reading: SourceListReading) -> None:
    sheets = groupby(rows, key=lambda row: row.sheet)
    seen = [_read_sheet(path, sheet, group, known, reading) for sheet, group in sheets]
    if not reading.candidates and not reading.refused and not reading.known:
        seen = seen or [Message("no cell with anything in it")]
        raise InputError(
            "{file} holds no web address. Seen: {seen}.",
            help='Add a column named "URL" with addresses that begin with http:// or https://.',
            file=path.name,
            seen="; ".join(seen),
        )


def _read_sheet(path: Path, sheet: str, rows: Iterator[Row], known: Collection[str], reading: SourceListReading) -> str:
    """Add the sheet's candidates, and its refused rows unless no row has an address at all.

    Return its headings.
    """
    head = list(islice(rows, _JUDGED_ROWS))
    columns = find_columns(head)
    found, meant = SourceListReading(), False
    for row in chain(head, rows):
        if row.number <= columns.header or tuple(cell.strip() for cell in row.cells) == columns.names:
            continue
        addresses, from_link = _addresses(row, columns, found.warnings)
        code = row.cell(columns.code)
        formula = next((column for column in row.unsaved if column == columns.code or column in columns.urls), None)
        if formula is not None and (not addresses.found or formula == columns.code):
            found.reject(
                row.place,
                Message(
                    "cell {cell} holds a formula without its value; open the list in Excel or LibreOffice, save it, "
                    "and take it again",
                    cell=f"{column_letter(formula)}{row.number}",
                ),
            )
            meant = True
        elif addresses.found:
            found.candidates += _candidates(path, row, columns, addresses.found, from_link)
            # One address is enough for a source; what else the row holds is reported all the same.
            found.warnings += [
                Message("One address of {place} was not taken: {why}.", place=row.place, why=reason)
                for reason in addresses.refused
            ]
        elif code and code.casefold() in known and not addresses.refused:
            found.known += 1
        else:
            found.reject(row.place, join_messages(addresses.refused, "; ") or Message("no web address in any column"))
            meant = meant or bool(addresses.refused)
    names = ", ".join(name for name in (columns.names or (head[0].cells if head else ())) if name)[:300]
    reading.candidates += found.candidates
    reading.warnings += found.warnings
    reading.known += found.known
    if found.candidates or found.known or meant:
        reading.refused += found.refused
        reading.unused += columns.unused()
    else:
        reading.warnings.append(Message("{sheet} holds no web address and was left out.", sheet=sheet))
    return f"{sheet} ({names})"


def _addresses(row: Row, columns: SourceColumns, warnings: list[Message]) -> tuple[Addresses, int | None]:
    """Return the row's addresses.

    Of its address columns, else behind or in any other cell that may hold one.

    The second value is the column whose link gave them while the cell shows a text.
    """
    found: list[str] = []
    refused: list[Message] = []
    shown_by: int | None = None
    for column in columns.urls:
        text, link = row.cell(column), row.links.get(column, "")
        shown = addresses_in(text)
        if shown.found and link and normal_url(link) not in {normal_url(url) for url in shown.found}:
            warnings.append(
                Message(
                    "{place}: the cell shows {address} but leads to {link}; what it shows was taken.",
                    place=row.place,
                    address=shown.found[0],
                    link=link,
                )
            )
        if not shown.found and link:
            behind = _link(link)
            shown_by = column if behind.found and text and shown_by is None else shown_by
            shown = Addresses(behind.found, behind.refused if not shown.refused else shown.refused)
        elif not shown.found and not shown.refused and text:
            reason = Message("“{text}” is no web address; it must begin with http:// or https://", text=text[:80])
            shown = Addresses((), (reason,))
        found += shown.found
        refused += shown.refused
    if not found:
        apart = {columns.notes, columns.licence, columns.code, *columns.urls}
        for column, link in sorted(row.links.items()):
            if column not in apart and (behind := _link(link)).found:
                return behind, column
            refused += _link(link).refused if column not in apart else ()
        if not columns.urls:
            texts = (cell for column, cell in enumerate(row.cells) if column not in apart)
            found += next((shown.found for text in texts if (shown := addresses_in(text)).found), ())
    return Addresses(tuple(dict.fromkeys(found)), tuple(dict.fromkeys(refused))), shown_by


def _link(target: str) -> Addresses:
    """Return the address behind a cell.

    A link may hold spaces that its program encodes when it follows it.
    """
    address = target.strip().replace(" ", "%20")
    reason = why_refused(address)
    return Addresses((), (reason,)) if reason else Addresses((address,))


def _candidates(
    path: Path, row: Row, columns: SourceColumns, urls: Sequence[str], from_link: int | None
) -> Iterator[SourceCandidate]:
    shown = row.cell(from_link)
    # Behind a cell that says "open" or "PDF" there is a link; it is nobody's title.
    title = row.cell(columns.title) or (shown if len(shown.split()) > 2 else "")
    source = ListedSource(
        row.cell(columns.code),
        title=" ".join(title.split()),
        authority=" ".join(row.cell(columns.authority).split()),
        notes=row.cell(columns.notes),
        licence=row.cell(columns.licence),
        origin=row.place if row.sheet == path.name else join_messages([path.name, row.place], ", "),
    )
    for part, url in enumerate(urls, 1):
        yield SourceCandidate(row.place, replace(source, url=url), part)


def _read_lines(path: Path, reading: SourceListReading) -> None:
    """Add the addresses of a plain list: one or more a line, with or without a title."""
    with path.open(encoding=sniff_encoding(path), errors="replace") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            place = Message("line {which}", which=str(number))
            addresses = addresses_in(text, with_words=True)
            for url in addresses.found:
                beside = text.replace(url, " ").replace(url.removeprefix("http://"), " ")
                title = " ".join(beside.strip(" \t,;|:-–—<>()\"'").split()) if len(addresses.found) == 1 else ""
                source = ListedSource("", url, title=title, origin=join_messages([path.name, place], ", "))
                reading.candidates.append(SourceCandidate(place, source))
            if not addresses.found:
                reading.reject(
                    place,
                    join_messages(addresses.refused, "; ") or Message("“{text}” holds no web address", text=text[:80]),
                )
    if not reading.candidates:
        raise InputError(
            "{file} holds no web address in its lines.",
            help="Write one address a line, each beginning with http:// or https://.",
            file=path.name,
        )


def _read_xml(path: Path, reading: SourceListReading) -> None:
    if path.stat().st_size > _MOST_XML_BYTES:
        raise InputError(
            "{file} has more than {limit:,} bytes.",
            help="Split it into several lists.",
            file=path.name,
            limit=_MOST_XML_BYTES,
        )
    body = unpack(path.read_bytes())
    if (entries := read_entries(body)) is not None:
        add_entries(entries, path.name, reading)
    elif list_kind(body) == "sitemap index":
        taken: set[Path] = set()
        for entry in read_sitemap(body):
            beside = path.parent / entry.url.rstrip("/").rpartition("/")[2]
            if beside in taken:
                continue
            if _is_sitemap_beside(path, beside):
                taken.add(beside)
                _read_xml(beside, reading)
            else:
                reading.reject(
                    Message(entry.url),
                    Message("a sitemap that does not lie beside {file}; discover it", file=path.name),
                )
    else:
        raise InputError(
            "{file} is neither a sitemap nor an RSS or Atom feed.",
            help="For a web page, discover sources at its address instead.",
            file=path.name,
        )
    if not reading.candidates and not reading.refused:
        raise InputError("{file} lists no address.", help="Check that it was downloaded whole.", file=path.name)


def _is_sitemap_beside(index: Path, path: Path) -> bool:
    """Return whether the folder of a sitemap has an index too: reading sources never uses the network.

    The index names it, and may be anybody's.
    """
    if path == index or why_no_file(path, index.parent) or not os.path.isfile(path):  # noqa: PTH113 - too long a name
        return False
    return path.stat().st_size > _MOST_XML_BYTES or list_kind(unpack(path.read_bytes())) == "sitemap"


def add_entries(entries: Iterable[FeedEntry], name: str, reading: SourceListReading) -> None:
    """Add the entries of a sitemap or feed called `name` to the candidates, or report why not."""
    for number, entry in enumerate(entries, 1):
        place = join_messages([name, Message("entry {which}", which=str(number))], ", ")
        if reason := why_refused(entry.url):
            reading.reject(place, reason)
        else:
            notes = f"Dated {entry.date}" if entry.date else ""
            source = ListedSource("", entry.url, title=entry.title, notes=notes, origin=place)
            reading.candidates.append(SourceCandidate(place, source))


def _read_folder(path: Path, reading: SourceListReading) -> None:
    """Add every readable file, described by the metadata.jsonl of its folder if there is one."""
    inside = sorted(one for one in path.rglob("*") if one.is_file() and one.name != DESCRIPTIONS)
    files = [one for one in inside if not any(part.startswith(".") for part in one.relative_to(path).parts)]
    described = {folder: read_descriptions(folder) for folder in dict.fromkeys(one.parent for one in files)}
    for file in files:
        place, location = Message(whole(str(file.relative_to(path)))), str(file.absolute())
        if whole(location) != location:
            reading.reject(place, Message("the name of the file or its folder is not UTF-8; rename it"))
            continue
        if why := why_no_file(file, path):
            reading.reject(place, why)
            continue
        try:
            detect(file)
        except Refusal as refusal:
            # What else is wrong with a file is found and reported when it is read.
            if refusal.reason in ("unsupported_type", "empty"):
                reading.reject(place, refusal.message)
                continue
        except OSError as error:
            reading.reject(place, Message("cannot be read: {error}", error=Message(error.strerror or "")))
            continue
        given = described[file.parent].get(file.name, {})
        texts = {name: str(given.get(name, "")) for name in ("title", "authority", "notes", "licence")}
        source = ListedSource("", path=location, origin=join_messages([path.name, place], "/"), **texts)
        reading.candidates.append(SourceCandidate(place, source, prefix=prefix_for(path.absolute().name)))
    if not reading.candidates and not reading.refused:
        raise InputError("{path} holds no file.", help="Give a folder with documents in it.", path=path)
