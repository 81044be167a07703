"""Seeds from lists that are no workbooks: text, CSV, sitemaps, feeds and folders."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from ingestion.dataset.export import export
from ingestion.records.source_store import SourceStore
from ingestion.source_lists.merge import SourceCandidate, SourceListReading, match_sources
from ingestion.source_lists.read_workbook import read_source_list
from ingestion.types.outcome import Outcome
from ingestion.types.source import ListedSource
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.storage.catalog import open_catalog
from tests.ingestion.seed_lists import source_list_text, urls_of
from tests.ingestion.source_records import source_record, stopped


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimited_files_of_any_encoding_are_read(tmp_path: Path, encoding: str, delimiter: str) -> None:
    lines = [("Título", "URL"), ("Dürreplan", "https://a.org/1"), ('"Two\nlines"', "https://a.org/2")]
    path = source_list_text(tmp_path / "s.csv", "\r\n".join(delimiter.join(line) for line in lines), encoding)
    report = read_source_list(path, [])
    assert [(one.title, one.url) for one in report.new] == [
        ("Dürreplan", "https://a.org/1"),
        ("Two lines", "https://a.org/2"),
    ]
    assert bool(report.warnings) == (encoding == "cp1252")


def test_a_list_of_addresses_may_have_titles_comments_and_blanks(tmp_path: Path) -> None:
    path = source_list_text(
        tmp_path / "s.txt", "# ours\nhttps://a.org/1\n\nHeat plan: https://a.org/2\nsomething\nwww.a.org/3 Plan C\n"
    )
    report = read_source_list(path, [])
    assert [(one.url, one.title) for one in report.new] == [
        ("https://a.org/1", ""), ("https://a.org/2", "Heat plan"), ("http://www.a.org/3", "Plan C"),
    ]  # fmt: skip
    assert [(one.place, one.reason) for one in report.refused] == [("line 5", "“something” holds no web address")]


def test_a_saved_sitemap_index_reads_those_beside_it_only(tmp_path: Path) -> None:
    source_list_text(
        tmp_path / "one.xml",
        "<urlset><url><loc>https://a.org/1</loc><lastmod>2024-05-01T10:00</lastmod></url></urlset>",
    )
    source_list_text(tmp_path / "i.xml", "<sitemapindex><sitemap><loc>https://a.org/one.xml</loc></sitemap>"
          "<sitemap><loc>https://a.org/two.xml</loc></sitemap></sitemapindex>")  # fmt: skip
    report = read_source_list(tmp_path / "i.xml", [])
    assert [(one.url, one.notes) for one in report.new] == [("https://a.org/1", "Dated 2024-05-01")]
    assert report.refused[0].place == "https://a.org/two.xml"


def test_a_sitemap_index_leads_to_no_file_elsewhere_and_each_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    sitemap = "<urlset><url><loc>https://a.org/{}</loc></url></urlset>"
    source_list_text(tmp_path / "secret.xml", sitemap.format("secret"))
    source_list_text(tmp_path / "lists" / "one.xml", sitemap.format(1))
    (tmp_path / "lists" / "out.xml").symlink_to(tmp_path / "secret.xml")
    os.mkfifo(tmp_path / "lists" / "pipe.xml")
    names = ["one.xml", "out.xml", "pipe.xml", "one.xml", f"{'long' * 100}.xml"]
    listed = "".join(f"<sitemap><loc>https://a.org/{name}</loc></sitemap>" for name in names)
    index = source_list_text(tmp_path / "lists" / "index.xml", f"<sitemapindex>{listed}</sitemapindex>")
    report = read_source_list(index, [])
    assert [one.url for one in report.new] == ["https://a.org/1"]
    assert [one.place.rpartition("/")[2] for one in report.refused] == ["out.xml", "pipe.xml", names[-1]]


def test_a_list_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "list.csv")
    with pytest.raises(InputError, match=r"list\.csv is a pipe"):
        read_source_list(tmp_path / "list.csv", [])


def test_a_saved_feed_gives_its_entries(tmp_path: Path) -> None:
    feed = (
        '<rss version="2.0"><channel><title>t</title><item><title>Heat plan</title><link>https://a.org/1</link></item>'
        "<item><title>Bad</title><link>mailto:a@b.org</link></item></channel></rss>"
    )
    report = read_source_list(source_list_text(tmp_path / "f.xml", feed), [])
    assert ([(one.title, one.url) for one in report.new], len(report.refused)) == (
        [("Heat plan", "https://a.org/1")],
        1,
    )


def test_a_folder_gives_its_files_described_by_what_lies_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "Flood plans"
    (folder / "deep").mkdir(parents=True)
    source_list_text(folder / "a.txt", "Plan A")
    source_list_text(folder / "deep" / "b.md", "# Plan B")
    source_list_text(folder / ".hidden.txt", "no")
    (folder / "c.bin").write_bytes(b"\x7fELF\x00\x01")
    source_list_text(folder / "metadata.jsonl", '{"file": "a.txt", "title": "The plan A"}')
    report = read_source_list(folder, [])
    assert [(one.code, Path(one.path).name, one.title) for one in report.new] == [
        ("FP001", "a.txt", "The plan A"),
        ("FP002", "b.md", ""),
    ]
    assert [one.place for one in report.refused] == ["c.bin"]
    again = read_source_list(folder, report.new)
    assert (again.new, again.known) == ((), 2)


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("e.xlsx", b"", "is empty"),
        ("d.pdf", b"%PDF-1.7 ...", "Put it into a folder"),
        ("p.html", b"<html><body>x</body></html>", "neither a sitemap nor"),
        ("b.csv", b"\x00\x01\x02", "neither a workbook nor a text file"),
        ("t.txt", b"nothing here\n", "no web address in its lines"),
        ("x.xml", b'<!DOCTYPE urlset [<!ENTITY a "b">]><urlset/>', "declares entities"),
        ("z.zip", b"PK\x03\x04nonsense", "is damaged"),
    ],
)
def test_what_is_no_list_is_named_with_a_cure(tmp_path: Path, name: str, body: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(body)
    with pytest.raises(InputError, match=words):
        read_source_list(tmp_path / name, [])


def test_an_exported_dataset_taken_as_seeds_adds_nothing(tmp_path: Path) -> None:
    known = [
        source_record("A1"),
        source_record("A2"),
        stopped(source_record("A3"), "licence", Outcome("refused", "licence_reserved")),
    ]
    export(tmp_path / "o.xlsx", known)
    report = read_source_list(tmp_path / "o.xlsx", [one.source for one in known])
    assert (report.new, report.refused) == ((), ())


def test_a_line_of_a_million_brackets_is_refused_at_once(tmp_path: Path) -> None:
    path = source_list_text(tmp_path / "s.txt", f"https://a.org/{')' * 1_000_000}\nhttps://b.org\n")
    started = time.process_time()
    assert urls_of(read_source_list(path, [])) == ["https://b.org"]
    assert time.process_time() - started < 5


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.xlsx cannot be read: No such file"):
        read_source_list(tmp_path / "none.xlsx", [])


def test_a_file_whose_name_is_not_utf8_is_told_and_the_others_are_added(tmp_path: Path) -> None:
    folder = tmp_path / "Plans"
    folder.mkdir()
    source_list_text(folder / "a.txt", "Plan A")
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_bytes(b"Plan B")
    report = read_source_list(folder, [])
    assert [Path(source.path).name for source in report.new] == ["a.txt"]
    assert report.refused[0].place == "caf\ufffd.txt"
    assert "not UTF-8" in report.refused[0].reason
    assert "rename" in report.refused[0].reason
    catalog = open_catalog(tmp_path / "workspace")
    try:
        assert SourceStore(catalog).add(report.new) == []
    finally:
        catalog.close()


def test_a_folder_whose_own_name_is_not_utf8_is_told(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    source_list_text(folder / "a.txt", "Plan A")
    report = read_source_list(folder, [])
    assert report.new == ()
    assert "not UTF-8" in report.refused[0].reason


def test_half_characters_in_a_list_do_not_stop_it(tmp_path: Path) -> None:
    half = "\ud83d"
    broken = ListedSource(f"A{half}", f"https://a.org/{half}", "", half, half, half, half, origin=Message(half))
    pair = ListedSource("", "https://a.org/2", notes="\ud83d\ude00")
    candidates = [SourceCandidate(Message(f"row {half}"), broken), SourceCandidate(Message("row 2"), pair)]
    whole, fitting = match_sources(SourceListReading(candidates), []).new
    assert (whole.code, whole.url, whole.title, whole.origin) == ("A\ufffd", "https://a.org/\ufffd", *"\ufffd\ufffd")
    assert fitting.notes == "\U0001f600"


def test_half_characters_in_names_and_descriptions_do_not_stop_a_list(tmp_path: Path) -> None:
    folder = tmp_path / "Plans"
    folder.mkdir()
    source_list_text(folder / "a.txt", "Plan A")
    source_list_text(folder / "metadata.jsonl", '{"file": "a.txt", "title": "Plan \\ud800"}')
    assert read_source_list(folder, []).new[0].title == "Plan \ufffd"
    table = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv"))
    report = read_source_list(source_list_text(table, "URL,Name\nhttps://a.org/x,Plan\nmailto:a@b.org,Plan\n"), [])
    json.dumps(asdict(report), ensure_ascii=False).encode()
    assert report.new[0].origin == "caf\ufffd.csv, row 2"


def test_columns_that_nothing_is_taken_from_are_named(tmp_path: Path) -> None:
    text = "URL;Title;Priority;;Budget 2020\nhttps://a.org/1;Heat plan;high;;7\nhttps://a.org/2;Flood plan;low;;8\n"
    assert read_source_list(source_list_text(tmp_path / "s.csv", text), []).unused == ("Priority", "Budget 2020")
    bare = "https://a.org/1;Heat plan\nhttps://a.org/2;Flood plan\n"
    assert read_source_list(source_list_text(tmp_path / "bare.csv", bare), []).unused == ()
