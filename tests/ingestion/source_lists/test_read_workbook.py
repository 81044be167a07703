"""Seeds from every kind of list; nothing overwritten, nothing lost without a word."""

from __future__ import annotations

import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from openpyxl import Workbook

from ingestion.source_lists.read_workbook import read_source_list
from ingestion.types.source import ListedSource
from rag_engine.errors import InputError
from rag_engine.messages import Message
from tests.ingestion.seed_lists import source_workbook, urls_of


def test_a_row_becomes_a_source_with_its_own_code_and_place(tmp_path: Path) -> None:
    path = source_workbook(
        tmp_path / "seeds.xlsx",
        ("Our seeds",),
        (),
        ("Document_Code", "Name", "Web address", "Authority", "Notes", "Licence"),
        ("ADM001", "Flood plan", "https://a.org/x.pdf", "EEA", "urgent", "CC BY"),
        (7, "Heat plan", "www.b.org/y", None, None, None),
    )
    report, place = read_source_list(path, []), "seeds.xlsx, Seeds, row"
    assert report.new == (
        ListedSource(
            "ADM001", "https://a.org/x.pdf", "", "Flood plan", "EEA", "urgent", "CC BY", origin=Message(f"{place} 4")
        ),
        ListedSource("7", "http://www.b.org/y", "", "Heat plan", origin=Message(f"{place} 5")),
    )
    assert (report.known, report.refused) == (0, ())


def test_every_sheet_is_read_and_one_without_addresses_is_named(tmp_path: Path) -> None:
    path = source_workbook(
        tmp_path / "s.xlsx", ("URL",), ("https://a.org",),
        Second=[("Titre", "Lien"), ("Plan", "https://b.org")], Remarks=[("Made in May",), ("by us",)],
    )  # fmt: skip
    report = read_source_list(path, [])
    assert urls_of(report) == ["https://a.org", "https://b.org"]
    assert report.warnings == ("Remarks holds no web address and was left out.",)
    assert report.refused == ()


def test_addresses_behind_cells_are_found_whatever_the_cells_show(tmp_path: Path) -> None:
    workbook = Workbook()
    sheet = workbook.worksheets[0]
    sheet.append(["Title", "Link"])
    sheet["A2"], sheet["B2"] = "Plan A", "click here"
    sheet["B2"].hyperlink = "https://a.org/1"
    sheet["A3"] = "Plan B"
    sheet["A3"].hyperlink = "https://a.org/2"
    sheet["A4"], sheet["B4"] = "Plan C", '=HYPERLINK("https://a.org/3","open")'
    sheet["A5"], sheet["B5"] = "Plan D", "https://a.org/4"
    sheet["B5"].hyperlink = "https://old.org/stale"
    workbook.save(tmp_path / "s.xlsx")
    report = read_source_list(tmp_path / "s.xlsx", [])
    assert [(one.title, one.url) for one in report.new] == [
        ("Plan A", "https://a.org/1"), ("Plan B", "https://a.org/2"), ("Plan C", "https://a.org/3"),
        ("Plan D", "https://a.org/4"),
    ]  # fmt: skip
    assert report.warnings == (
        "Sheet, row 5: the cell shows https://a.org/4 but leads to https://old.org/stale; what it shows was taken.",
    )


def test_a_merged_value_counts_for_all_its_rows_and_hidden_rows_count_too(tmp_path: Path) -> None:
    workbook = Workbook()
    sheet = workbook.worksheets[0]
    for row in (
        ["All our seeds", None, None],
        ["Authority", "Document", None],
        [None, "Name", "Link"],
        ["EEA", "One", "https://a.org/1"],
        [None, "Two", "https://a.org/2"],
        ["JRC", "Three", "https://a.org/3"],
    ):
        sheet.append(row)
    for area in ("A1:C1", "A2:A3", "B2:C2", "A4:A5"):
        sheet.merge_cells(area)
    sheet.row_dimensions[5].hidden = True
    workbook.save(tmp_path / "s.xlsx")
    assert [(one.authority, one.title) for one in read_source_list(tmp_path / "s.xlsx", []).new] == [
        ("EEA", "One"), ("EEA", "Two"), ("JRC", "Three"),
    ]  # fmt: skip


def test_a_formula_without_its_value_is_told_with_its_cell(tmp_path: Path) -> None:
    path = source_workbook(
        tmp_path / "s.xlsx", ("Name", "URL"), ("Plan", '="https://a.org/"&A2'), ("B", "https://b.org")
    )
    report = read_source_list(path, [])
    assert urls_of(report) == ["https://b.org"]
    assert report.refused[0].place == "Seeds, row 2"
    assert "cell B2 holds a formula without its value" in report.refused[0].reason


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("javascript:alert(1)", "only http and https are read"),
        ("mailto:a@b.org", "only http and https are read"),
        ("file:///etc/passwd", "only http and https are read"),
        ("https://a.org/my plan 2020", "holds a space"),
        ("https:///nothing", "names no valid host"),
        ("https://a.org:port/", "no valid address"),
        ("https://me:secret@a.org/", "lists keep no passwords"),
        ("example.org/plan.pdf", "is no web address"),
        ("", "no web address in any column"),
    ],
)
def test_what_cannot_be_fetched_is_told_with_its_row_and_reason(tmp_path: Path, cell: str, reason: str) -> None:
    path = source_workbook(tmp_path / "s.xlsx", ("Name", "URL"), ("Good", "https://a.org"), ("Bad", cell))
    report = read_source_list(path, [])
    assert urls_of(report) == ["https://a.org"]
    assert [one.place for one in report.refused] == ["Seeds, row 3"]
    assert reason in report.refused[0].reason
    assert "secret" not in report.refused[0].reason


def test_several_addresses_in_a_cell_are_several_sources(tmp_path: Path) -> None:
    cell = "https://a.org/1;2; https://a.org/2\nwww.a.org/3, https://a.org/(4)."
    report = read_source_list(source_workbook(tmp_path / "s.xlsx", ("Code", "URL"), ("A1", cell)), [])
    assert [(one.code, one.url) for one in report.new] == [
        ("A1", "https://a.org/1;2"), ("A1-2", "https://a.org/2"), ("A1-3", "http://www.a.org/3"),
        ("A1-4", "https://a.org/(4)"),
    ]  # fmt: skip


def test_codes_are_made_from_the_authority_or_the_host_and_stay_the_same(tmp_path: Path) -> None:
    rows = [
        ("Title", "Authority", "URL", "Code"),
        ("a", "European Environment Agency", "https://x.org/1", None),
        ("b", "Joint Research Centre (JRC)", "https://x.org/2", None),
        ("c", None, "http://www.protezionecivile.gov.it/3", None),
        ("d", "European Environment Agency", "https://x.org/4", None),
        ("e", None, "https://x.org/5", "EEA002"),
    ]
    first = read_source_list(source_workbook(tmp_path / "s.xlsx", *rows), [])
    assert [one.code for one in first.new] == ["EEA003", "JRC001", "PROTEZIO001", "EEA004", "EEA002"]
    later = [rows[0], ("new", "European Environment Agency", "http://x.org/9", None), *reversed(rows[1:])]
    second = read_source_list(source_workbook(tmp_path / "t.xlsx", *later), first.new)
    assert ([one.code for one in second.new], second.known, second.refused) == (["EEA005"], 5, ())


def test_the_same_list_again_adds_nothing_however_the_addresses_are_spelt(tmp_path: Path) -> None:
    known = [ListedSource("A1", "https://a.org/x/"), ListedSource("A2", "https://b.org/y")]
    path = source_workbook(
        tmp_path / "s.xlsx", ("Code", "URL"), ("A1", "http://www.a.org/x"), (None, "https://B.org/y#top"), ("A2", None)
    )
    report = read_source_list(path, known)
    assert (report.new, report.known, report.refused) == ((), 3, ())


@pytest.mark.parametrize(
    ("cell", "address"),
    [
        ("see https://a.org/plan.pdf (visited 3 May 2021)", "https://a.org/plan.pdf"),
        ("Available at: https://a.org/plan, last accessed 3 May 2021", "https://a.org/plan"),
        ("https://a.org/plan abgerufen am 3.5.2021", "https://a.org/plan"),
        ("https://a.org/plan – consultado el 3 de mayo", "https://a.org/plan"),
        ("https://a.org/my plan.pdf", "https://a.org/my%20plan.pdf"),
        ("https://a.org/Heat Plan (final) 2020.pdf", "https://a.org/Heat%20Plan%20(final)%202020.pdf"),
    ],
)
def test_spaces_and_remarks_in_cells_are_read(tmp_path: Path, cell: str, address: str) -> None:
    report = read_source_list(source_workbook(tmp_path / "s.xlsx", ("Name", "URL"), ("Plan", cell)), [])
    assert (urls_of(report), report.refused) == ([address], ())


def test_a_known_code_with_another_address_corrects_it(tmp_path: Path) -> None:
    path = source_workbook(tmp_path / "s.xlsx", ("Code", "URL"), ("a1", "https://other.org"))
    before = ListedSource("A1", "https://a.org", title="Flood plan", notes="kept")
    report = read_source_list(path, [before])
    assert (report.new, report.refused) == ((), ())
    assert report.corrected == (replace(before, url="https://other.org"),)


def test_a_known_code_with_another_address_and_title_overwrites_nothing(tmp_path: Path) -> None:
    path = source_workbook(tmp_path / "s.xlsx", ("Code", "Title", "URL"), ("a1", "Heat plan", "https://other.org"))
    report = read_source_list(path, [ListedSource("A1", "https://a.org", title="Flood plan")])
    assert (report.new, report.corrected) == ((), ())
    assert "the code a1 is known with another address (https://a.org)" in report.refused[0].reason


def test_rows_that_repeat_an_address_or_a_code_are_told(tmp_path: Path) -> None:
    path = source_workbook(
        tmp_path / "s.xlsx", ("Code", "URL"), ("A1", "https://a.org"), ("A2", "http://a.org/"), ("A1", "https://b.org")
    )
    assert [(one.place, one.reason) for one in read_source_list(path, []).refused] == [
        ("Seeds, row 3", "it repeats the address of Seeds, row 2"),
        ("Seeds, row 4", "the code A1 belongs to another address in Seeds, row 2; give this row another code"),
    ]


def test_a_workbook_without_addresses_names_what_was_seen_and_the_cure(tmp_path: Path) -> None:
    path = source_workbook(tmp_path / "s.xlsx", ("Name", "Authority"), ("Plan", "EEA"), Other=[("x", "y")])
    with pytest.raises(
        InputError, match=r"s\.xlsx holds no web address. Seen: Seeds \(Name, Authority\); Other"
    ) as told:
        read_source_list(path, [])
    assert 'Add a column named "URL"' in told.value.help


def test_old_locked_and_broken_workbooks_are_told_apart(tmp_path: Path) -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    (tmp_path / "old.xls").write_bytes(ole + b"\x00" * 2000)
    (tmp_path / "locked.xlsx").write_bytes(ole + b"\x00" * 2000 + "EncryptedPackage".encode("utf-16-le"))
    (tmp_path / "broken.xlsx").write_bytes(source_workbook(tmp_path / "s.xlsx", ("URL",)).read_bytes()[:2000])
    for name, words in (("old.xls", "before 2007"), ("locked.xlsx", "asks for a password"), ("broken.xlsx", "damaged")):
        with pytest.raises(InputError, match=words):
            read_source_list(tmp_path / name, [])


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/workbook.xml", "w") as entry:
        for _ in range(60):
            entry.write(b" " * 1_000_000)
    started = time.process_time()
    with pytest.raises(InputError, match="times when unpacked"):
        read_source_list(path, [])
    assert time.process_time() - started < 2


def test_a_workbook_with_macros_is_read_and_they_are_not_run(tmp_path: Path) -> None:
    path = source_workbook(tmp_path / "s.xlsx", ("URL",), ("https://a.org",))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"not a program")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "s.xlsm", "w") as new:
        for name in old.namelist():
            body = old.read(name).replace(
                b"spreadsheetml.sheet.main+xml", b"ms-excel.sheet.macroEnabled.main+xml"
            ).replace(b"vnd.openxmlformats-officedocument.ms-excel", b"vnd.ms-excel")  # fmt: skip
            new.writestr(name, body)
    assert urls_of(read_source_list(tmp_path / "s.xlsm", [])) == ["https://a.org"]


def test_ten_times_the_rows_take_about_ten_times_as_long(tmp_path: Path) -> None:
    def seconds(rows: int) -> float:
        workbook = Workbook(write_only=True)
        sheet = workbook.create_sheet("Seeds")
        sheet.append(["Title", "URL"])
        for number in range(rows):
            sheet.append([f"Plan {number}", f"https://a.org/{number}"])
        workbook.save(tmp_path / "s.xlsx")
        started = time.process_time()
        assert len(read_source_list(tmp_path / "s.xlsx", []).new) == rows
        return time.process_time() - started

    assert seconds(20_000) < 20 * seconds(2_000)
