"""Bibliographies that other programs can read back."""

from dataclasses import replace

import bibtexparser
import rispy
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_engine.takeaway.bibliography import to_bibtex, to_ris
from rag_engine.types.document import Metadata

_PLAN = Metadata(
    title="Heat {and} 100% _risk_ & more", language="it", authority="Regione Esempio", document_type="Report",
    hazards=("Heatwaves",), date="2021-06-30", year=2021, licence="CC BY 4.0", source_url="https://a.org/x_1?a=b&c=%20d",
    description="Two\nlines}",
)  # fmt: skip


def test_a_report_is_a_techreport_of_its_authority_with_escaped_text() -> None:
    text = to_bibtex([("ADM001", _PLAN)])
    assert text.startswith("@techreport{ADM001,")
    assert r"title = {{Heat {\textbraceleft}and{\textbraceright} 100\% \_risk\_ \& more}}" in text
    assert "url = {https://a.org/x_1?a=b&c=%20d}" in text
    assert "institution = {Regione Esempio}" in text


def test_keys_are_unique_after_cleaning() -> None:
    library = bibtexparser.parse_string(to_bibtex([("A 1", _PLAN), ("A-1", _PLAN), ("a/1", _PLAN), ("ü", _PLAN)]))
    assert [entry.key for entry in library.entries] == ["A-1", "A-1-2", "a-1-3", "document"]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text(max_size=40), min_size=3, max_size=3))
def test_any_text_gives_entries_that_can_be_read_back(texts: list[str]) -> None:
    metadata = Metadata(
        texts[0], "en", authority=texts[1], description=texts[2], source_url=f"https://a.org/{texts[2]}"
    )
    library = bibtexparser.parse_string(to_bibtex([("A1", metadata), ("A2", _PLAN)]))
    assert (len(library.entries), len(library.failed_blocks)) == (2, 0)
    records = rispy.loads(to_ris([("A1", metadata), ("A2", _PLAN)]))
    assert [one["id"] for one in records] == ["A1", "A2"]


def test_ris_carries_what_a_reference_needs() -> None:
    record = rispy.loads(to_ris([("ADM001", _PLAN)]))[0]
    assert (record["type_of_reference"], record["title"], record["authors"], record["year"], record["date"]) == (
        "RPRT", _PLAN.title, ["Regione Esempio"], "2021", "2021/06/30",
    )  # fmt: skip
    assert (record["abstract"], record["urls"], record["notes"]) == (
        "Two lines}", ["https://a.org/x_1?a=b&c=%20d"], ["Licence: CC BY 4.0"],
    )  # fmt: skip


def test_a_document_of_no_known_kind_is_no_report_in_either_format() -> None:
    other = replace(_PLAN, document_type="Other")
    assert to_bibtex([("A", other)]).startswith("@misc{")
    assert rispy.loads(to_ris([("A", other)]))[0]["type_of_reference"] == "GEN"


def test_ris_has_nothing_but_fields_between_its_records() -> None:
    lines = to_ris([("A", _PLAN), ("B", _PLAN)]).splitlines()
    assert [line for line in lines if line and line[2:6] != "  - "] == []
