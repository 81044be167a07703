"""Answers and quotes as they are pasted."""

from dataclasses import replace

from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Turn
from rag_engine.takeaway.exported_text import export_answer, plain_quotes, plain_section
from rag_engine.types.answer import Attribute, CitedRecord
from tests.rag_engine.conversations.test_store import CITATION, REPLY

KNOWN = replace(CITATION, authority="Parliament", year=2016, licence="CC BY-NC 4.0")


def pasted(reply: Reply) -> str:
    [section] = export_answer(Turn("How long?", "2026-11-24T10:00", reply)).sections
    return plain_section(section)


def test_an_answer_ends_in_the_references_that_its_numbers_name() -> None:
    reply = replace(REPLY, text="- **Six** years [Source 1]\n- Unknown [Source 2]", citations=(KNOWN,))
    assert pasted(reply) == (
        "- Six years [1]\n- Unknown [Source 2]\n\n"
        "[1] Parliament, Flood Act, 2016, page 3, CC BY-NC 4.0 (no commercial use)"
    )


def test_a_form_is_pasted_into_the_cells_of_a_spreadsheet() -> None:
    record = CitedRecord((Attribute("Term", "six\tyears"),), KNOWN)
    text = pasted(replace(REPLY, text="", citations=(KNOWN,), records=(record,)))
    assert text.startswith("Term\tSource\nsix years\t[1] page 3\n\n[1] Parliament")


def test_each_quote_has_its_own_page() -> None:
    other = replace(KNOWN, page=5, quote="each\nspring", licence="")
    assert plain_quotes([KNOWN, other]) == (
        "“six years” (Parliament, Flood Act, 2016, page 3, CC BY-NC 4.0 (no commercial use))\n"
        "“each spring” (Parliament, Flood Act, 2016, page 5)"
    )
