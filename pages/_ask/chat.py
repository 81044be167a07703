"""A conversation: its turns, and the next question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ask import running
from pages._ask.answer import draw_reply
from pages._ask.cited_page import draw_cited_page, follow_marks, has_page
from pages._ask.form import fill_in
from pages._ask.question_settings import Asking, asking_of, draw_settings, settings_of, was_asked
from pages._ask.rating import draw_rating
from pages._ask.turn_key import turn_key
from pages._ask.welcome import draw_welcome, draw_welcome_title, draw_welcome_words
from pages._shared import resources
from pages._shared.accessibility import draw_unseen_title
from pages._shared.errors import show_errors, why_refused
from pages._shared.frame import show_at_once, show_opened
from pages._shared.interface_language import _
from pages._shared.markdown import escape, escape_paragraphs
from pages._shared.numbers_and_dates import counted
from rag_engine.answering.circumstances import digest_of
from rag_engine.conversations.person import owns
from rag_engine.conversations.recording import AnswerPart
from rag_engine.conversations.store import Conversation, QuestionSettings, Turn, new_id, read_conversation
from rag_engine.engine import Engine
from rag_engine.planning.follow_up import Exchange

# A page does not move under who has clicked, typed or scrolled there since the question was first scrolled to.
_SCROLL = """<script>
(() => {
  const asked = "%(conversation)s %(number)d";
  // For accessibility.js: the answer that comes now was waited for.
  if ("%(occasion)s" === "asked") window.sextantAsked = true;
  if (window.sextantScrolled?.asked !== asked) {
    window.sextantScrolled?.listening.abort();
    const now = window.sextantScrolled = {asked, listening: new AbortController(), touched: false};
    const options = {passive: true, signal: now.listening.signal};
    for (const touch of ["pointerdown", "keydown", "wheel", "touchmove"]) {
      addEventListener(touch, () => { now.touched = true; }, options);
    }
  }
  if (window.sextantScrolled.touched) return;
  for (const question of document.querySelectorAll(".st-key-question-%(number)d")) {
    question.style.scrollMarginTop = "4rem";
    question.scrollIntoView({block: "start"});
  }
})();
</script>"""
# Turns drawn of a conversation that is opened, so that a long one opens as fast as a short one, and of one that is
# worked in, where nothing that was asked just now goes out of sight. As many come with each click.
_OPENED_TURNS, _LATEST_TURNS = 3, 10
# Quotations come within; an answer that takes longer is watched.
_AT_ONCE_SECONDS = 0.6
# Pixels that a line of text may fill.
_READING_WIDTH = 760
_TYPED, _CHOSEN, _SCROLLED = "question typed", "question chosen", "question scrolled to"

# The question, whether it is not to be rewritten, and its settings, None for those of the sidebar.
AskedNow = tuple[str, bool, QuestionSettings | None]
# Where a turn is drawn: its words, the page beside them, and in the words what belongs to its question.
TurnPlaces = tuple[DeltaGenerator, DeltaGenerator | None, DeltaGenerator]
# Of the page's head, of each turn that is drawn, and of the question just asked; and whether the input waits for an
# answer.
Places = tuple[DeltaGenerator, list[DeltaGenerator], TurnPlaces | None, bool]

# In the address: the turn that a link leads to.
_ASKED_AT = "asked"


def current_conversation(workspace: Path) -> Conversation:
    """Return the conversation that the address names, else a new one."""
    asked = st.query_params.get("conversation", "")
    with show_errors():
        found = read_conversation(workspace, asked, resources.person())
        if found is not None:
            return found
        if asked:
            st.info(
                _("This conversation was deleted, belongs to somebody else, or the link is incomplete."),
                icon=":material/link_off:",
            )
    return Conversation(new_id(), (), owner=resources.person().key)


def asked_now() -> AskedNow | None:
    """Return the question that a person has just asked: typed, else by a button.

    A second call in one run finds no question of a button.
    """
    chosen: AskedNow | None = st.session_state.pop(_CHOSEN, None)
    typed = str(st.session_state.get(_TYPED) or "").strip()
    return (typed, False, None) if typed else chosen


def draw_first(engine: Engine, conversation: Conversation, asked: AskedNow | None) -> Places:
    """Draw what the page is opened for before the sidebar; return where the rest of the page goes.

    That is the question just asked, or else the input, on the start page with what can be done there.
    """
    busy = asked is None and _draw_input(conversation)
    if asked is None and not conversation.turns:
        place = draw_welcome_title(_READING_WIDTH)
        with place:
            draw_welcome_words(engine)
        show_opened()
        return place, [], None, busy
    # Nothing of the start page stays above its question.
    head = st.container() if conversation.turns else st.empty().container()
    if asked is None:
        return head, _turn_places(conversation, len(conversation.turns)), None, busy
    st.query_params.pop(_ASKED_AT, None)
    turns = _turn_places(conversation, len(conversation.turns) + 1)
    with turns[-1]:
        begun = _draw_question(asked[0], len(conversation.turns), latest=True)
    _scroll_to(conversation, len(conversation.turns), "asked")
    show_at_once()
    return head, turns, begun, busy


def draw_chat(engine: Engine, conversation: Conversation, asked: AskedNow | None, now: Asking, places: Places) -> None:
    """Begin to answer what was asked, and draw the conversation with the answer that is being written.

    `now` is how the sidebar says to ask, `places` what `draw_first` returned.
    """
    head, turns, begun, busy = places
    count = len(conversation.turns) + (asked is not None)
    if asked and begun:
        with begun[0], show_errors():
            conversation = _begin_answer(engine, conversation.id, asked, now)
            if len(conversation.turns) != count:
                # Another tab asked something here in between.
                st.rerun()
        busy = _draw_input(conversation)
    if not conversation.turns:
        with draw_welcome_title(_READING_WIDTH) if asked else head:
            if asked:
                draw_welcome_words(engine)
            draw_welcome(engine, now[0], choose)
        return
    last, first = len(conversation.turns) - 1, count - len(turns)
    asked_at = st.query_params.get(_ASKED_AT)
    dead = asked_at is not None and all(turn.asked != asked_at for turn in conversation.turns)
    with head:
        draw_unseen_title(escape(conversation.title), "conversation")
        follow_marks()
        if conversation.shared_by:
            st.caption(_shared_by(conversation))
        if dead:
            st.info(_("The question that the link leads to is not in this conversation."), icon=":material/link_off:")
        _draw_earlier(conversation, first)
    for number in range(first, last + 1):
        with turns[number - first]:
            _draw_turn(conversation, number, now, begun if number == count - 1 else None)
    if not busy:
        st.fragment(running.await_change, run_every=running.IDLE_SECONDS)(conversation)
    shown = _turn_in_address(conversation, last)
    if not dead:
        _scroll_once(conversation, shown)


def _begin_answer(engine: Engine, id: str, asked: AskedNow, now: Asking) -> Conversation:
    """Begin to answer what was asked in a conversation; return it with the question as its last turn.

    An answer that comes at once is in it too.
    """
    question, as_written, settings = asked
    asking = asking_of(settings, now) if settings else now
    jobs, person = resources.answer_jobs(), resources.person()
    begun = jobs.start(
        id, question, _answerer(engine, question, as_written, asking), settings_of(engine, asking), person
    )
    # In the address, so that a browser that reloads finds the question, and soon its answer.
    st.query_params["conversation"] = id
    jobs.wait(id, _AT_ONCE_SECONDS, person)
    return read_conversation(resources.workspace(), id, person) or begun


def _draw_input(conversation: Conversation) -> bool:
    """Draw where a question is typed; return whether it waits for an answer that is being written."""
    busy = resources.answer_jobs().progress(conversation.id, resources.person()) is not None
    # Placed by hand: where Streamlit places it, the page also jumps to its end, past the answer to the last source.
    with st.bottom:
        st.chat_input(
            _("Ask a question about your documents"),
            key=_TYPED,
            disabled=busy or not owns(resources.person(), conversation.owner),
        )
    return busy


def _shared_by(conversation: Conversation) -> str:
    if owns(resources.person(), conversation.owner):
        return _(":material/group: Shared with everybody here by you.")
    by = escape(conversation.shared_by)
    return _(":material/group: Shared with everybody here by {name}. You can read it.").format(name=by)


def choose(question: str, settings: QuestionSettings | None = None, *, as_written: bool = False) -> None:
    """Ask a question when the page is next drawn, with the settings given or those of the sidebar."""
    st.session_state[_CHOSEN] = question, as_written, settings


def _answerer(
    engine: Engine, question: str, as_written: bool, asking: Asking
) -> Callable[[tuple[Exchange, ...]], Iterator[AnswerPart]]:
    """Return how a question is answered after those before it.

    A follow-up question is rewritten, unless it fills in a form or is to be asked as written.
    """
    wanted, retrieval, schema = asking

    def answer(before: tuple[Exchange, ...]) -> Iterator[AnswerPart]:
        if schema:
            yield from fill_in(engine, question, schema, wanted, retrieval)
        else:
            yield from engine.ask_next(question, () if as_written else before, wanted, retrieval)

    return answer


def _turn_in_address(conversation: Conversation, last: int) -> int:
    """Return the number of the turn whose time is in the address, else `last`."""
    asked = st.query_params.get(_ASKED_AT)
    return next((number for number, turn in enumerate(conversation.turns) if turn.asked == asked), last)


def _turn_places(conversation: Conversation, count: int) -> list[DeltaGenerator]:
    """Return a place for each drawn turn, the latest last.

    The places stay while a question is added, so that the browser does not draw earlier turns again.
    """
    return [st.container() for _number in range(_shown_turns(conversation, count))]


def _scroll_once(conversation: Conversation, number: int) -> None:
    """Scroll to a question when it is asked, answered, or opened with its conversation."""
    answered = conversation.turns[number].reply is not None
    state = turn_key(conversation, number), answered
    if st.session_state.get(_SCROLLED) != state:
        st.session_state[_SCROLLED] = state
        _scroll_to(conversation, number, "answered" if answered else "being answered")


def _scroll_to(conversation: Conversation, number: int, occasion: str) -> None:
    """Scroll to the question of a turn, by a script.

    Streamlit has no other way, and runs the same script only once.
    """
    # Nothing that a file from elsewhere says of itself comes into a script.
    turn = {"conversation": digest_of(conversation.id), "number": number, "occasion": occasion}
    st.html(_SCROLL % turn, unsafe_allow_javascript=True)


def _shown_turns(conversation: Conversation, count: int) -> int:
    """Return how many turns are drawn: the latest, and more with each click and question."""
    key = _shown_key(conversation)
    # The turn of an address is drawn however far back it is.
    needed = count - _turn_in_address(conversation, count - 1)
    kept: tuple[int, int] = st.session_state.get(key, (_OPENED_TURNS, count))
    most, before = kept
    if count > before:
        most = max(most, min(most + count - before, _LATEST_TURNS))
    st.session_state[key] = most, count
    return min(max(most, needed), count)


def _shown_key(conversation: Conversation) -> str:
    return f"shown {conversation.id}"


def _draw_earlier(conversation: Conversation, hidden: int) -> None:
    """Draw the button for the turns before the latest ones, if there are more."""
    if hidden:
        label = counted("Show {n} earlier question", "Show {n} earlier questions", hidden)
        key = _shown_key(conversation)
        most, count = st.session_state[key]
        more = partial(st.session_state.update, {key: (most + _LATEST_TURNS, count)})
        st.button(label, icon=":material/expand_less:", type="tertiary", key="earlier", on_click=more)


def _draw_turn(conversation: Conversation, number: int, now: Asking, begun: TurnPlaces | None) -> None:
    """Draw a question and its reply, the answer that is being written, or what became of it.

    `begun` is where a question stands that is drawn already.
    """
    turn = conversation.turns[number]
    latest = number == len(conversation.turns) - 1
    left, right, question = begun or _draw_question(turn.question, number, latest=latest)
    with left:
        _draw_exchange(conversation, number, now, question, latest=latest)
    # Last, for a page may take seconds to draw, and the answer is there.
    if right is not None and turn.reply is not None and has_page(turn.reply):
        with right:
            draw_cited_page(conversation, number, turn.reply)


def _draw_question(text: str, number: int, *, latest: bool) -> TurnPlaces:
    """Draw the words of a question; return the places of its turn.

    The latest has one for the page that its answer cites, kept free while the answer is written.
    """
    left, right = st.columns([6, 5], gap="medium") if latest else (st.container(width=_READING_WIDTH), None)
    with left:
        return left, right, _draw_words(text, number)


def _draw_words(question: str, number: int) -> DeltaGenerator:
    """Draw the words of a question; return where what belongs to it is drawn below them."""
    with st.container(key=f"question-{number}"):
        place = st.chat_message("user", avatar=":material/person:")
    first, *rest = question.strip().split("\n", 1)
    with place:
        st.header(escape(first), anchor=False)
        if rest:
            st.markdown(escape_paragraphs(rest[0]))
    return place


def _draw_exchange(
    conversation: Conversation, number: int, now: Asking, question: DeltaGenerator, *, latest: bool
) -> None:
    turn, key = conversation.turns[number], turn_key(conversation, number)
    with question:
        _draw_asking(turn, key, latest=latest and owns(resources.person(), conversation.owner))
    with st.chat_message("assistant", avatar=":material/explore:"):
        if turn.reply is not None:
            draw_reply(conversation, number, turn.reply, latest=latest)
            if turn.reply.status != "error" and owns(resources.person(), conversation.owner):
                draw_rating(conversation, number)
        elif latest and resources.answer_jobs().progress(conversation.id, resources.person()) is not None:
            st.fragment(running.watch, run_every=running.LOOK_SECONDS)(conversation.id)
            return
        elif not owns(resources.person(), conversation.owner):
            st.info(_("There is no answer yet."), icon=":material/hourglass_empty:")
        else:
            if read_conversation(resources.workspace(), conversation.id, resources.person()) != conversation:
                # Its answer was stored after this run of the page had read the conversation.
                st.rerun()
            st.info(_("This answer was interrupted when the server stopped."), icon=":material/power_off:")
        if owns(resources.person(), conversation.owner):
            _draw_asking_again(turn, key, now)


def _draw_asking(turn: Turn, key: str, *, latest: bool) -> None:
    """Draw a question's settings and rewriting, with the button to ask the latest in its other form."""
    if turn.settings:
        draw_settings(turn.settings, turn.asked)
    if turn.rewritten:
        said, other, label, name = running.asked_as(turn.rewritten), turn.question, _("Ask as written"), "as written"
    elif turn.in_full:
        said, other, label, name = running.may_mean(turn.in_full), turn.in_full, _("Ask as a follow-up"), "in full"
    else:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(said, width="content")
        if latest:
            st.button(
                label,
                icon=":material/undo:",
                type="tertiary",
                key=f"{key} {name}",
                on_click=choose,
                args=(other, turn.settings),
                kwargs={"as_written": True},
            )


def _draw_asking_again(turn: Turn, key: str, now: Asking) -> None:
    """Draw the buttons to ask a question again: as it was, or edited.

    An edited question can be asked with the settings of now.
    """
    settings = turn.settings
    obstacle = escape(why_refused(lambda: asking_of(settings, now) if settings else None))
    same = _("With the filters and settings of this answer.") if settings else None
    with st.container(horizontal=True):
        st.button(
            _("Ask again"),
            icon=":material/refresh:",
            type="tertiary",
            key=f"{key} again",
            help=obstacle or same,
            disabled=bool(obstacle),
            on_click=choose,
            args=(turn.question, settings),
        )
        with st.popover(_("Edit question"), icon=":material/edit:", type="tertiary", key=f"{key} edit"):
            typed = f"{key} edited"
            # As low as it can be: under the latest answer there is hardly room for the button below it.
            edited = st.text_area(
                _("Question"), turn.question, key=typed, height=68, label_visibility="collapsed", width=460
            )
            kept = settings
            if obstacle:
                st.caption(obstacle)
                kept = None
            elif kept and not was_asked(kept, now):
                as_before = st.checkbox(
                    _("With the filters and settings of this answer"),
                    value=True,
                    key=f"{key} same settings",
                    help=_("Otherwise with those that are set in the sidebar now."),
                )
                kept = kept if as_before else None
            st.button(
                _("Ask the question"),
                icon=":material/send:",
                key=f"{key} ask edited",
                disabled=not edited.strip(),
                on_click=_choose_edited,
                args=(typed, kept),
            )


def _choose_edited(key: str, settings: QuestionSettings | None) -> None:
    """Ask the edited question as it stands at the click.

    The click may come before the page was drawn with the edit.
    """
    if edited := str(st.session_state[key]).strip():
        choose(edited, settings)
