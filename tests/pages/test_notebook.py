"""Answers and quotes are taken away from the Ask page, and kept on the Notebook page."""

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Node

from pages._ask.turn_key import turn_key
from rag_engine.conversations import store as conversations
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Conversation
from rag_engine.notebook import store as notebooks
from rag_engine.notebook.notebook import Notebook, answer_entry, quote_entry, with_entry
from tests.pages.collection import documents_of
from tests.pages.conftest import Start, open_page, texts
from tests.pages.conversations import converse
from tests.present import present
from tests.rag_engine.conversations.test_store import CITATION, REPLY, SOURCE


def refused(app: AppTest) -> str:
    return "\n".join(one.value.replace("\\", "") for one in app.error)


def labels(app: AppTest) -> list[str]:
    return [one.label for one in app.button]


def downloads(app: AppTest, key: str) -> list[str]:
    return [one.proto.label for one in app.get("download_button") if key in one.proto.id]


@pytest.fixture
def reply(collection: Path) -> Reply:
    """Return an answer that cites the collection's Flood Act."""
    document = documents_of(collection)["flood-act.txt"]
    return replace(
        REPLY,
        sources=(replace(SOURCE, document_id=document.document_id),),
        citations=(replace(CITATION, document_id=document.document_id),),
    )


def kept(workspace: Path) -> Notebook:
    return present(notebooks.read_notebook(workspace, notebooks.DEFAULT.id))


def keep(workspace: Path, conversation: Conversation) -> Notebook:
    """Keep the answer and the quotes of a conversation's first turn."""
    turn = conversation.turns[0]
    answer, quote = answer_entry(conversation.id, turn), quote_entry(conversation.id, turn, 1)
    return notebooks.change_notebook(
        workspace, notebooks.DEFAULT.id, lambda one: with_entry(with_entry(one, answer), quote)
    )[1]


def notebook_page(app: AppTest) -> AppTest:
    return open_page(app, "notebook")


def test_an_answer_and_its_quote_can_be_copied_with_their_references(
    start: Start, workspace: Path, reply: Reply
) -> None:
    app = start(workspace, conversation=converse(workspace, reply).id)

    assert not app.exception
    shown = [one.value for one in app.code]
    assert shown == [
        "Six years [1].\n\n[1] Flood Act, undated, page 3",
        "[1] Flood Act, undated, page 3",
        "“six years” (Flood Act, undated, page 3)",
    ]


def test_an_answer_is_exported_in_four_formats_and_so_is_a_conversation(
    start: Start, workspace: Path, reply: Reply
) -> None:
    app = start(workspace, conversation=converse(workspace, reply).id)
    assert downloads(app, "export") == ["Word", "Markdown", "BibTeX", "RIS"]

    both = converse(workspace, reply, reply)
    app = start(workspace, conversation=both.id)
    assert downloads(app, f"{turn_key(both, 0)} export whole") == ["Word", "Markdown", "BibTeX", "RIS"]
    assert "Whole conversation" in texts(app)


def test_what_is_no_answer_offers_no_export(start: Start, workspace: Path, reply: Reply) -> None:
    refused = replace(reply, status="insufficient_evidence", citations=())

    app = start(workspace, conversation=converse(workspace, refused).id)

    assert "Add to notebook" not in labels(app)
    assert not downloads(app, "export")


def test_an_answer_and_a_quote_are_added_once(start: Start, workspace: Path, reply: Reply) -> None:
    conversation = converse(workspace, reply)
    app = start(workspace, conversation=conversation.id)
    key = turn_key(conversation, 0)

    app.button(key=f"{key} add {notebooks.DEFAULT.id}").click().run()
    assert "Added to the notebook Evidence." in texts(app)
    app.button(key=f"{key} source 1 add {notebooks.DEFAULT.id}").click().run()
    app.button(key=f"{key} add {notebooks.DEFAULT.id}").click().run()

    assert not app.exception
    assert "Already in the notebook Evidence." in texts(app)
    assert [entry.answer is None for entry in kept(workspace).entries] == [False, True]


def test_with_several_notebooks_one_of_them_is_chosen(start: Start, workspace: Path, reply: Reply) -> None:
    other = notebooks.create_notebook(workspace, "Floods")
    conversation = converse(workspace, reply)
    app = start(workspace, conversation=conversation.id)

    app.button(key=f"{turn_key(conversation, 0)} add {other.id}").click().run()

    assert "Added to the notebook Floods." in texts(app)
    assert not kept(workspace).entries


def test_an_empty_notebook_says_how_it_is_filled(start: Start, workspace: Path) -> None:
    app = notebook_page(start(workspace))

    assert not app.exception
    assert "No entries yet." in texts(app)


def test_entries_have_their_question_their_reference_and_their_conversation(
    start: Start, workspace: Path, reply: Reply
) -> None:
    keep(workspace, converse(workspace, reply))

    app = notebook_page(start(workspace))

    assert not app.exception
    assert "2 of 2 entries" in texts(app)
    assert "> “six years”" in texts(app)
    assert ":material/info: note" in texts(app)
    assert texts(app).count(") Flood Act\\, undated\\, page 3") == 2
    assert "No longer in the collection" not in texts(app)
    assert "The conversation was deleted." not in texts(app)
    assert downloads(app, "notebook") == ["Word", "Markdown", "BibTeX", "RIS"]


def test_an_entry_outlives_its_conversation_and_says_so(start: Start, workspace: Path, reply: Reply) -> None:
    conversation = converse(workspace, reply)
    keep(workspace, conversation)
    conversations.delete_conversation(workspace, conversation.id)

    app = notebook_page(start(workspace))

    assert "> “six years”" in texts(app)
    assert "The conversation was deleted." in texts(app)


def test_an_entry_whose_document_is_gone_says_so(start: Start, workspace: Path) -> None:
    keep(workspace, converse(workspace, REPLY))

    app = notebook_page(start(workspace))

    assert texts(app).count("No longer in the collection: Flood Act") == 2


def test_the_marks_of_an_entry_lead_to_the_page_and_the_passage_while_the_document_is_there(
    start: Start, workspace: Path, reply: Reply
) -> None:
    [first] = reply.citations
    other = replace(first, page=5, start=120, end=129)
    text = "Six years [Source 1]. It may be renewed [Source 1]."
    keep(workspace, converse(workspace, replace(reply, text=text, citations=(first, other))))

    shown = texts(notebook_page(start(workspace)))

    there, further = (
        f"document?document={one.document_id}&page={one.page}&passage={one.start}-{one.end}" for one in (first, other)
    )
    mark = f'[:green-badge[1]]({there} "Flood Act\\, page 3")'
    assert f"Six years {mark}" in shown
    assert f"> “six years” {mark}" in shown
    assert f'renewed [:green-badge[1]]({further} "Flood Act\\, page 5")' in shown
    assert shown.count(f"[page 3]({there}) · [page 5]({further})") == 2

    keep(workspace, converse(workspace, REPLY))
    assert texts(notebook_page(start(workspace))).count(f"document={CITATION.document_id}") == 0


def test_a_note_and_tags_are_written_and_filter_the_entries(start: Start, workspace: Path, reply: Reply) -> None:
    answer, _ = keep(workspace, converse(workspace, reply)).entries
    app = notebook_page(start(workspace))

    app.text_area(key=f"noted {answer.id}").set_value("Compare <b>Spain</b>.").run()
    app.text_input(key=f"tagged {answer.id}").set_value("terms, floods").run()
    app.button(key=f"save {answer.id}").click().run()

    assert "Compare \\<b\\>Spain" in texts(app)
    assert kept(workspace).entries[0].tags == ("terms", "floods")

    app.button_group[0].set_value(["terms"]).run()
    assert not app.exception
    assert "1 of 2 entries" in texts(app)


def test_entries_move_past_their_neighbours_and_a_removed_one_comes_back(
    start: Start, workspace: Path, reply: Reply
) -> None:
    first, second = keep(workspace, converse(workspace, reply)).entries
    app = notebook_page(start(workspace))
    assert app.button(key=f"move up {first.id}").disabled
    assert app.button(key=f"move down {second.id}").disabled

    app.button(key=f"move down {first.id}").click().run()
    assert kept(workspace).entries == (second, first)
    app.button(key=f"move up {first.id}").click().run()
    assert kept(workspace).entries == (first, second)

    app.button(key=f"remove {first.id}").click().run()
    assert kept(workspace).entries == (second,)
    app.button(key=f"notebook undo {kept(workspace).id}").click().run()
    assert not app.exception
    assert kept(workspace).entries == (first, second)
    assert "Undo" not in labels(app)


def test_a_notebook_is_made_renamed_and_deleted(start: Start, workspace: Path) -> None:
    app = notebook_page(start(workspace))
    assert "Delete this notebook" not in labels(app)

    app.text_input(key="notebook new").set_value("Floods").run()
    app.button(key="notebook create").click().run()
    [_, made] = notebooks.list_notebooks(workspace)
    assert app.selectbox(key="notebook chosen").value == made.id

    app.text_input(key=f"notebook renamed {made.id}").set_value("Water").run()
    app.button(key=f"notebook renamed {made.id} button").click().run()
    assert [one.name for one in notebooks.list_notebooks(workspace)] == ["Evidence", "Water"]

    before = notebooks.list_notebooks(workspace)
    app.button(key="delete notebook").click().run()
    assert not app.exception
    assert [one.name for one in notebooks.list_notebooks(workspace)] == ["Evidence"]
    assert app.selectbox(key="notebook chosen").value == notebooks.DEFAULT.id
    assert "Deleted “Water”." in texts(app)

    app.button(key="restore notebook").click().run()
    assert not app.exception
    assert notebooks.list_notebooks(workspace) == before
    assert app.selectbox(key="notebook chosen").value == made.id
    assert "restore notebook" not in [one.key for one in app.button]


def test_the_choice_of_a_notebook_keeps_its_place_on_the_page_while_the_way_back_comes_and_goes(
    start: Start, workspace: Path
) -> None:
    def place() -> int:
        [place] = [i for i, one in app.main.children.items() if holds(one, app.selectbox(key="notebook chosen"))]
        return place

    app = notebook_page(start(workspace))
    app.text_input(key="notebook new").set_value("Floods").run()
    app.button(key="notebook create").click().run()
    before = place()
    app.button(key="delete notebook").click().run()
    assert place() == before
    app.button(key="restore notebook").click().run()
    # A browser that still shows the former choice at another place would show two.
    assert place() == before


def holds(node: Node, sought: Node) -> bool:
    """Return whether an element is, or is drawn somewhere in, another one."""
    return node is sought or any(holds(one, sought) for one in getattr(node, "children", {}).values())


def test_a_name_that_is_too_long_is_refused_with_the_limit_and_the_place_for_it_closes_after_a_good_one(
    start: Start, workspace: Path
) -> None:
    app = notebook_page(start(workspace))
    app.session_state["notebook renaming"] = True
    field = f"notebook renamed {notebooks.DEFAULT.id}"
    # With a limit the browser drops what is pasted, without a word.
    assert app.text_input(key=field).max_chars == 0

    app.text_input(key=field).set_value("م" * 360).run()
    app.button(key=f"{field} button").click().run()

    assert "The name has 360 characters; 80 are allowed." in refused(app)
    assert app.selectbox(key="notebook chosen").options == ["Evidence (0)"]
    assert app.session_state["notebook renaming"]

    app.text_input(key=field).set_value("م" * 80).run()
    app.button(key=f"{field} button").click().run()

    assert not app.error
    assert app.selectbox(key="notebook chosen").options == [f"{'م' * 80} (0)"]
    assert not app.session_state["notebook renaming"]


def test_a_note_and_a_tag_that_are_too_long_are_refused_with_the_limit(
    start: Start, workspace: Path, reply: Reply
) -> None:
    entry, _ = keep(workspace, converse(workspace, reply)).entries
    app = notebook_page(start(workspace))

    app.text_input(key=f"tagged {entry.id}").set_value("f" * 81).run()
    app.button(key=f"save {entry.id}").click().run()
    assert "is longer than 80 characters" in refused(app)

    app.text_input(key=f"tagged {entry.id}").set_value("").run()
    app.text_area(key=f"noted {entry.id}").set_value("n" * 5001).run()
    app.button(key=f"save {entry.id}").click().run()
    assert "The note has 5,001 characters; 5,000 are allowed." in refused(app)
    assert kept(workspace).entries[0] == entry


def test_the_notebook_that_nobody_named_is_called_so_in_the_language_of_the_interface(
    start: Start, workspace: Path, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContextProxy, "locale", property(lambda _: "it-IT"))
    conversation = converse(workspace, reply)
    app = start(workspace, conversation=conversation.id)
    app.button(key=f"{turn_key(conversation, 0)} add {notebooks.DEFAULT.id}").click().run()
    assert any("Prove" in one.value for one in app.toast)

    assert notebook_page(start(workspace)).selectbox(key="notebook chosen").options == ["Prove (1)"]
    notebooks.rename_notebook(workspace, notebooks.DEFAULT.id, "Floods")
    assert notebook_page(start(workspace)).selectbox(key="notebook chosen").options == ["Floods (1)"]


def test_a_deleted_notebook_does_not_come_back_beside_another_of_its_name(start: Start, workspace: Path) -> None:
    made = notebooks.create_notebook(workspace, "Water")
    app = open_page(start(workspace), "notebook", notebook=made.id)
    app.button(key="delete notebook").click().run()
    notebooks.create_notebook(workspace, "Water")
    app.button(key="restore notebook").click().run()
    assert any("already" in one.value for one in app.error)
    assert "restore notebook" in [one.key for one in app.button]


def test_a_link_to_a_notebook_that_is_gone_says_so(start: Start, workspace: Path) -> None:
    app = open_page(start(workspace), "notebook", notebook="f" * 32)
    assert not app.exception
    assert "This notebook was deleted, belongs to somebody else, or the link is incomplete." in texts(app)


def test_a_link_to_a_question_that_is_gone_says_so(start: Start, workspace: Path, reply: Reply) -> None:
    conversation = converse(workspace, reply)
    said = "The question that the link leads to is not in this conversation."
    assert said in texts(start(workspace, conversation=conversation.id, asked="2020-01-01T00:00:00"))
    assert said not in texts(start(workspace, conversation=conversation.id, asked=conversation.turns[0].asked))


def test_a_name_that_is_taken_is_refused(start: Start, workspace: Path) -> None:
    app = notebook_page(start(workspace))

    app.text_input(key="notebook new").set_value("Evidence").run()
    app.button(key="notebook create").click().run()

    assert any("already" in one.value for one in app.error)


def test_a_long_notebook_is_drawn_in_parts(start: Start, workspace: Path, reply: Reply) -> None:
    conversation = converse(workspace, reply)
    turn = conversation.turns[0]
    entries = tuple(replace(quote_entry(conversation.id, turn, 1), note=f"note{n}") for n in range(22))
    notebooks.change_notebook(workspace, notebooks.DEFAULT.id, lambda one: replace(one, entries=entries))

    app = notebook_page(start(workspace))
    assert "note19" in texts(app)
    assert "note20" not in texts(app)
    next(one for one in app.button if one.label == "Show 2 more entries").click().run()

    assert "note21" in texts(app)


def test_a_notebook_is_shared_and_not_shared_any_more(start: Start, workspace: Path, reply: Reply) -> None:
    keep(workspace, converse(workspace, reply))
    app = notebook_page(start(workspace))
    key = f"notebook shared {notebooks.DEFAULT.id}"

    app.toggle(key=key).set_value(True).run()
    assert not app.exception
    assert kept(workspace).shared_by

    app.toggle(key=key).set_value(False).run()
    assert not kept(workspace).shared_by
