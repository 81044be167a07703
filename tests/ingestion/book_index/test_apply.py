"""An index in a separate file leads to its documents until it is applied again or taken away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pymupdf
import pytest
from openpyxl import Workbook

from ingestion.add_files import add_paths
from ingestion.book_index.apply import Applied, apply_index, match_documents, parents_of, remove_index
from ingestion.sandbox.sandbox import Sandbox
from rag_engine.book_index.anchors import IndexRecord
from rag_engine.chunking.chunk import chunk
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.retrieval.book_index_boost import match_index
from rag_engine.storage.index_entries import index_sources
from rag_engine.types.passage import Child, Parent
from tests.rag_engine.conftest import CountingEmbedder, unread

HEADER = "term,subterm,file,page,see\n"
FLOODS = ["The mayor closes the bridge.", "Dykes are raised by one metre.", "Sirens warn the town of a flood."]
FIRES = ["The brigade keeps twelve engines.", "Forest paths stay clear.", "Sirens are tested in May."]


# So much of it that a passage does not reach over to the next page.
FILLER = "The council met in spring and wrote down what each district had done in the year before. " * 14


def make_pdf(path: Path, pages: list[str], first_printed: int = 1) -> None:
    """Write a page for each text, which stands in its middle, with the number that is printed on it."""
    document = pymupdf.open()
    for number, text in enumerate(pages, start=first_printed):
        page = document.new_page()
        page.insert_textbox((72, 90, 520, 760), f"{FILLER}\n\n{text}\n\n{FILLER}", fontsize=10)
        page.insert_text((300, 800), str(number), fontsize=10)
    document.save(path)


def make_index(path: Path, entries: list[str], printed: int) -> None:
    """Write a page with an index, and the number that is printed on it."""
    document = pymupdf.open()
    page = document.new_page()
    for row, line in enumerate(["Index", "", *entries]):
        page.insert_text((72, 110 + 15 * row), line, fontsize=11)
    page.insert_text((300, 800), str(printed), fontsize=10)
    document.save(path)


def open_engine(folder: Path) -> Engine:
    return Engine(unread(folder / "workspace"), embedder=CountingEmbedder())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two documents and a workspace of them."""
    folder = tmp_path_factory.mktemp("made")
    make_pdf(folder / "Floods.pdf", FLOODS)
    make_pdf(folder / "fires.pdf", FIRES)
    with closing(open_engine(folder)) as engine:
        add_paths([folder / "Floods.pdf", folder / "fires.pdf"], engine)
    return folder


@pytest.fixture
def engine(folder: Path) -> Iterator[Engine]:
    with closing(open_engine(folder)) as engine:
        yield engine


@pytest.fixture
def table(folder: Path) -> Path:
    return folder / "terms.csv"


def apply(
    engine: Engine, sandbox: Sandbox, table: Path, rows: str = "", *, header: str = HEADER, document: str = ""
) -> Applied:
    if rows:
        table.write_text(header + rows, encoding="utf-8")
    return apply_index(table, engine, sandbox, document=document)


def led_to(engine: Engine, question: str) -> list[tuple[str, int]]:
    """File and page of the passages that a question is led to."""
    index = engine.collection.view().index
    found = engine.catalog.children(match_index(index, question, "en").passages)
    files = {record.key: record.file for record in engine.collection.documents()}
    return sorted((files[child.document_key], child.page) for child in found.values())


def test_a_table_leads_to_the_documents_whose_files_it_names(engine: Engine, sandbox: Sandbox, table: Path) -> None:
    rows = "siren,,floods.pdf,3,\nsiren,,fires,3,\ndykes,height,plans/Floods.PDF,2,\nalarm,,,,siren\n"

    applied = apply(engine, sandbox, table, rows)

    assert [(one.file, one.entries, one.places, one.named, one.lost) for one in applied.documents] == [
        ("Floods.pdf", 2, 2, 2, 0),
        ("fires.pdf", 1, 1, 1, 0),
    ]
    assert (applied.unmatched, applied.warnings) == ((), ())
    assert led_to(engine, "Where are the sirens?") == [("Floods.pdf", 3), ("fires.pdf", 3)]
    assert led_to(engine, "Who sounds the alarm?") == [("Floods.pdf", 3), ("fires.pdf", 3)]


def test_a_hit_of_a_search_says_which_entry_of_the_table_names_it(
    engine: Engine, sandbox: Sandbox, table: Path
) -> None:
    apply(engine, sandbox, table, "vehicles,,fires.pdf,1,\nroads,,floods.pdf,1,\n")
    hits = engine.search("Which vehicles had the council and each district in the year before?").hits
    named = [(hit.document.file, hit.page, hit.indexed_under) for hit in hits if hit.indexed_under]
    assert named == [("fires.pdf", 1, ("listed in the index under “vehicles”, page 1",))]


def test_files_that_are_no_document_are_named_once(engine: Engine, sandbox: Sandbox, table: Path) -> None:
    applied = apply(engine, sandbox, table, "siren,,fires.pdf,3,\nheat,,heat.pdf,1,\ncold,,heat.pdf,2,\n")
    assert applied.unmatched == ("heat.pdf",)


def test_pages_that_a_document_does_not_have_are_counted(engine: Engine, sandbox: Sandbox, table: Path) -> None:
    applied = apply(engine, sandbox, table, 'siren,,fires.pdf,"3, 40-41",\npaths,,fires.pdf,2,\n')
    assert [(one.places, one.lost) for one in applied.documents] == [(2, 2)]


def test_a_table_that_is_applied_again_replaces_what_it_listed(engine: Engine, sandbox: Sandbox, table: Path) -> None:
    apply(engine, sandbox, table, "siren,,floods.pdf,3,\nsiren,,fires.pdf,3,\n")
    apply(engine, sandbox, table, "siren,,fires.pdf,3,\nengine,,fires.pdf,1,\n")
    assert led_to(engine, "siren") == [("fires.pdf", 3)]
    assert index_sources(engine.catalog) == {"terms.csv": 1}


def test_a_table_that_is_removed_leads_nowhere(engine: Engine, sandbox: Sandbox, table: Path) -> None:
    apply(engine, sandbox, table, "siren,,floods.pdf,3,\nsiren,,fires.pdf,3,\n")
    table.unlink()
    assert remove_index("terms.csv", engine) == 2
    assert led_to(engine, "siren") == []
    with pytest.raises(InputError, match=r"terms\.csv.*No table is applied"):
        remove_index("terms.csv", engine)


def test_a_table_that_names_no_document_says_so_and_leaves_what_was(
    engine: Engine, sandbox: Sandbox, table: Path
) -> None:
    apply(engine, sandbox, table, "siren,,fires.pdf,3,\npaths,,fires.pdf,2,\n")
    with pytest.raises(InputError, match=r"but heat\.pdf"):
        apply(engine, sandbox, table, "siren,,heat.pdf,3,\npaths,,heat.pdf,2,\n")
    assert led_to(engine, "siren") == [("fires.pdf", 3)]


def test_a_table_without_files_needs_a_document(engine: Engine, sandbox: Sandbox, table: Path) -> None:
    rows = "siren,3\npaths,2\n"
    with pytest.raises(InputError, match="--document"):
        apply(engine, sandbox, table, rows, header="term,page\n")
    applied = apply(engine, sandbox, table, document="fires.pdf")
    assert [(one.file, one.places) for one in applied.documents] == [("fires.pdf", 2)]


def test_entries_without_a_file_in_a_table_with_files_are_told(engine: Engine, sandbox: Sandbox, table: Path) -> None:
    applied = apply(engine, sandbox, table, "siren,,fires.pdf,3,\npaths,,,2,\n")
    assert applied.documents[0].places == 1
    assert applied.warnings == ("1 entries name no file and were left out; give their document with --document.",)


def test_a_workbook_is_applied_like_a_table_of_text(engine: Engine, sandbox: Sandbox, folder: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    rows: list[tuple[str | int, ...]] = [("Term", "File", "Page"), ("siren", "fires.pdf", 3), ("paths", "fires.pdf", 2)]
    for row in rows:
        sheet.append(row)
    book.save(folder / "terms.xlsx")
    apply_index(folder / "terms.xlsx", engine, sandbox)
    assert led_to(engine, "Which paths?") == [("fires.pdf", 2)]


def test_a_printed_index_in_another_file_means_the_pages_as_the_book_prints_them(
    engine: Engine, sandbox: Sandbox, folder: Path
) -> None:
    words = ("flood", "heatwave", "avalanche", "drought", "quake", "storm", "landslide", "volcano", "tsunami", "frost")
    make_pdf(folder / "book.pdf", [f"The {word} plan names the mayor." for word in words], first_printed=21)
    make_index(folder / "index.pdf", sorted(f"{word}, {page}" for page, word in enumerate(words, start=21)), 31)
    add_paths([folder / "book.pdf"], engine)

    with pytest.raises(InputError, match="--document"):
        apply_index(folder / "index.pdf", engine, sandbox)
    applied = apply_index(folder / "index.pdf", engine, sandbox, document="book.pdf")

    assert [(one.entries, one.named, one.lost) for one in applied.documents] == [(10, 10, 0)]
    assert {query.term: query.page for query in applied.queries}["drought"] == 4
    assert led_to(engine, "drought") == [("book.pdf", 4)]


def test_the_query_cache_holds_the_sentences_of_each_place(engine: Engine, sandbox: Sandbox, table: Path) -> None:
    [first, _] = apply(engine, sandbox, table, "siren,,floods.pdf,3,\npaths,,fires.pdf,2,\n").queries
    assert (first.term, first.file, first.page, first.found) == ("siren", "Floods.pdf", 3, True)
    assert "Sirens warn the town" in first.context


def test_a_table_stays_applied_when_a_file_is_added_again(
    engine: Engine, sandbox: Sandbox, table: Path, folder: Path
) -> None:
    apply(engine, sandbox, table, "siren,,fires.pdf,3,\npaths,,fires.pdf,2,\n")
    (folder / "metadata.jsonl").write_text('{"file": "fires.pdf", "title": "Fire plan"}', encoding="utf-8")
    add_paths([folder / "fires.pdf"], engine)
    assert "Fire plan" in [record.metadata.title for record in engine.collection.documents()]
    assert led_to(engine, "siren") == [("fires.pdf", 3)]


def test_a_name_that_two_documents_bear_is_not_guessed(engine: Engine, folder: Path) -> None:
    (folder / "other").mkdir()
    make_pdf(folder / "other" / "fires.pdf", FLOODS[::-1])
    add_paths([folder / "other"], engine)
    records = [IndexRecord("siren", pages=(3,), file="fires.pdf")]
    documents = engine.collection.documents()

    matched, [unmatched] = match_documents(records, documents, None)

    two = [one for one in documents if one.file == "fires.pdf"]
    assert matched == {}
    assert all(one.document_id in unmatched for one in two)
    by_id = [IndexRecord("siren", pages=(3,), file=two[1].document_id)]
    assert match_documents(by_id, documents, None)[0] == {two[1].key: by_id}


def test_the_parents_of_a_document_come_back_as_they_were_cut(engine: Engine, folder: Path) -> None:
    text = "\n\n".join(f"Article {n}\n\n" + f"The authority of district {n} keeps its maps. " * 40 for n in range(1, 5))
    (folder / "law.txt").write_text(text, encoding="utf-8")
    add_paths([folder / "law.txt"], engine)
    [record] = [one for one in engine.collection.documents() if one.file == "law.txt"]
    extracted = engine.catalog.extracted(record)
    cut = chunk(
        extracted.text,
        record.metadata.language,
        title=record.metadata.title,
        blocks=extracted.blocks,
        lines=extracted.lines,
        encode=engine.embedder().encode_passages,
        config=engine.config.chunking,
    ).parents
    read = list(parents_of(engine.catalog.document_children(record.key)))
    assert [_without_depth(one) for one in cut] == read
    assert all(isinstance(child, Child) for one in read for child in one.children)


def _without_depth(parent: Parent) -> Parent:
    return Parent(
        parent.index,
        parent.start,
        parent.end,
        parent.text,
        parent.children,
        parent.act,
        parent.section,
        parent.headings,
    )
