"""Exported Markdown: questions as headings, sources as footnotes, nothing that a document wrote acts."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Conversation, Turn
from rag_engine.messages import Message
from rag_engine.notebook.notebook import Notebook, quote_entry
from rag_engine.takeaway.exported_text import export_answer, export_conversation, export_notebook
from rag_engine.takeaway.formats import to_markdown
from rag_engine.types.answer import Attribute, CitedRecord, SentenceSupport
from tests.rag_engine.conversations.test_store import CITATION, REPLY

ASKED = "2026-11-24T10:00:00.000000+00:00"
PLAIN = replace(REPLY, warnings=())
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "![x](http://evil.example/x.png)",
    r"\[here](http://evil.example)",
    r"\<b>",
    "&lt;script&gt;",
    "```\nswallowed",
    "~~~\nswallowed",
    "    indented",
    "[1]: http://evil.example",
    "<!--",
]


def exported(*turns: Turn) -> str:
    return to_markdown(export_conversation(Conversation("0" * 32, turns)))


def replied(reply: Reply, question: str = "How long?", rewritten: str = "") -> Turn:
    return Turn(question, ASKED, reply, rewritten)


def kinds(markdown: str) -> set[str]:
    """Return the kinds of things that a reader of CommonMark with tables finds."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return {one.type for token in tokens for one in (token, *(token.children or ()))}


def test_a_conversation_without_a_name_is_titled_by_its_whole_first_question() -> None:
    question = "Which rules hold for a county council that keeps personally identifiable information of residents?"
    assert exported(replied(PLAIN, question)).startswith(f"# {question}\n\n## {question}\n")
    named = Conversation("0" * 32, (replied(PLAIN, question),), name="Privacy")
    assert to_markdown(export_conversation(named)).startswith("# Privacy\n\n")
    title = exported(replied(PLAIN, f"{question} " * 9)).partition("\n")[0]
    assert title.endswith(" …")
    assert title.removeprefix("# ").removesuffix(" …").split() == (f"{question} " * 9).split()[: len(title.split()) - 2]


def test_each_answer_has_footnotes_of_its_own() -> None:
    assert exported(replied(PLAIN), replied(PLAIN, "And in Spain?", "How long in Spain?")) == (
        "# How long?\n\n"
        "## How long?\n\n*2026-11-24 10:00 UTC · Quotations only*\n\nSix years [^1-1].\n\n"
        "[^1-1]: Flood Act, undated, page 3 (act.pdf). “six years”\n\n"
        "## And in Spain?\n\n*2026-11-24 10:00 UTC · Asked as: How long in Spain? · Quotations only*\n\n"
        "Six years [^2-1].\n\n"
        "[^2-1]: Flood Act, undated, page 3 (act.pdf). “six years”\n"
    )


def test_one_answer_is_below_its_question() -> None:
    assert to_markdown(export_answer(replied(PLAIN))).startswith("# How long?\n\n*2026-11-24 10:00 UTC")


def test_the_model_that_wrote_an_answer_and_what_was_warned_of_are_named() -> None:
    text = exported(replied(replace(REPLY, generator="qwen3:8b", warnings=(Message("2 citations removed."),))))
    assert "Written by qwen3:8b" in text
    assert "*2 citations removed.*" in text


def test_sentences_to_check_are_exported_with_their_reasons() -> None:
    support = (SentenceSupport(0, 9, "unsupported", ("number 6 is not in the passage",)),)
    text = exported(replied(replace(PLAIN, support=support)))
    assert "*0 of 1 sentence supported by the cited passages; 1 unsupported." in text
    assert "*Unsupported: Six years (number 6 is not in the passage)*" in text


def test_quotes_of_one_source_share_a_footnote() -> None:
    reply = replace(PLAIN, citations=(CITATION, replace(CITATION, page=5, quote="each spring")))
    assert "[^1-1]: Flood Act, undated, pages 3, 5 (act.pdf). “six years” “each spring”\n" in exported(replied(reply))


def test_a_mark_without_a_citation_stays_a_mark() -> None:
    assert "Six years \\[Source 1]." in exported(replied(replace(PLAIN, citations=())))


def test_a_form_becomes_a_table_whose_rows_have_footnotes() -> None:
    record = CitedRecord((Attribute("Years | term", 6), Attribute("Public", value=True)), CITATION)
    text = exported(replied(replace(PLAIN, text="", entities=(Attribute("Act", "Flood Act"),), records=(record,))))
    assert "- **Act**: Flood Act\n\n| Years \\| term | Public | Source |\n| --- | --- | --- |\n" in text
    assert "| 6 | yes | [^1-1] page 3 |" in text


def test_a_question_without_an_answer_is_marked_as_such() -> None:
    assert exported(Turn("Why?", ASKED, None)).endswith("## Why?\n\n*2026-11-24 10:00 UTC*\n\n*Not answered.*\n")


def test_a_quote_of_a_notebook_has_its_reference_its_note_and_its_tags() -> None:
    turn = replied(PLAIN)
    entry = replace(quote_entry("0" * 32, turn, 1), note="Compare\nwith Spain.", tags=("floods", "terms"))
    text = to_markdown(export_notebook(Notebook("1" * 32, "Plans"), [entry], {CITATION.document_id}))
    assert text == (
        "# Plans\n\n## How long?\n\n*2026-11-24 10:00 UTC · Tags: floods, terms*\n\n> “six years” [^1-1]\n\n"
        "Compare\nwith Spain.\n\n[^1-1]: Flood Act, undated, page 3 (act.pdf).\n"
    )


def test_an_entry_whose_document_is_gone_says_so() -> None:
    entry = quote_entry("0" * 32, replied(PLAIN), 1)
    text = to_markdown(export_notebook(Notebook("1" * 32, "Plans"), [entry], set()))
    assert "*No longer in the collection: Flood Act*" in text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_a_document_or_a_model_wrote_leads_nowhere_and_swallows_nothing(hostile: str) -> None:
    citation = replace(CITATION, title=hostile, quote=hostile)
    text = exported(replied(replace(REPLY, text=f"{hostile}\n{hostile} [Source 1]", citations=(citation,)), hostile))
    assert not kinds(text) & {"link_open", "image", "html_inline", "html_block", "fence", "code_block", "entity"}
    assert text.count("[^1-1]") == 2


def test_an_address_alone_becomes_no_link_and_a_dollar_no_formula() -> None:
    address = "HTTPS://evil.example www.evil.example a@evil.example"
    text = exported(replied(replace(PLAIN, text=f"See {address}"), address))
    assert "$" not in exported(replied(replace(PLAIN, text="$x$"), "$x$")).replace("\\$", "")
    assert text.count("HTTPS\\://evil.example www\\.evil.example a\\@evil.example") == 3


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("a \n\t\\<>[]()!`~*_#|-&;:/1.^\x00\u202e\ud800"), max_size=60))
def test_no_text_acts(text: str) -> None:
    written = to_markdown(export_answer(replied(replace(REPLY, text=f"{text}\n\n[Source 1]"), f"Why {text}")))
    assert not kinds(written) & {"link_open", "image", "html_inline", "html_block", "fence", "code_inline"}
    written.encode()
