"""A licence is decided in the exported workbook: with a reason, once, never over another's decision."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from ingestion.dataset.corrections import CorrectionReport, read_corrections
from ingestion.dataset.decisions import LicenceChoice
from ingestion.dataset.export import export
from ingestion.records.source_record import Decision, SourceRecord, decided
from ingestion.types.licence import LicenceMark, LicenceVerdict
from ingestion.types.outcome import Outcome
from rag_engine.messages import Message
from tests.ingestion.source_records import source_record, stopped

_GREEN = {"Licence Decision": "green ", "Decision Note": "They allowed it by letter."}


def _unclear(code: str) -> SourceRecord:
    marks = (
        LicenceMark("pattern", "YELLOW", "", 5, "All pictures by us", "footer"),
        LicenceMark("pattern", "YELLOW", "CC BY 4.0", 10, "CC BY 4.0", "footer"),
    )
    verdict = LicenceVerdict("YELLOW", "CC BY 4.0", marks)
    return stopped(source_record(code), "licence", Outcome("refused", "licence_unclear", Message("Unclear."), verdict))


def _decided(one: SourceRecord, choice: str) -> SourceRecord:
    decision = Decision(one.source.code, "licence", choice, "Eve", "Wrote to them.", "now")
    return decided(replace(one, decisions=(decision,)))


def _edited(
    tmp_path: Path,
    exported: list[SourceRecord],
    edits: dict[str, dict[str, str]],
    now: list[SourceRecord] | None = None,
) -> CorrectionReport:
    """Return the report on a workbook with edited cells of rows, by code, on the sheet that has the row."""
    export(tmp_path / "o.xlsx", exported)
    book = openpyxl.load_workbook(tmp_path / "o.xlsx")
    for sheet in (book["Dataset"], book["Not documents"]):
        headings = [cell.value for cell in sheet[1]]
        for row in sheet.iter_rows(min_row=2):
            for name, text in edits.get(str(row[0].value), {}).items():
                row[headings.index(name)].value = text
    book.save(tmp_path / "o.xlsx")
    return read_corrections(tmp_path / "o.xlsx", now or exported, "Ada", "now")


def test_a_source_that_waits_is_shown_with_its_evidence_and_decided_in_its_row(tmp_path: Path) -> None:
    report = _edited(tmp_path, [source_record("A1"), _unclear("A2")], {"A2": _GREEN})
    assert report.decisions == (LicenceChoice("A2", "GREEN", "They allowed it by letter."),)
    assert (report.corrections, report.refused, report.warnings, report.unchanged) == ((), (), (), 1)
    heading, row = openpyxl.load_workbook(tmp_path / "o.xlsx")["Not documents"].iter_rows(values_only=True)
    assert dict(zip(heading, row, strict=True))["Licence Evidence"] == "CC BY 4.0"


def test_a_document_may_be_decided_and_corrected_in_one_row(tmp_path: Path) -> None:
    edits = {"Licence Decision": "RED", "Decision Note": "Withdrawn.", "Policy Title": "Heat plan"}
    report = _edited(tmp_path, [source_record("A1")], {"A1": edits})
    assert report.decisions == (LicenceChoice("A1", "RED", "Withdrawn."),)
    assert [one.field for one in report.corrections] == ["title"]
    assert (report.refused, report.unchanged) == ((), 0)


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ({"Licence Decision": "GREEN"}, "GREEN needs a reason; write it in the column Decision Note"),
        ({"Licence Decision": "yes", "Decision Note": "I think so."}, "“yes” is no decision; write GREEN or RED"),
        ({"Licence Decision": "YELLOW", "Decision Note": "?"}, "“YELLOW” is no decision; write GREEN or RED"),
        ({"Decision Note": "They allowed it."}, "“” is no decision; write GREEN or RED"),
        ({"Licence Decision": '=IF(1,"GREEN")', "Decision Note": "x"}, "holds a formula without its value; write"),
    ],
)
def test_half_a_decision_is_none(tmp_path: Path, edits: dict[str, str], reason: str) -> None:
    report = _edited(tmp_path, [_unclear("A2")], {"A2": edits})
    assert report.decisions == ()
    assert [one.place for one in report.refused] == ["Not documents, row 2, Licence Decision"]
    assert report.refused[0].reason.startswith(reason)


def test_the_same_book_decides_once(tmp_path: Path) -> None:
    report = _edited(tmp_path, [_unclear("A2")], {"A2": _GREEN}, now=[_decided(_unclear("A2"), "GREEN")])
    assert (report.decisions, report.refused) == ((), ())


def test_what_somebody_decided_since_the_export_stays(tmp_path: Path) -> None:
    report = _edited(tmp_path, [_unclear("A2")], {"A2": _GREEN}, now=[_decided(_unclear("A2"), "RED")])
    assert report.decisions == ()
    assert "Eve decided RED since the export; that stays" in report.refused[0].reason


def test_a_decision_that_the_export_shows_may_be_changed(tmp_path: Path) -> None:
    report = _edited(tmp_path, [_decided(_unclear("A2"), "RED")], {"A2": _GREEN})
    assert [one.choice for one in report.decisions] == ["GREEN"]


def test_a_csv_decides_as_well(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    export(path, [source_record("A1")])
    text = path.read_text(encoding="utf-8-sig").rstrip()
    assert text.endswith(",,")
    path.write_text(f"{text[:-1]}RED,Withdrawn.\n", encoding="utf-8")
    report = read_corrections(path, [source_record("A1")], "Ada", "now")
    assert report.decisions == (LicenceChoice("A1", "RED", "Withdrawn."),)
