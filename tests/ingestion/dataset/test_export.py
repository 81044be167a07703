"""The dataset as people open it: columns, sheets, links, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from openpyxl import Workbook

from ingestion.dataset.export import export
from ingestion.records.document_corrections import Correction
from ingestion.records.source_record import SourceRecord
from ingestion.types.description import Description, FieldValue
from ingestion.types.licence import LicenceMark, LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.source import Relation
from rag_engine.errors import InputError
from rag_engine.messages import Message
from tests.ingestion.source_records import VALUES, source_record, stopped

_PAPER = """
Document_Code|Policy Title|Issuing Authority|Geographical Level|Hazard|Target and Relevance|Key Criteria|
Additional Tags|Description|Document type|Source|Language|Date of Publication|License|AI Notes|Local File Path|
Content Hash|Quality Score|Sections Found|Key Terms|Num Chunks|Cleaned Text Length
""".replace("\n", "").split("|")


def _exported(folder: Path, *records: SourceRecord) -> Workbook:
    export(folder / "o.xlsx", records)
    return openpyxl.load_workbook(folder / "o.xlsx")


def _rows(path: Path, sheet: str) -> list[dict[str, object]]:
    header, *rows = openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)
    return [dict(zip(map(str, header), row, strict=True)) for row in rows]


def test_the_workbook_has_the_columns_of_the_paper_in_its_order_and_ours_behind_them(tmp_path: Path) -> None:
    export(tmp_path / "out.xlsx", [source_record()])
    row = _rows(tmp_path / "out.xlsx", "Dataset")[0]
    assert list(row)[:22] == _PAPER
    assert list(row)[22:] == [
        "Parent_Code", "Version", "Active", "Superseded", "Translation_Of", "Identifiers", "Countries", "Licence Light",
        "Status", "Phase", "Reason", "Message", "Licence Decision", "Decision Note",
    ]  # fmt: skip
    assert row["Geographical Level"] == "National - Italy; France"
    assert row["Hazard"] == "Heatwaves; Drought"
    assert (row["Language"], row["Quality Score"], row["Num Chunks"], row["Status"]) == ("it", 73.5, 12, "indexed")


def test_the_header_is_frozen_and_filtered_and_the_links_lead_to_the_source_and_the_file(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (tmp_path / "exports").mkdir()
    export(tmp_path / "exports" / "out.xlsx", [source_record("A 1")], workspace=workspace)
    sheet = openpyxl.load_workbook(tmp_path / "exports" / "out.xlsx")["Dataset"]
    assert sheet.freeze_panes == "B2"
    assert sheet.auto_filter.ref == "A1:AJ2"
    assert sheet["K2"].hyperlink.target == "https://example.org/A 1.pdf"
    assert sheet["P2"].hyperlink.target == "../workspace/downloads/A%201_plan.pdf"


def test_only_web_addresses_become_links(tmp_path: Path) -> None:
    one = source_record()
    cell = _exported(tmp_path, replace(one, source=replace(one.source, url="javascript:alert(1)")))["Dataset"]["K2"]
    assert (cell.value, cell.hyperlink) == ("javascript:alert(1)", None)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-2", "@SUM(1)", "\t=1", "\r=1", " =1", "＝1", "'=1", "#REF!"])
def test_no_cell_is_a_formula(tmp_path: Path, text: str) -> None:
    one = source_record(values=VALUES | {"title": (text,)})
    cell = _exported(tmp_path, one)["Dataset"]["B2"]
    assert (cell.data_type, cell.quotePrefix) == ("s", True)
    export(tmp_path / "o.csv", [one])
    with (tmp_path / "o.csv").open(encoding="utf-8-sig", newline="") as file:
        written = list(csv.reader(file))[1][1]
    assert written.startswith("'") or text == "#REF!"


def test_text_that_no_cell_can_hold_is_cut_and_told(tmp_path: Path) -> None:
    done = export(
        tmp_path / "o.xlsx", [source_record(values=VALUES | {"description": ("𝔘" * 20_000,), "title": ("a\x00b",)})]
    )
    row = _rows(tmp_path / "o.xlsx", "Dataset")[0]
    assert len(str(row["Description"]).encode("utf-16-le")) // 2 <= 32_767
    assert row["Policy Title"] == "ab"
    assert done.warnings == ("ADM001: Description was cut to the 32,767 characters that a cell holds.",)


def test_superseded_versions_and_translations_are_documents_and_all_else_stands_beside_them(
    tmp_path: Path,
) -> None:
    newer = source_record("A1")
    older = source_record("A2", relation=Relation("A1", version="2016", superseded="2021"))
    small = stopped(source_record("A3"), "quality", Outcome("refused", "file_too_small", Message("It has 900 bytes.")))
    failed = stopped(
        source_record("A4"), "acquisition", Outcome("failed", "timed_out", Message("No answer."), None, True)
    )
    waiting = stopped(source_record("A5"), "licence", source_record().outcomes["licence"])
    half = stopped(source_record("A6"), "indexing", Outcome("failed", "unexpected", Message("Disk full.")))
    done = export(tmp_path / "o.xlsx", [newer, older, small, failed, waiting, half])
    main = _rows(tmp_path / "o.xlsx", "Dataset")
    assert [(row["Document_Code"], row["Active"], row["Status"]) for row in main] == [
        ("A1", "yes", "indexed"), ("A2", "no", "indexed"), ("A6", "yes", "failed"),
    ]  # fmt: skip
    beside = _rows(tmp_path / "o.xlsx", "Not documents")
    assert [(row["Document_Code"], row["Status"], row["Phase"], row["Reason"], row["Message"]) for row in beside] == [
        ("A3", "refused", "quality", "file_too_small", "It has 900 bytes."),
        ("A4", "failed", "acquisition", "timed_out", "No answer."),
        ("A5", "waiting", "acquisition", None, None),
    ]
    assert (done.documents, done.others) == (3, 3)


def test_a_source_without_a_title_shows_none(tmp_path: Path) -> None:
    nameless = stopped(
        source_record("A1", {}), "licence", Outcome("failed", "timed_out", Message("No answer."), None, True)
    )
    export(tmp_path / "o.xlsx", [replace(nameless, source=replace(nameless.source, title=""))])
    row = _rows(tmp_path / "o.xlsx", "Not documents")[0]
    assert (row["Document_Code"], row["Title"]) == ("A1", None)


def test_what_was_written_is_kept_out_of_sight_for_the_import(tmp_path: Path) -> None:
    book = _exported(tmp_path, source_record())
    assert {name: book[name].sheet_state for name in book.sheetnames} == dict.fromkeys(
        ("Dataset", "Not documents", "Field evidence", "Licence evidence", "Allowed values", "About"), "visible"
    ) | {"Exported": "hidden"}
    shown, kept = _rows(tmp_path / "o.xlsx", "Dataset")[0], _rows(tmp_path / "o.xlsx", "Exported")[0]
    assert kept == {name: value for name, value in shown.items() if name != "Source"}


def test_the_licence_of_every_source_comes_with_its_evidence(tmp_path: Path) -> None:
    export(tmp_path / "o.xlsx", [source_record()])
    row = _rows(tmp_path / "o.xlsx", "Licence evidence")[0]
    assert (row["Licence Light"], row["Layer"], row["Quote"], row["Place"], row["Score"]) == (
        "GREEN", "mark", "Licensed under CC BY 4.0", "footer", 30,
    )  # fmt: skip


def test_the_same_dossiers_give_the_same_bytes(tmp_path: Path) -> None:
    export(tmp_path / "a.xlsx", [source_record()])
    export(tmp_path / "b.xlsx", [source_record()])
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.xlsx", "b.xlsx"]


def test_json_lines_keep_lists_as_lists(tmp_path: Path) -> None:
    export(tmp_path / "o.jsonl", [source_record("A1"), source_record("A2")])
    lines = (tmp_path / "o.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    assert (len(lines), first["code"], first["hazards"], first["active"]) == (2, "A1", ["Heatwaves", "Drought"], True)


def test_an_unknown_format_and_a_place_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"out\.pdf names no format\. End the name in \.xlsx"):
        export(tmp_path / "out.pdf", [])
    with pytest.raises(InputError, match="cannot be written: No such file"):
        export(tmp_path / "missing" / "out.csv", [])


def _choices(path: Path) -> dict[str, tuple[list[object], bool]]:
    """Return what the drop-down of each column offers, and whether it takes nothing else."""
    book = openpyxl.load_workbook(path)
    sheet, found = book["Dataset"], dict[str, tuple[list[object], bool]]()
    for one in sheet.data_validations.dataValidation:
        name, _, cells = one.formula1.partition("!")
        heading = sheet.cell(1, next(iter(one.sqref.ranges)).min_col).value
        found[str(heading)] = (
            [row[0].value for row in book[name.strip("'")][cells.replace("$", "")]],
            one.showErrorMessage,
        )
    return found


def test_controlled_fields_have_drop_downs_over_the_list_of_their_values(tmp_path: Path) -> None:
    export(tmp_path / "o.xlsx", [source_record()])
    offered = _choices(tmp_path / "o.xlsx")
    assert set(offered) == {
        "Geographical Level", "Hazard", "Key Criteria", "Additional Tags", "Document type", "Language", "Countries",
        "Licence Decision",
    }  # fmt: skip
    assert {"Law", "Report"} <= set(offered["Document type"][0])
    assert {"it", "en"} <= set(offered["Language"][0])
    assert "Law" not in offered["Hazard"][0]
    # A drop-down gives one value: where several may stand, another text is no error.
    strict = [name for name, (_, strict) in offered.items() if strict]
    assert strict == ["Document type", "Language", "Licence Decision"]
    allowed = _rows(tmp_path / "o.xlsx", "Allowed values")
    assert {(row["Column"], row["Value"]) for row in allowed} >= {("Countries", "Italy"), ("Hazard", "Flood")}
    assert next(row for row in allowed if row["Value"] == "it")["Meaning"] == "Italian"


def test_the_sentence_behind_each_value_comes_with_it(tmp_path: Path) -> None:
    one, sentence = source_record(), "The region issued this plan."
    values = (FieldValue("authority", "Regione Esempio", "model", sentence, 2, 0.8),)
    described = replace(one, outcomes={**one.outcomes, "metadata": Outcome("done", "", Message(), Description(values))})
    corrected = replace(described, corrections=(Correction("ADM001", "language", ("it",), "Ada", "Read it."),))
    export(tmp_path / "o.xlsx", [corrected])
    rows = [tuple(row.values()) for row in _rows(tmp_path / "o.xlsx", "Field evidence")]
    assert rows == [
        ("ADM001", "Issuing Authority", "Regione Esempio", "language model", sentence, 2, 0.8),
        ("ADM001", "Language", "it", "a person", "Read it.", None, 1),
    ]


def test_licence_lights_have_their_colours(tmp_path: Path) -> None:
    waiting = stopped(source_record("A5"), "licence", Outcome("refused", "licence_unclear", Message(), _unclear()))
    book = _exported(tmp_path, source_record(), waiting)
    for name in ("Dataset", "Not documents", "Licence evidence"):
        coloured = {
            book[name].cell(1, next(iter(one.sqref.ranges)).min_col).value: [rule.formula for rule in one.rules]
            for one in book[name].conditional_formatting
        }
        assert coloured["Licence Light"] == [['"GREEN"'], ['"YELLOW"'], ['"RED"']]
    assert _rows(tmp_path / "o.xlsx", "Not documents")[0]["Licence Light"] == "YELLOW"


def _unclear() -> LicenceVerdict:
    mark = LicenceMark("pattern", "YELLOW", "CC BY 4.0", 10, "CC BY 4.0", "footer")
    return LicenceVerdict("YELLOW", "CC BY 4.0", (mark,))
