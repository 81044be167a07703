"""An edited dataset gives what a person changed and nothing else."""

from __future__ import annotations

import datetime
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from openpyxl.utils import get_column_letter

from ingestion.dataset.corrections import CorrectionReport, read_corrections
from ingestion.dataset.export import export
from ingestion.records.document_corrections import Correction
from ingestion.records.source_record import SourceRecord
from ingestion.types.description import FieldName
from ingestion.types.outcome import Outcome
from rag_engine.errors import InputError
from rag_engine.messages import Message
from tests.ingestion.source_records import DOSSIERS, source_record, stopped

_TYPES: dict[FieldName, tuple[str, ...]] = {
    "document_type": ("Law", "Report", "Framework"),
    "hazards": ("Flood", "Heatwaves", "Drought"),
}


def _edited(tmp_path: Path, edits: dict[str, Any]) -> CorrectionReport:
    """Return what is read after the cells of a new export are edited."""
    export(tmp_path / "o.xlsx", [source_record()])
    return _imported(_edit(tmp_path / "o.xlsx", edits), source_record())


@settings(max_examples=60, deadline=None)
@given(DOSSIERS)
def test_an_untouched_workbook_or_csv_holds_no_correction(source_records: list[SourceRecord]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("o.xlsx", "o.csv"):
            path = Path(folder) / name
            export(path, source_records)
            report = read_corrections(path, source_records, "Ada", "now")
            assert (report.corrections, report.refused, report.warnings) == ((), (), ())
            assert report.unchanged == len(source_records)


def _corrected(one: SourceRecord, **said: tuple[str, ...]) -> SourceRecord:
    """Return the same source after people's corrections."""
    added = tuple(Correction("ADM001", field, values, "Eve") for field, values in said.items())  # type: ignore[arg-type]
    return replace(one, corrections=(*one.corrections, *added))


def _imported(path: Path, one: SourceRecord) -> CorrectionReport:
    return read_corrections(path, [one], "Ada", "2026-11-22T10:00:00", _TYPES)


def _edit(path: Path, edits: dict[str, Any]) -> Path:
    """Return the exported workbook with cells of its main sheet edited as a person would."""
    workbook = openpyxl.load_workbook(path)
    sheet = workbook["Dataset"]
    headings = {cell.value: get_column_letter(at) for at, cell in enumerate(sheet[1], start=1)}
    for place, value in edits.items():
        name, _, row = place.partition("@")
        sheet[f"{headings.get(name, name)}{row or 2}"] = value
    workbook.save(path)
    return path


def test_an_old_export_that_nobody_touched_takes_nothing_of_others_back(tmp_path: Path) -> None:
    path = tmp_path / "old.xlsx"
    export(path, [source_record()])
    moved = _corrected(source_record(), title=("Heat plan",), countries=("Spain",), hazards=(), date=("2020",))
    decided = stopped(moved, "indexing", Outcome("failed", "unexpected", Message("Disk full.")))
    report = _imported(path, decided)
    assert (report.corrections, report.refused, report.warnings, report.unchanged) == ((), (), (), 1)


def test_the_same_edited_book_changes_nothing_the_second_time(tmp_path: Path) -> None:
    path, one = tmp_path / "o.xlsx", source_record()
    export(path, [one])
    edits: dict[str, Any] = {
        "Policy Title": None,
        "Countries": "Spain",
        "Hazard": "flood; DROUGHT",
        "Language": "en",
    }
    first = _imported(_edit(path, edits), one)
    assert {c.field for c in first.corrections} == {"title", "countries", "hazards", "language"}
    second = _imported(path, replace(one, corrections=first.corrections))
    assert (second.corrections, second.refused, second.unchanged) == ((), (), 1)


def test_an_edit_of_what_somebody_else_changed_meanwhile_is_told_and_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "o.xlsx"
    export(path, [source_record()])
    _edit(path, {"Policy Title": "Heat plan", "Language": "en", "Geographical Level": "Local - Italy; France"})
    report = _imported(
        path, _corrected(source_record(), title=("Summer plan",), language=("en",), countries=("Spain",))
    )
    assert [(one.place, one.reason) for one in report.refused] == [
        (
            "Dataset, row 2, Policy Title",
            "says “Heat plan”, while the value was changed from “Piano caldo” to “Summer plan” since the export; "
            "it stays. Export again and change it there",
        )
    ]
    # The same language twice is no clash, and the level's cell was edited for its level alone.
    assert [(one.field, one.values) for one in report.corrections] == [("geographical_level", ("Local",))]


def test_a_csv_is_compared_with_the_present_values_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    export(path, [source_record()])
    report = _imported(path, _corrected(source_record(), title=("Summer plan",)))
    assert [(one.field, one.values) for one in report.corrections] == [("title", ("Piano caldo",))]
    assert "were compared with the present values" in report.warnings[0]


def test_a_csv_with_edited_countries_does_not_flip_them_the_second_time(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    export(path, [source_record()])
    text = path.read_text(encoding="utf-8-sig")
    path.write_text(text.replace(",Italy; France,GREEN", ",Spain,GREEN"), encoding="utf-8")
    first = _imported(path, source_record())
    assert [(one.field, one.values) for one in first.corrections] == [("countries", ("Spain",))]
    second = _imported(path, replace(source_record(), corrections=first.corrections))
    assert second.corrections == ()
    assert "make both equal" in second.refused[0].reason


def test_an_edited_cell_becomes_a_correction_with_author_and_time(tmp_path: Path) -> None:
    report = _edited(tmp_path, {"Policy Title": "Heat plan"})
    assert report.corrections == (Correction("ADM001", "title", ("Heat plan",), "Ada", "", "2026-11-22T10:00:00"),)


def test_several_values_are_split_and_spelt_as_the_vocabulary_does(tmp_path: Path) -> None:
    report = _edited(tmp_path, {"Hazard": "flood | DROUGHT; Flood"})
    assert [one.values for one in report.corrections] == [("Flood", "Drought")]


def test_a_label_outside_the_vocabulary_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    report = _edited(tmp_path, {"Document type": "Frameworks", "Hazard": "Flood; Fire of some kind"})
    assert report.corrections == ()
    assert [one.place for one in report.refused] == [
        "Dataset, row 2, Hazard",
        "Dataset, row 2, Document type",
    ]
    assert "did you mean “Framework”?" in report.refused[1].reason


def test_an_emptied_cell_empties_the_field(tmp_path: Path) -> None:
    report = _edited(tmp_path, {"AI Notes": None, "Hazard": None})
    assert {one.field: one.values for one in report.corrections} == {"notes": (), "hazards": ()}


def test_level_and_countries_can_be_edited_in_one_cell_or_in_two(tmp_path: Path) -> None:
    one = _edited(tmp_path, {"Geographical Level": "Local - Spain"})
    assert {c.field: c.values for c in one.corrections} == {"geographical_level": ("Local",), "countries": ("Spain",)}
    two = _edited(tmp_path, {"Countries": "Italy"})
    assert {c.field: c.values for c in two.corrections} == {"countries": ("Italy",)}
    both = _edited(tmp_path, {"Geographical Level": "National - Spain", "Countries": "Italy"})
    assert both.corrections == ()
    assert "says otherwise than Geographical Level; neither was taken" in both.refused[0].reason
    alike = _edited(tmp_path, {"Geographical Level": "National - Spain", "Countries": "Spain"})
    assert {c.field: c.values for c in alike.corrections} == {"countries": ("Spain",)}
    apart = _edited(tmp_path, {"Geographical Level": "Local - Italy; France", "Countries": "Spain"})
    assert {c.field: c.values for c in apart.corrections} == {"geographical_level": ("Local",), "countries": ("Spain",)}


@pytest.mark.parametrize(
    ("given", "read"),
    [("31/12/2020", "2020-12-31"), ("5.6.2020", "2020-06-05"), ("12/31/2020", "2020-12-31"), ("2020-7", "2020-07"),
     (2020, "2020"), ("2020/12/31", "2020-12-31"), (datetime.datetime(2019, 5, 1), "2019-05-01")],
)  # fmt: skip
def test_dates_are_read_as_people_write_them(tmp_path: Path, given: object, read: str) -> None:
    assert [one.values for one in _edited(tmp_path, {"Date of Publication": given}).corrections] == [(read,)]


def test_the_same_date_in_another_form_is_no_correction(tmp_path: Path) -> None:
    assert _edited(tmp_path, {"Date of Publication": "30/06/2021"}).corrections == ()


@pytest.mark.parametrize("given", ["soon", "31/02/2020", "44196", "99/99/2020"])
def test_what_is_no_date_is_refused(tmp_path: Path, given: str) -> None:
    report = _edited(tmp_path, {"Date of Publication": given})
    assert report.corrections == ()
    assert "write it as 2020-12-31" in report.refused[0].reason


def test_rows_and_columns_that_are_not_ours_are_reported_with_their_place(tmp_path: Path) -> None:
    report = _edited(tmp_path, {"Document_Code@3": "NEW1", "Policy Title@4": "no code", "AJ@1": "My remarks"})
    assert [(one.place, one.reason) for one in report.refused] == [
        ("Dataset, column AJ", "“My remarks” is no column of the dataset"),
        ("Dataset, row 3", "no source has the code NEW1; a new document comes in as a source"),
        ("Dataset, row 4", "no Document_Code; a new document comes in as a source"),
    ]


def test_what_cannot_be_edited_here_is_told(tmp_path: Path) -> None:
    report = _edited(tmp_path, {"License": "CC0", "Quality Score": 99})
    assert report.corrections == ()
    assert report.refused[0].reason == "was changed, but the licence is decided in the column Licence Decision"
    assert report.warnings == (
        "Quality Score: 1 cells differ from what was exported and were not taken over; this column cannot be edited.",
    )


def test_a_formula_written_into_a_cell_is_not_taken_for_its_text(tmp_path: Path) -> None:
    report = _edited(tmp_path, {"Policy Title": '=CONCAT("a","b")'})
    assert report.corrections == ()
    assert "formula without its value" in report.refused[0].reason


def test_a_file_that_is_no_dataset_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("Name,URL\na,b\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.csv has no column Document_Code\. Seen: Name, URL"):
        read_corrections(tmp_path / "x.csv", [source_record()], "Ada", "now")
