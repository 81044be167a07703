"""Identifiers of a law as XML: stated in its metadata, or made of the parts that Formex gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingestion.extraction.formats.law.schemes import Scheme, local_name, values_at, words_of
from ingestion.extraction.formats.zip_container import Element
from ingestion.extraction.identifiers import named_in

# The title of an act has its kind and its number before the words on what it is about.
_TITLE = 120
_DAY = re.compile(r"(?:19|20)\d{6}")


def law_identifiers(scheme: Scheme, root: Element) -> tuple[str, ...]:
    """Return the identifiers that a law states of itself, each once."""
    stated = [value for path in scheme.table.get("identifiers", ()) for value in values_at(root, path)]
    found = named_in(stated)
    return named_in((*found, *_celex_numbers(scheme, root, found)))


def _celex_numbers(scheme: Scheme, root: Element, found: tuple[str, ...]) -> Iterator[str]:
    """Yield the CELEX number of an act without one, and that of a consolidated act with its day."""
    acts = scheme.table.get("acts")
    if acts is None:
        return
    consolidated = root.find(".//INFO.CONSLEG")
    if consolidated is not None:
        day, reference = consolidated.get("START.DATE", ""), consolidated.get("CONSLEG.REF", "").lstrip("0")
        act = next(iter(found), f"3{reference}").lstrip("0")
        if _DAY.fullmatch(day):
            yield f"0{act[1:]}-{day}"
    elif not found and local_name(root) == "ACT":
        yield from _celex_of_act(root, acts)


def _celex_of_act(root: Element, acts: dict[str, list[str]]) -> Iterator[str]:
    """Yield the CELEX number that the kind, the year and the number of an act make."""
    title = root.find("TITLE")
    heading = "" if title is None else words_of(title)[:_TITLE].upper()
    year, number = (root.findtext(f"BIB.INSTANCE//NO.DOC/{part}") or "" for part in ("YEAR", "NO.CURRENT"))
    places = [(heading.find(word), kind) for kind, words in acts.items() for word in words if word in heading]
    if places and year.isdecimal() and number.isdecimal():
        year = year if len(year) == len("2024") else f"19{year:0>2}"
        yield f"3{year}{min(places)[1]}{number:0>4}"
