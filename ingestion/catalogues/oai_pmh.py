"""Records in the XML of OAI-PMH (Dublin Core)."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from ingestion.catalogues.record import Distribution, Record, best_address
from ingestion.web.html import Element
from ingestion.web.links import absolute

_DC = "{http://purl.org/dc/elements/1.1/}"


def parse_xml(body: bytes) -> Element | None:
    """Return the root of an XML document, read without entities, network or oversized trees; None when it is none."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(body, parser=parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def oai_error(root: Element) -> str:
    """Return the code and text of the error that an answer is, or ""."""
    for element in root.iter("{*}error"):
        return f"{element.get('code', 'error')} {' '.join((element.text or '').split())[:200]}".strip()
    return ""


def oai_token(root: Element) -> tuple[str, int]:
    """Return the token for the next part, "" at the end, and how many records there are in all (0 if unknown)."""
    for element in root.iter("{*}resumptionToken"):
        total = element.get("completeListSize", "")
        return (element.text or "").strip()[:2000], int(total[:9]) if total.isascii() and total.isdigit() else 0
    return "", 0


def oai_records(root: Element) -> Iterator[Record]:
    """Return the records in order, without deleted ones.

    The address is the identifier or relation that is a document, else the first that is an address.
    """
    for record in root.iter("{*}record"):
        header = record.find("{*}header")
        if header is not None and header.get("status") == "deleted":
            continue
        identifiers = [url for value in _values(record, "identifier", "relation") if (url := absolute(value, ""))]
        yield Record(
            title=next(_values(record, "title"), ""),
            url=best_address([Distribution(url) for url in identifiers]),
            authority=next(_values(record, "publisher"), "") or next(_values(record, "creator"), ""),
            licence=_licence(list(_values(record, "rights"))),
            description=" ".join(_values(record, "description", "subject"))[:4000],
        )


def _licence(rights: list[str]) -> str:
    """Return the statement that names a licence by address, else the first; "open access" says nothing of reuse."""
    named = [value for value in rights if "creativecommons.org" in value or "licen" in value.lower()]
    rest = [value for value in rights if not value.startswith("info:eu-repo/")]
    return next(iter([*named, *rest]), "")


def _values(record: Element, *names: str) -> Iterator[str]:
    for name in names:
        for element in record.iter(_DC + name):
            if text := " ".join((element.text or "").split()):
                yield text[:4000]
