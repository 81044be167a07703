"""A conversation outlives the browser, and an address cannot name anything else."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag_engine.answering.source_order import NumberedWords
from rag_engine.conversations import recording, store
from rag_engine.conversations.reply import Reply, ShownSource
from rag_engine.conversations.store import Conversation, Turn, TurnRating
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.messages import Message
from rag_engine.planning.follow_up import Exchange, FollowUp
from rag_engine.takeaway.exported_text import export_answer
from rag_engine.types.answer import Answer, Citation
from rag_engine.types.evidence import ControllerStep, Evidence, QueryPlan
from tests.present import present
from tests.rag_engine.conftest import make_evidence, make_source
from tests.raw_records import overwrite, record_bytes

SOURCE = ShownSource(
    n=1,
    child_id="0123456789ab_p0_c0",
    document_id="0123456789ab",
    file="act.pdf",
    title="Flood Act",
    authority="Parliament",
    year=2016,
    hazards=("Flood",),
    geographical_level="National",
    countries=("Ireland",),
    language="en",
    document_type="Law",
    pages=12,
    page=3,
    last_page=4,
    start=100,
    end=200,
    passage=(120, 160),
    text="x" * 100,
    tier="strong",
)
CITATION = Citation(1, "0123456789ab_p0_c0", "0123456789ab", "act.pdf", "Flood Act", 3, "six years", 130, 139)
REPLY = Reply(
    status="answered",
    text="Six years [Source 1].",
    generator="extractive",
    planner="rules",
    queries=("how long",),
    keywords=("NAP",),
    places=("Ireland",),
    citations=(CITATION,),
    sources=(SOURCE,),
    warnings=(Message("note"),),
    seconds={"answer": 0.5},
)


def test_a_conversation_is_read_as_it_was_written(tmp_path: Path) -> None:
    id = store.new_id()
    begun = store.begin_turn(tmp_path, id, "How long is a plan valid?")

    ended = store.end_turn(tmp_path, begun, REPLY)

    assert ended is not None
    assert store.read_conversation(tmp_path, id) == ended
    assert ended.turns[0].reply == REPLY


def test_a_name_that_is_too_long_is_refused_and_the_conversation_keeps_its_own(tmp_path: Path) -> None:
    id = store.new_id()
    store.begin_turn(tmp_path, id, "How long is a plan valid?")
    store.rename_conversation(tmp_path, id, "Plans")
    with pytest.raises(InputError, match="81 characters; 80 are allowed"):
        store.rename_conversation(tmp_path, id, "n" * 81)
    found = stored(tmp_path, id)
    assert found.name == "Plans"


def test_the_state_of_a_conversation_changes_with_every_change_of_it(tmp_path: Path) -> None:
    id = store.new_id()
    assert store.CONVERSATIONS.version(tmp_path, id) is None
    begun = store.begin_turn(tmp_path, id, "How long is a plan valid?")
    states = [store.CONVERSATIONS.version(tmp_path, id)]
    store.end_turn(tmp_path, begun, REPLY)
    states.append(store.CONVERSATIONS.version(tmp_path, id))
    assert store.CONVERSATIONS.version(tmp_path, id) == states[-1]
    store.rename_conversation(tmp_path, id, "Plans")
    states.append(store.CONVERSATIONS.version(tmp_path, id))

    assert None not in states
    assert len(set(states)) == 3
    assert store.CONVERSATIONS.version(tmp_path, "../catalog.sqlite") is None


def test_the_steps_of_the_controller_are_kept_with_the_answer(tmp_path: Path) -> None:
    step = ControllerStep("reflect", 1, "Who pays?", 1, 2, 0.6)
    begun = store.begin_turn(tmp_path, store.new_id(), "Who pays, and when?")
    evidence = Evidence(QueryPlan("Who pays, and when?", "en", ("who pays",)), (), (), steps=(step,))
    parts = (step, evidence, "Nobody.", Answer("answered", "Nobody.", (), evidence, "extractive"))

    assert list(recording.record_reply(tmp_path, begun, iter(parts))) == list(parts)

    reply = reply_of(tmp_path, begun.id)
    assert (reply.steps, reply.text) == ((step,), "Nobody.")


def test_two_tabs_on_one_conversation_keep_both_answers(tmp_path: Path) -> None:
    id = store.new_id()
    first = store.begin_turn(tmp_path, id, "Why?")
    second = store.begin_turn(tmp_path, id, "Why?")

    store.end_turn(tmp_path, second, replace(REPLY, text="Second."))
    store.end_turn(tmp_path, first, replace(REPLY, text="First."))

    read = stored(tmp_path, id)
    assert [turn.reply.text for turn in read.turns if turn.reply] == ["Second.", "First."]


def test_an_answer_takes_the_place_of_its_own_question_only(tmp_path: Path) -> None:
    id = store.new_id()
    first = store.begin_turn(tmp_path, id, "Why?")
    store.end_turn(tmp_path, first, REPLY)
    store.begin_turn(tmp_path, id, "How?")

    store.end_turn(tmp_path, first, replace(REPLY, text="Stopped."))

    read = stored(tmp_path, id)
    assert [(turn.question, turn.reply and turn.reply.text) for turn in read.turns] == [
        ("Why?", "Stopped."),
        ("How?", None),
    ]


def test_a_conversation_that_is_deleted_while_its_answer_is_written_stays_deleted(tmp_path: Path) -> None:
    begun = store.begin_turn(tmp_path, store.new_id(), "Why?")
    store.delete_conversation(tmp_path, begun.id)

    assert store.end_turn(tmp_path, begun, REPLY) is None
    assert store.read_conversation(tmp_path, begun.id) is None


@pytest.mark.parametrize("id", ["", "../secret", "0" * 31, "0" * 33, "0" * 31 + "G", "0" * 32 + "\n", "A" * 32])
def test_an_id_that_is_none_finds_and_writes_nothing(tmp_path: Path, id: str) -> None:
    assert store.read_conversation(tmp_path, id) is None
    assert not store.is_kept(tmp_path, id)
    store.delete_conversation(tmp_path, id)
    with pytest.raises(InputError):
        store.begin_turn(tmp_path, id, "Why?")
    assert store.list_conversations(tmp_path) == []


def test_the_latest_conversations_come_first_under_their_first_question(tmp_path: Path) -> None:
    for question in ("First?", "Second\nline?"):
        store.begin_turn(tmp_path, store.new_id(), question)
    recent = store.list_conversations(tmp_path)

    assert [one.title for one in recent] == ["Second line?", "First?"]


def test_a_deleted_conversation_is_gone(tmp_path: Path) -> None:
    id = store.new_id()
    store.begin_turn(tmp_path, id, "Why?")
    assert store.is_kept(tmp_path, id)

    deleted = store.delete_conversation(tmp_path, id)

    assert store.read_conversation(tmp_path, id) is None
    assert not store.is_kept(tmp_path, id)
    assert b"Why?" not in record_bytes(tmp_path)

    assert deleted is not None
    store.restore_conversation(tmp_path, deleted)
    assert store.read_conversation(tmp_path, id) == deleted
    assert store.delete_conversation(tmp_path, store.new_id()) is None


def test_a_conversation_is_named_and_pinned_and_found_by_its_words(tmp_path: Path) -> None:
    ids = [store.new_id() for _ in range(3)]
    for id, question in zip(ids, ("Who pays?", "Wo gelten Überschwemmungsgebiete?", "When?"), strict=True):
        store.begin_turn(tmp_path, id, question)

    store.rename_conversation(tmp_path, ids[0], "  Costs of\nadaptation ")
    store.pin_conversation(tmp_path, ids[0], pinned=True)

    listed = store.list_conversations(tmp_path)
    assert [one.id for one in listed] == [ids[0], ids[2], ids[1]]
    assert (listed[0].title, listed[0].pinned) == ("Costs of adaptation", True)
    assert "who pays" in listed[0].words
    assert "uberschwemmungsgebiete" in listed[2].words

    store.rename_conversation(tmp_path, ids[0], "")
    assert store.list_conversations(tmp_path)[0].title == "Who pays?"


def test_a_rating_is_kept_with_its_answer_and_can_be_taken_back(tmp_path: Path) -> None:
    id = store.new_id()
    begun = store.begin_turn(tmp_path, id, "Why?")
    store.end_turn(tmp_path, begun, REPLY)

    store.rate_turn(tmp_path, id, begun.turns[0].asked, TurnRating(good=False, reason="Another year."))
    read = stored(tmp_path, id)
    assert read.turns[0].rating == TurnRating(good=False, reason="Another year.")
    assert read.turns[0].reply == REPLY

    store.rate_turn(tmp_path, id, begun.turns[0].asked, None)
    read = stored(tmp_path, id)
    assert read.turns[0].rating is None


def test_a_damaged_record_is_named_and_left_out_of_the_list(tmp_path: Path) -> None:
    id = store.new_id()
    begun = store.begin_turn(tmp_path, id, "Why?")
    timeless = replace(begun.turns[0], asked="2026-01-01T00:00:99+00:00")
    overwrite(tmp_path, "conversation", id, store.CODEC.dump_json(replace(begun, turns=(timeless,))).decode())
    assert store.list_conversations(tmp_path) == []

    overwrite(tmp_path, "conversation", id, '{"id": "a secret of its owner", "turns": 1}')
    with pytest.raises(WorkspaceError, match=id) as damaged:
        store.read_conversation(tmp_path, id)
    assert "secret" not in str(damaged.value)
    assert store.list_conversations(tmp_path) == []


def test_an_answer_that_is_cancelled_before_its_first_word_is_stored_as_such(tmp_path: Path) -> None:
    begun = store.begin_turn(tmp_path, store.new_id(), "Why?")
    parts = recording.record_reply(tmp_path, begun, iter(["First, ", "the council"]))
    next(parts)
    parts.close()
    reply = reply_of(tmp_path, begun.id)
    assert (reply.status, reply.text) == ("error", "Answer cancelled.")


def test_the_marks_of_a_cancelled_answer_lead_to_the_sources_that_it_named(tmp_path: Path) -> None:
    evidence = make_evidence("Why?", [make_source(n, f"Dyke {n} was raised.") for n in (1, 2, 3)])
    words = NumberedWords(evidence, evidence.sources)
    begun = store.begin_turn(tmp_path, store.new_id(), "Why?")
    parts = recording.record_reply(tmp_path, begun, iter([evidence, *words.take("Dyke 3 [Source 3] and "), "more"]))
    for part in parts:
        if part == "Dyke 3 [Source 1] and ":
            break
    parts.close()
    [turn] = stored(tmp_path, begun.id).turns
    assert turn.reply is not None
    assert turn.reply.text == "Dyke 3 [Source 1] and"
    assert [one.title for one in turn.reply.sources] == ["Report 3", "Report 1", "Report 2"]
    assert [(one.n, one.title, one.quote) for one in turn.reply.citations] == [(1, "Report 3", "Dyke 3 was raised.")]
    [section] = export_answer(turn).sections
    assert section.citations == turn.reply.citations
    assert not any("Written by" in detail for detail in section.details)
    assert any("citations were not checked" in note for note in section.notes)


@pytest.mark.parametrize(("pages", "quote", "page"), [((4, 4), "Dykes are raised.", 4), ((4, 5), "Cats sleep.", 4)])
def test_a_cancelled_answer_cites_a_sentence_whose_page_is_known(
    tmp_path: Path, pages: tuple[int, int], quote: str, page: int
) -> None:
    """Of a passage over two pages only the page of its beginning is known."""
    source = make_source(1, "Cats sleep. Dykes are raised. Dogs bark.")
    hit = replace(source.hits[0], page=pages[0], last_page=pages[1])
    evidence = make_evidence("Why?", [replace(source, hits=(hit,))])
    begun = store.begin_turn(tmp_path, store.new_id(), "Why?")
    parts = recording.record_reply(tmp_path, begun, iter([evidence, "Dykes are raised [Source 1].", "more"]))
    for _, _ in zip(range(2), parts, strict=False):
        pass
    parts.close()
    reply = reply_of(tmp_path, begun.id)
    assert [(one.quote, one.page) for one in reply.citations] == [(quote, page)]


def test_a_number_that_was_no_mark_while_an_answer_was_written_is_none_when_it_is_cancelled(tmp_path: Path) -> None:
    evidence = make_evidence("Why?", [make_source(n, f"Dyke {n} was raised.") for n in (1, 2, 3)])
    # The second source did not fit into the model's window.
    words = NumberedWords(evidence, [evidence.sources[0], evidence.sources[2]])
    begun = store.begin_turn(tmp_path, store.new_id(), "Why?")
    said = [*words.take("Dyke 3 [Source 3], of which more is said in [2]. "), "more"]
    parts = recording.record_reply(tmp_path, begun, iter([evidence, *said]))
    for part in parts:
        if part == said[-2]:
            break
    parts.close()
    reply = reply_of(tmp_path, begun.id)
    assert reply.text == "Dyke 3 [Source 1], of which more is said in [2]."


def test_a_rewritten_question_is_stored_beside_the_one_that_was_typed(tmp_path: Path) -> None:
    begun = store.begin_turn(tmp_path, store.new_id(), "And in Spain?")
    asked = FollowUp("Who pays in Spain?", "rules", (Message("rewritten by rules"),))

    list(recording.record_reply(tmp_path, begun, iter([asked, "Nobody."])))

    [turn] = stored(tmp_path, begun.id).turns
    assert (turn.question, turn.rewritten) == ("And in Spain?", "Who pays in Spain?")
    assert turn.reply is not None
    assert turn.reply.warnings == ("rewritten by rules",)


def test_the_other_form_of_a_question_asked_as_it_is_written_is_stored(tmp_path: Path) -> None:
    begun = store.begin_turn(tmp_path, store.new_id(), "Are there exceptions?")
    other = FollowUp("Who pays? Are there exceptions?", "rules", sure=False, asked=False)

    list(recording.record_reply(tmp_path, begun, iter([other, "None."])))

    conversation = stored(tmp_path, begun.id)
    [turn] = conversation.turns
    assert (turn.rewritten, turn.in_full) == ("", "Who pays? Are there exceptions?")
    [exchange] = store.exchanges(conversation)
    assert exchange.question == "Are there exceptions?"


def test_a_title_ends_with_a_word() -> None:
    question = "Which rules hold for a county council that keeps personally identifiable information of residents?"
    asked = store.Conversation("0" * 32, (Turn(question, "2026-11-24T10:00", None),))
    assert asked.title == "Which rules hold for a county council that keeps personally identifiable …"


def test_a_follow_up_leans_on_questions_as_they_were_asked_and_on_titles_that_were_cited() -> None:
    turns = (
        Turn("Who pays?", "2026-11-24T10:00", REPLY),
        Turn("And in Spain?", "2026-11-24T10:01", REPLY, "Who pays in Spain?"),
        Turn("Why?", "2026-11-24T10:02", None),
    )

    leant_on = store.exchanges(Conversation("0" * 32, turns))

    assert leant_on == (Exchange("Who pays?", ("Flood Act",)), Exchange("Who pays in Spain?", ("Flood Act",)))


def test_a_conversation_that_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    begun = store.begin_turn(tmp_path, store.new_id(), "Why?")

    assert stored(tmp_path, begun.id) is stored(tmp_path, begun.id)

    store.end_turn(tmp_path, begun, REPLY)
    assert stored(tmp_path, begun.id).turns[0].reply == REPLY


def stored(workspace: Path, id: str) -> Conversation:
    return present(store.read_conversation(workspace, id))


def reply_of(workspace: Path, id: str) -> Reply:
    """Return the reply to the only question of a conversation."""
    [turn] = stored(workspace, id).turns
    assert turn.reply is not None
    return turn.reply
