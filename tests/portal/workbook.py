"""An analyst's list of sources: two sheets, a title above the header, links behind words, odd rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from tests.ingestion.web_server import Site
from tests.portal.site import Branch


def write_workbook(path: Path, site: Site, branches: Sequence[Branch]) -> Path:
    """Return the workbook with every branch as a row, and five rows that cannot be used."""
    book = Workbook()
    first = book.active
    assert isinstance(first, Worksheet)
    first.title = "Sources"
    first["A1"] = "Sources on climate adaptation"
    first.merge_cells("A1:D1")
    first.append([])
    first.append(["Document code", "Name", "Web address", "Issuing authority", "Notes"])
    second = book.create_sheet("More sources")
    second.append(["Titolo", "Codice", "Indirizzo web", "Note"])
    half = len(branches) // 2
    for branch in branches[:half]:
        row = branch.row
        first.append([row.code, row.name, _address(site, row.path), row.authority, ""])
    for branch in branches[half:]:
        row = branch.row
        second.append([row.name, row.code, "open", "found by hand"])
        second.cell(second.max_row, 3).hyperlink = _address(site, row.path)
    first.append(["ODD-1", "A plan without an address", "", "", ""])
    first.append(["ODD-2", "A mail address", "mailto:somebody@example.org", "", ""])
    first.append(["ODD-3", "Not an address", "see the archive", "", ""])
    first.append(["ODD-4", "The same address again", _address(site, branches[0].row.path) + "#top", "", ""])
    first.append([branches[0].row.code, "Another address for a known code", site.url("/elsewhere"), "", ""])
    book.save(path)
    return path


def _address(site: Site, path: str) -> str:
    return path if "://" in path else site.url(path)
