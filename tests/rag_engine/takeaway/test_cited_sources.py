"""Cited documents as entries of a bibliography."""

from dataclasses import replace

import bibtexparser
import rispy

from rag_engine.takeaway.bibliography import cited_entries, cited_pages, to_bibtex, to_ris
from tests.rag_engine.conftest import make_source
from tests.rag_engine.conversations.test_store import CITATION

GONE = replace(CITATION, authority="Parlament Łódź", year=2016, licence="CC BY 4.0")
# A title of 300 letters, as law gazettes have them.
ARABIC = "قانون الفيضانات " * 20


def test_a_document_is_described_by_the_collection_or_where_it_is_gone_by_its_citation() -> None:
    document = make_source(2, "text").document
    there = replace(CITATION, n=2, document_id=document.document_id, title="Old title")
    entries = cited_entries([there, GONE, there], [document])
    assert [key for key, _ in entries] == ["ministry-2021-report", "parlament-2016-flood"]
    assert entries[0][1] == document.metadata
    assert (entries[1][1].title, entries[1][1].authority, entries[1][1].licence) == (
        "Flood Act", "Parlament Łódź", "CC BY 4.0",
    )  # fmt: skip


def test_titles_of_every_script_come_back_from_both_formats() -> None:
    entries = cited_entries(
        [replace(GONE, title=ARABIC.strip(), authority=""), replace(GONE, document_id="f" * 12)], []
    )
    library = bibtexparser.parse_string(to_bibtex(entries))
    assert [entry["title"].strip("{}") for entry in library.entries] == [ARABIC.strip(), "Flood Act"]
    assert [one["title"] for one in rispy.loads(to_ris(entries))] == [ARABIC.strip(), "Flood Act"]


def test_the_cited_pages_are_named_as_they_are_printed() -> None:
    cited = [replace(GONE, page=9, page_label="5"), replace(GONE, page=13, page_label="9")]
    pages = cited_pages(cited)
    [entry] = bibtexparser.parse_string(to_bibtex(cited_entries(cited, []), pages)).entries
    assert entry["note"] == "Licence: CC BY 4.0; Cited: pp. 5, 9 (sheets 9, 13)"
    [record] = rispy.loads(to_ris(cited_entries(cited, []), pages))
    assert record["notes"] == ["Licence: CC BY 4.0", "Cited: pp. 5, 9 (sheets 9, 13)"]
