"""Identifiers that a document states as its own: in its file, at its head, or in its address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from urllib.parse import unquote

from ingestion.file_reading import FileProperties
from rag_engine.text.identifiers import find_identifiers, read_identifier, stated_identifiers
from rag_engine.types.document import ExtractedText

# Further down a document cites others.
_HEAD_LINES, _HEAD = 40, 3_000
_LONGEST_LINE = 200
# Of addresses alone: where a portal names a document. Summaries of an act have its number too.
_IN_ADDRESS = re.compile(
    r"/TXT\b.*?[?&]uri=CELEX(?::|%3A)(?P<celex>[\w()-]+)|(?:undocs\.org/(?:[a-z]{2}/)?|[?&]symbol=)(?P<un>[\w./()-]+)"
    r"|[?&]id=(?P<boe>BOE-[\w-]+)|(?P<eli>https?://[^/?#]+/(?:[\w.-]+/)?eli/[^?#\s]+)"
    r"|(?P<uk>legislation\.gov\.uk/[^?#\s]+)|(?P<legi>(?:LEGI|JORF)TEXT\d{12})",
    re.IGNORECASE,
)


def identifiers_of(
    extracted: ExtractedText, properties: FileProperties, addresses: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the identifiers of a document, each once: those of its file, else of its head and address."""
    if properties.identifiers:
        return properties.identifiers
    head = islice(extracted.text[:_HEAD].splitlines(), _HEAD_LINES)
    lines = [line for line in (*head, *properties.margins) if len(line) <= _LONGEST_LINE]
    return tuple(dict.fromkeys((*stated_identifiers(lines), *_named_by(addresses))))


def named_in(stated: Iterable[str]) -> tuple[str, ...]:
    """Return the identifiers among the values that a file states, each once."""
    read = (read_identifier(value) for value in stated)
    return tuple(dict.fromkeys(one.value for one in read if one))


def _named_by(addresses: Iterable[str]) -> Iterator[str]:
    for address in addresses:
        found = _IN_ADDRESS.search(unquote(address))
        if found:
            yield from (one.identifier.value for one in find_identifiers(found[found.lastgroup or 0])[:1])
