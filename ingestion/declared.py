"""What a file says of itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ingestion.extraction.assemble import tidy

_LONGEST_NAME = 500
_LONGEST_TEXT = 2_000
_MOST_NAMES = 30


@dataclass(frozen=True, slots=True)
class Declared:
    """The properties of a file, each empty where it declares none.

    `date` is the day of publication, an ISO date or its prefix; `created` the day on which the file was made, which
    for a copy or an excerpt is any later day. `margins` are the lines that return at the head or foot of its first
    pages: extraction leaves them out of the text, and journals print their date there.
    """

    title: str = ""
    authors: tuple[str, ...] = ()
    publisher: str = ""
    language: str = ""
    date: str = ""
    subject: str = ""
    keywords: tuple[str, ...] = ()
    description: str = ""
    created: str = ""
    margins: tuple[str, ...] = ()


def declared_of(
    *,
    title: Iterable[str | None] = (),
    authors: Iterable[str | None] = (),
    publisher: Iterable[str | None] = (),
    language: Iterable[str | None] = (),
    date: Iterable[str] = (),
    subject: Iterable[str | None] = (),
    keywords: Iterable[str | None] = (),
    description: Iterable[str | None] = (),
    created: Iterable[str] = (),
    margins: Iterable[str] = (),
) -> Declared:
    """The first that says anything of each kind, on one line and no longer than a person would write it."""
    return Declared(
        title=_first(title),
        authors=_all(authors),
        publisher=_first(publisher),
        language=_first(language)[:35],
        date=next(filter(None, date), ""),
        subject=_first(subject),
        keywords=_all(keywords),
        description=_first(description, _LONGEST_TEXT),
        created=next(filter(None, created), ""),
        margins=_all(margins),
    )


def _first(values: Iterable[str | None], longest: int = _LONGEST_NAME) -> str:
    return next((text for value in values if value and (text := tidy(value[: 2 * longest])[:longest].strip())), "")


def _all(values: Iterable[str | None]) -> tuple[str, ...]:
    named = (tidy(value[:_LONGEST_NAME]) for value in values if value)
    return tuple(dict.fromkeys(filter(None, named)))[:_MOST_NAMES]
