"""Documents as entries of a bibliography: BibTeX by bibtexparser, RIS by rispy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from rag_engine.answering.reference_list import references_of
from rag_engine.text.file_kinds import pages_text
from rag_engine.text.folding import fold_title
from rag_engine.types.answer import Citation
from rag_engine.types.document import DocumentRecord, Metadata

BibliographyEntry = tuple[str, Metadata]

# BibTeX counts braces even behind a backslash, so that a lone one must be a command. bibtexparser's own encoder
# leaves such braces and would turn letters beyond ASCII into commands that UTF-8 readers do not need.
_ESCAPED = str.maketrans(
    {
        "\\": r"{\textbackslash}",
        "{": r"{\textbraceleft}",
        "}": r"{\textbraceright}",
        "%": r"\%",
        "&": r"\&",
        "#": r"\#",
        "$": r"\$",
        "_": r"\_",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
    }
)
_COUNTED = re.compile(r"^\d+\.\n(?=TY  - )", re.MULTILINE)
_RIS_TYPES = {"Law": "STAT", "Academic paper": "JOUR", "Dataset": "DATA", "Other": "GEN", "": "GEN"}
_REPORTS = {"Report", "Policy brief", "Guidelines", "Framework", "Recommendation"}


def to_bibtex(entries: Sequence[BibliographyEntry], pages: Sequence[str] = ()) -> str:
    """Return one @techreport or @misc for each document; `pages` has the cited pages of each, or nothing.

    Keys are the codes. If cleaning makes two codes equal, the second gets a number.
    """
    import bibtexparser
    from bibtexparser.model import Entry as Block
    from bibtexparser.model import Field

    library = bibtexparser.Library()
    keys: set[str] = set()
    for (code, metadata), cited in zip(entries, pages or [""] * len(entries), strict=True):
        report = metadata.document_type in _REPORTS and bool(metadata.authority)
        fields = {
            # Doubled braces keep the title's capitals.
            "title": f"{{{_escape(metadata.title)}}}",
            "author": f"{{{_escape(metadata.authority)}}}" if metadata.authority else "",
            "institution": _escape(metadata.authority) if report else "",
            "type": _escape(metadata.document_type),
            "year": str(metadata.year or metadata.date[:4]),
            "date": _escape(metadata.date),
            "url": _address(metadata.source_url),
            "language": _escape(metadata.language),
            "abstract": _escape(metadata.description),
            "keywords": _escape(", ".join((*metadata.hazards, *metadata.tags, *metadata.countries))),
            "note": _escape("; ".join(_notes(metadata, cited))),
        }
        filled = [Field(name, f"{{{value}}}") for name, value in fields.items() if value and value != "{}"]
        library.add(Block("techreport" if report else "misc", _key(code, keys), filled))
    return str(bibtexparser.write_string(library, unparse_stack=[]))


def to_ris(entries: Sequence[BibliographyEntry], pages: Sequence[str] = ()) -> str:
    """Return one record for each document, with its code as ID; `pages` as in `to_bibtex`.

    >>> to_ris([("flood-act", Metadata("Flood Act", "en", document_type="Law"))]).splitlines()[:3]
    ['TY  - STAT', 'ID  - flood-act', 'TI  - Flood Act']
    """
    import rispy

    records = []
    for (code, metadata), cited in zip(entries, pages or [""] * len(entries), strict=True):
        record: dict[str, object] = {
            "type_of_reference": _RIS_TYPES.get(metadata.document_type, "RPRT"),
            "id": _line(code),
            "title": _line(metadata.title),
            "authors": [_line(metadata.authority)] if metadata.authority else [],
            "publisher": _line(metadata.authority),
            "year": str(metadata.year or metadata.date[:4]),
            "date": _line(metadata.date.replace("-", "/")),
            "urls": [_address(metadata.source_url)] if metadata.source_url else [],
            "language": _line(metadata.language),
            "abstract": _line(metadata.description),
            "keywords": [_line(word) for word in (*metadata.hazards, *metadata.tags, *metadata.countries)],
            "notes": [_line(note) for note in _notes(metadata, cited)],
        }
        records.append({name: value for name, value in record.items() if value})
    # rispy numbers its records, which the format does not know.
    return _COUNTED.sub("", str(rispy.dumps(records)))


def _notes(metadata: Metadata, cited: str) -> list[str]:
    named = {"Licence": metadata.licence, "Cited": cited}
    return [f"{name}: {value}" for name, value in named.items() if value]


def _key(code: str, keys: set[str]) -> str:
    """Return the code with only the characters that BibTeX allows in a key.

    If another document has the key already, a number follows.
    """
    wanted = re.sub(r"[^A-Za-z0-9.:_-]+", "-", code).strip("-") or "document"
    key, number = wanted, 2
    while key.lower() in keys:
        key, number = f"{wanted}-{number}", number + 1
    keys.add(key.lower())
    return key


def _escape(text: str) -> str:
    return _line(text).translate(_ESCAPED)


def _address(url: str) -> str:
    """Return an address without characters that would end or break the field."""
    return quote(_line(url), safe="%/:?#[]@!$&'()*+,;=~-._")


def _line(text: str) -> str:
    """Return the text in one line without control characters.

    Both formats end a value at the end of the line, or guess where it continues.
    """
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def cited_entries(citations: Iterable[Citation], documents: Iterable[DocumentRecord]) -> list[BibliographyEntry]:
    """Return each document that is cited once, in the order of its first citation.

    The collection describes it; if it is gone, the citation does.

    >>> cited = Citation(1, "", "D1", "act.pdf", "Flood Act", 3, "every six years", 0, 15, "Parliament", 2016)
    >>> [code for code, _ in cited_entries([cited], documents=[])]
    ['parliament-2016-flood']
    """
    known = {record.document_id: record.metadata for record in documents}
    cited: dict[str, Metadata] = {}
    for citation in citations:
        told = Metadata(citation.title, "", authority=citation.authority, year=citation.year, licence=citation.licence)
        cited.setdefault(citation.document_id, known.get(citation.document_id, told))
    return [(_code(metadata), metadata) for metadata in cited.values()]


def cited_pages(citations: Iterable[Citation]) -> list[str]:
    """Return the pages that are cited of each document of `cited_entries`, "" of one without pages."""
    return [pages_text(one.file, one.named_pages) for one in references_of(citations)]


def _code(metadata: Metadata) -> str:
    """Return a document's code in a bibliography, from known parts: "parliament-2016-flood"."""
    authority, title = (fold_title(text).partition(" ")[0] for text in (metadata.authority, metadata.title))
    return "-".join(filter(None, (authority, str(metadata.year or metadata.date[:4]), title)))
