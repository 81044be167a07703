"""Zip-based documents, opened with care: bounded in size, entries and growth; names are never paths."""

from __future__ import annotations

import re
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from lxml import etree

from ingestion.extraction.formats.refusals import damaged, locked
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal

Element = etree._Element  # noqa: SLF001 - the only name lxml has for the type of an element

# How a part is damaged that zipfile cannot unpack, also on behalf of a library.
UNPACKING_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)
_GROWTH_COUNTS_FROM = 50_000_000
_RELATIONS = "_rels/.rels"
# The strict form of Open XML names everything otherwise: ISO/IEC 29500-1.
_STRICT = b"http://purl.oclc.org/ooxml/"
_STRICT_NAME = re.compile(re.escape(_STRICT) + rb"(\w+)/")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
# Word takes no larger one.
_LARGEST = 32_767


class Package:
    """The parts of a zip-based document by their names; Refusal for a missing, damaged or locked part."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive = archive
        self._path = path
        self.names = frozenset(archive.namelist())

    def read(self, name: str, most: int | None = None) -> bytes:
        """Return the bytes of a part, never more than it declares."""
        try:
            entry = self._archive.getinfo(name)
            if entry.flag_bits & 1:
                raise locked(self._path)
            with self._archive.open(entry) as stream:
                return stream.read(entry.file_size if most is None else most)
        except KeyError as error:
            raise damaged(self._path, f"its part {name!r} is missing") from error
        except UNPACKING_ERRORS as error:
            raise damaged(self._path, f"its part {name!r} cannot be unpacked ({error})") from error

    def xml(self, name: str) -> Element:
        """Return the root of an XML part, parsed without entities, network or documents of unbounded depth."""
        try:
            return etree.fromstring(self.read(name), safe_parser())
        except etree.XMLSyntaxError as error:
            raise damaged(self._path, f"its part {name!r} is not valid XML ({error.msg})") from error

    def find(self, name: str) -> Element | None:
        """Return the root of an XML part; None if there is no such part."""
        return self.xml(name) if name in self.names else None

    def count(self, parts: str, tag: str) -> int:
        """Return how many elements of a name are in the parts whose whole names fit a pattern."""
        roots = (parse_xml(self.read(name)) for name in self.names if re.fullmatch(parts, name))
        return sum(1 for root in roots if root is not None for _ in root.iter(tag))

    def stream(self, name: str) -> IO[bytes]:
        """Open a part, to be read piece by piece; its errors are those of zipfile."""
        return self._archive.open(name)


@contextmanager
def open_package(path: Path, limits: ExtractionLimits | None = None) -> Iterator[Package]:
    """Yield the parts of the document at a path.

    Refusal "damaged" if it is no such document, "too_large" if it claims to exceed the limits.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise damaged(path, error) from error
    with archive:
        if limits is not None:
            _check(archive, path, limits)
        yield Package(archive, path)


@contextmanager
def transitional(path: Path, limits: ExtractionLimits) -> Iterator[Path]:
    """Yield the path of an Open XML document, or of a copy of a strict one by the names that readers know."""
    with open_package(path, limits) as package:
        if _RELATIONS not in package.names or _STRICT not in package.read(_RELATIONS):
            yield path
            return
        with tempfile.TemporaryDirectory(prefix="sextant-strict-") as folder:
            copy = Path(folder) / path.name
            with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as archive:
                for name in sorted(package.names):
                    archive.writestr(name, _STRICT_NAME.sub(_TRANSITIONAL, package.read(name)))
            yield copy


def _check(archive: zipfile.ZipFile, path: Path, limits: ExtractionLimits) -> None:
    entries = archive.infolist()
    size = sum(entry.file_size for entry in entries)
    packed = max(1, sum(entry.compress_size for entry in entries))
    if len(entries) > limits.archive_entries:
        raise _too_large(
            "{file} holds {count} entries; the limit is {limit}.",
            file=path.name,
            count=len(entries),
            limit=limits.archive_entries,
        )
    if size > limits.unpacked_bytes:
        raise _too_large(
            "{file} unpacks to {size:,} bytes; the limit is {limit:,}.",
            file=path.name,
            size=size,
            limit=limits.unpacked_bytes,
        )
    if size > _GROWTH_COUNTS_FROM and size / packed > limits.archive_ratio:
        raise _too_large(
            "{file} grows {times} times when unpacked; the limit is {limit:g}.",
            file=path.name,
            times=size // packed,
            limit=limits.archive_ratio,
        )


def safe_parser() -> etree.XMLParser:
    """Return an XML parser that expands no entities and fetches nothing.

    `huge_tree` stays off: it is libxml2's own guard against depth and entity bombs.
    """
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)


def parse_xml(body: bytes) -> Element | None:
    """Return the root of an XML document that is not one of a package; None if it is none."""
    try:
        return etree.fromstring(body, safe_parser())
    except (etree.XMLSyntaxError, ValueError):
        return None


def whole_number(stated: str | None, usual: int) -> int:
    """Return the number that an attribute states, or the usual one if it states none.

    It is at most the largest number that office programs take.
    """
    return min(int(stated), _LARGEST) if stated and _NUMBER.fullmatch(stated.strip()) else usual


def parts_outside(element: Element, boxes: Collection[str], *tags: str) -> Iterator[Element]:
    """Yield the parts of an element with these names that are not within a box of it."""
    for part in element.iter(*tags):
        around = part.iterancestors(*boxes, str(element.tag))
        if next((one for one in around if one is element or one.tag in boxes), None) is element:
            yield part


def _too_large(fault: str, **values: Any) -> Refusal:
    return Refusal("too_large", fault, help="Split it, or save it as PDF, and add that.", **values)
