"""A record of a catalogue, and which of its addresses is the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.web.links import suffix_of

# Best first. What is in none of these groups is data for machines, not a document for people.
_GROUPS: tuple[tuple[str, ...], ...] = (
    ("pdf",),
    ("doc", "docx", "odt", "rtf", "docm", "msword", "word", "epub", "ppt", "pptx", "odp", "opendocument.text"),
    ("html", "htm", "xhtml", "website", "web page", "webpage", "web", "link"),
)


@dataclass(frozen=True, slots=True)
class Distribution:
    """One downloadable form of a record.

    `format` is as the catalogue writes it ("PDF", "application/pdf").
    """

    url: str
    format: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A dataset or publication as its catalogue describes it.

    `url` is "" if it offers no document for people. `description` serves only to judge its subject.
    """

    title: str
    url: str
    authority: str = ""
    licence: str = ""
    description: str = ""


def best_address(distributions: Sequence[Distribution], page: str = "") -> str:
    """Return the address of the best form, or "" if all forms are data.

    The order is PDF, other documents, web pages, the record's own page.

    >>> best_address([Distribution("https://e.org/a.csv", "CSV"), Distribution("https://e.org/a.pdf", "PDF")])
    'https://e.org/a.pdf'
    """
    ranked = [(_group(one), place, one.url) for place, one in enumerate(distributions) if one.url]
    documents = [one for one in ranked if one[0] < len(_GROUPS)]
    if documents:
        return min(documents)[2]
    # A record with nothing but tables and maps is no document; one that lists no forms at all may be one.
    return page if not ranked else ""


def _group(distribution: Distribution) -> int:
    declared = distribution.format.lower().rpartition("/")[2].strip(" .")
    suffix = suffix_of(distribution.url)
    for place, names in enumerate(_GROUPS):
        if declared in names or suffix in names or any(len(name) > 3 and name in declared for name in names):
            return place
    # Addresses without format and suffix are mostly pages.
    return len(_GROUPS) - 1 if not declared and not suffix else len(_GROUPS)
