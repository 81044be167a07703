"""Two people of one server: what is one's own, what is shared, and what stays hidden."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rag_engine.conversations import store
from rag_engine.conversations.answer_jobs import AnswerJobs
from rag_engine.conversations.cited_in import citing_turns
from rag_engine.conversations.feedback import rated_answers
from rag_engine.conversations.person import LOCAL, Person
from rag_engine.conversations.store import TurnRating
from rag_engine.errors import InputError
from rag_engine.notebook.notebook import NotebookEntry, with_entry
from rag_engine.notebook.store import (
    change_notebook,
    create_notebook,
    default_notebook,
    delete_notebook,
    list_notebooks,
    read_notebook,
    share_notebook,
)
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.saved import delete_search, list_searches, save_search
from tests.present import present
from tests.rag_engine.conversations.test_answer_jobs import QUESTION, SlowAnswer, ended
from tests.rag_engine.conversations.test_store import REPLY

ADA = Person("Ada", "ada@example.org", "curator")
BOB = Person("Bob", "bob@example.org", "reader")
EVE = Person("Eve", "eve@example.org", "admin")


@pytest.fixture
def conversation(tmp_path: Path) -> str:
    """Ada's, with an answer that she has rated."""
    id = store.new_id()
    begun = store.begin_turn(tmp_path, id, "How long is a plan valid?", None, ADA)
    store.end_turn(tmp_path, begun, REPLY)
    store.rate_turn(tmp_path, id, begun.turns[-1].asked, TurnRating(good=False, reason="Too short."), ADA)
    return id


@pytest.mark.parametrize("other", [BOB, EVE, LOCAL])
def test_a_conversation_is_its_owners_alone(tmp_path: Path, conversation: str, other: Person) -> None:
    assert [one.id for one in store.list_conversations(tmp_path, ADA)] == [conversation]
    assert store.list_conversations(tmp_path, other) == []
    assert store.read_conversation(tmp_path, conversation, other) is None
    assert not store.is_kept(tmp_path, conversation, other)
    assert len(citing_turns(tmp_path, "0123456789ab", ADA)) == 1
    assert citing_turns(tmp_path, "0123456789ab", other) == ()
    with pytest.raises(InputError, match="somebody else's"):
        store.begin_turn(tmp_path, conversation, "And in Spain?", None, other)
    store.rename_conversation(tmp_path, conversation, "Mine", other)
    assert store.delete_conversation(tmp_path, conversation, other) is None
    found = present(store.read_conversation(tmp_path, conversation, ADA))
    assert (found.name, len(found.turns)) == ("", 1)


def test_a_shared_conversation_can_be_read_without_its_ratings_and_not_changed(
    tmp_path: Path, conversation: str
) -> None:
    store.share_conversation(tmp_path, conversation, ADA, shared=True)
    found = present(store.read_conversation(tmp_path, conversation, BOB))
    assert (found.shared_by, found.turns[0].rating) == ("Ada", None)
    assert [one.shared_by for one in store.list_conversations(tmp_path, BOB)] == ["Ada"]
    changes: tuple[Callable[[], object], ...] = (
        lambda: store.begin_turn(tmp_path, conversation, "And in Spain?", None, BOB),
        lambda: store.rate_turn(tmp_path, conversation, found.turns[0].asked, None, BOB),
        lambda: store.share_conversation(tmp_path, conversation, BOB, shared=False),
        lambda: store.delete_conversation(tmp_path, conversation, BOB),
    )
    for change in changes:
        with pytest.raises(InputError, match="shared by Ada, who alone can change it"):
            change()
    store.share_conversation(tmp_path, conversation, ADA, shared=False)
    assert store.read_conversation(tmp_path, conversation, BOB) is None


def test_a_rating_is_seen_by_admins_where_its_owner_chooses_so(tmp_path: Path, conversation: str) -> None:
    store.rename_conversation(tmp_path, conversation, "My promotion", ADA)
    [mine] = rated_answers(tmp_path, ADA)
    assert (mine.by, mine.is_open) == ("", True)
    assert [rated_answers(tmp_path, other) for other in (BOB, EVE, LOCAL)] == [(), (), ()]
    assert store.shared_turn(tmp_path, conversation, mine.asked, EVE) is None

    store.share_rating(tmp_path, conversation, mine.asked, ADA, shared=True)
    store.rate_turn(tmp_path, conversation, mine.asked, TurnRating(good=True), ADA)
    [seen] = rated_answers(tmp_path, EVE)
    assert (seen.by, seen.question, seen.rating.good) == ("Ada", "How long is a plan valid?", True)
    assert seen.reply == REPLY
    # The rest of the conversation stays Ada's.
    assert (seen.title, seen.is_open) == ("", False)
    assert store.read_conversation(tmp_path, conversation, EVE) is None
    assert store.shared_turn(tmp_path, conversation, mine.asked, EVE) is not None
    assert rated_answers(tmp_path, BOB) == ()
    assert store.shared_turn(tmp_path, conversation, mine.asked, BOB) is None
    for shared in (True, False):
        store.share_rating(tmp_path, conversation, mine.asked, EVE, shared=shared)
    assert len(rated_answers(tmp_path, EVE)) == 1

    store.share_rating(tmp_path, conversation, mine.asked, ADA, shared=False)
    assert rated_answers(tmp_path, EVE) == ()


def test_what_has_no_owner_is_the_local_persons_and_the_admins(tmp_path: Path) -> None:
    id = store.new_id()
    store.end_turn(tmp_path, store.begin_turn(tmp_path, id, "How long?"), REPLY)
    assert store.read_conversation(tmp_path, id, LOCAL) is not None
    assert store.read_conversation(tmp_path, id, EVE) is not None
    assert store.read_conversation(tmp_path, id, ADA) is None


def test_an_answer_is_neither_watched_nor_stopped_by_others(tmp_path: Path) -> None:
    jobs, id, slow = AnswerJobs(tmp_path), store.new_id(), SlowAnswer()
    jobs.start(id, QUESTION, slow, None, ADA)
    assert slow.written.wait(30)
    for other in (BOB, EVE, LOCAL):
        assert jobs.progress(id, other) is None
        jobs.stop(id, other)
        with pytest.raises(InputError):
            jobs.start(id, "And in Spain?", SlowAnswer(), None, other)
    progress = present(jobs.progress(id, ADA))
    assert not progress.stopping
    slow.go_on.set()
    with pytest.raises(AssertionError):
        # Nothing of it for whoever is not its owner, also once it is written.
        ended(tmp_path, id)
    found = present(store.read_conversation(tmp_path, id, ADA))
    assert found.turns[-1].reply is not None


def test_notebooks_are_private_and_shared_by_choice(tmp_path: Path) -> None:
    own = create_notebook(tmp_path, "Heat", ADA)
    create_notebook(tmp_path, "Heat", BOB)
    entry = NotebookEntry(store.new_id(), "", "", "How long?", "2026-11-25T10:00:00+00:00")
    for person in (ADA, BOB, LOCAL):
        change_notebook(tmp_path, default_notebook(person).id, lambda one: with_entry(one, entry), person)
    assert [one.owner for one in list_notebooks(tmp_path, ADA)] == [ADA.key, ADA.key]
    assert read_notebook(tmp_path, default_notebook(ADA).id, BOB) is None
    delete_notebook(tmp_path, own.id, BOB)
    with pytest.raises(InputError, match="There is no notebook"):
        share_notebook(tmp_path, own.id, BOB, shared=True)
    share_notebook(tmp_path, own.id, ADA, shared=True)
    assert [(one.name, one.shared_by) for one in list_notebooks(tmp_path, BOB)][-1] == ("Heat", "Ada")
    with pytest.raises(InputError, match="shared by Ada"):
        change_notebook(tmp_path, own.id, lambda one: with_entry(one, entry), BOB)


def test_saved_searches_are_private(tmp_path: Path) -> None:
    saved = save_search(tmp_path, "Dykes", PassageQuery("dyke"), ADA)
    save_search(tmp_path, "Dykes", PassageQuery("dyke"), BOB)
    assert [one.id for one in list_searches(tmp_path, ADA)] == [saved.id]
    with pytest.raises(InputError, match="no saved search"):
        delete_search(tmp_path, saved.id, BOB)
