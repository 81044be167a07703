"""Commands of a session in the terminal: what each line that begins with a slash does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import typer

from cli.chat.session import ChatSession, ask
from cli.terminal import out, say
from ingestion.status.views import pluralised
from rag_engine.chunking.indexed_text import cited
from rag_engine.conversations.reply import Reply, ShownSource
from rag_engine.conversations.store import Conversation, new_id
from rag_engine.errors import InputError
from rag_engine.filters import parse_filters
from rag_engine.takeaway.exported_text import export_conversation
from rag_engine.takeaway.formats import FORMATS, export_file
from rag_engine.text.file_kinds import pages_text

EXIT = "/exit"
# A value may have blanks: "hazard=Climate change year=2019" are two.
_BETWEEN_FILTERS = re.compile(r"\s+(?=[\w-]+=)")


@dataclass(frozen=True, slots=True)
class ChatCommand:
    """A command of the session: how it is written after its name, what it does in words, and the function."""

    usage: str
    help: str
    act: Callable[[ChatSession, str], None]


def take(session: ChatSession, line: str) -> bool:
    """Do what a line asks for; return whether the session continues."""
    text = line.strip()
    if not text.startswith("/"):
        if text:
            ask(session, text)
        return True
    name, _, rest = text.partition(" ")
    if name == EXIT:
        return False
    command = COMMANDS.get(name)
    if command is None:
        raise InputError(f"There is no command {name}.", help="/help lists the commands.")
    command.act(session, rest.strip())
    return True


def _filter(session: ChatSession, text: str) -> None:
    if text == "clear":
        session.filter_by({})
    elif text:
        session.filter_by({**session.wanted, **parse_filters(_BETWEEN_FILTERS.split(text))})
    out.print(session.describe_filter() or "No filter.", markup=False)


def _sources(session: ChatSession, _: str) -> None:
    reply = _latest(session)
    quoted = {citation.n for citation in reply.citations}
    if not reply.sources:
        out.print("The latest answer has no sources.")
    for source in reply.sources:
        place = cited(source.section, source.clause)
        named = ", ".join(
            filter(None, (source.title, place, pages_text(source.file, source.named_pages([source.page]))))
        )
        mark = "cited" if source.n in quoted else "not cited"
        say(f"{source.n}. {named} ({source.file})")
        share = source.tier_share
        tested = "" if share is None else f" ({share:.0%} of such passages held the answer in our tests)"
        say(f"   {mark}, {source.tier} match{tested}", "dim")


def _open(session: ChatSession, text: str) -> None:
    reply = _latest(session)
    source = next((one for one in reply.sources if str(one.n) == text), None)
    if source is None:
        numbers = ", ".join(str(one.n) for one in reply.sources) or "none"
        raise InputError(f"The latest answer has no source {text!r}.", help=f"Its sources are {numbers}.")
    page, image = _draw(session, source, reply)
    path = Path(mkdtemp(prefix="sextant-")) / f"source-{source.n}-page-{page}.png"
    path.write_bytes(image)
    shown = session.shows_pages and typer.launch(str(path)) == 0
    known = ", ".join(filter(None, (source.title, pages_text(source.file, source.named_pages([page])))))
    say(f"{known}: {path}{' (opened)' if shown else ''}")


def _draw(session: ChatSession, source: ShownSource, reply: Reply) -> tuple[int, bytes]:
    """Return the page of a source's first quote, else of the passage, with both marked on it."""
    document = session.engine.catalog.find_document(source.document_id)
    citations = [citation for citation in reply.citations if citation.n == source.n]
    page = citations[0].page if citations else source.page
    quotes = tuple((citation.start, citation.end) for citation in citations)
    start, end = source.passage
    inside = all(start <= first and last <= end for first, last in quotes)
    marked = source.passage if inside else (source.start, source.end)
    return page, session.engine.drawings.page_image(document, *marked, quotes, page=page).result()


def _history(session: ChatSession, _: str) -> None:
    if not session.conversation.turns:
        out.print("Nothing has been asked yet.")
    for number, turn in enumerate(session.conversation.turns, start=1):
        say(f"{number}. {turn.question}")
        if turn.rewritten:
            say(f"   Asked as: {turn.rewritten}", "dim")


def _export(session: ChatSession, text: str) -> None:
    if not session.conversation.turns:
        raise InputError("There is nothing to export yet.", help="Ask a question first.")
    path = Path(text).expanduser()
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"{text!r} names no format.", help=f"End it in {', '.join(FORMATS)}, as in /export answers.docx."
        )
    if path.exists():
        raise InputError(f"{path} exists already.", help="Choose another name.")
    try:
        path.write_bytes(
            export_file(
                export_conversation(session.conversation), path.suffix.lower(), session.engine.collection.documents()
            )
        )
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}.", help="Choose another folder.") from error
    questions = pluralised(len(session.conversation.turns), "question")
    say(f"Exported {questions} to {path}.")


def _as_written(session: ChatSession, _: str) -> None:
    turns = session.conversation.turns
    if not turns or not turns[-1].rewritten:
        raise InputError("The latest question was asked as it is written.", help="Ask another one.")
    ask(session, turns[-1].question, as_written=True)


def _in_full(session: ChatSession, _: str) -> None:
    turns = session.conversation.turns
    if not turns or not turns[-1].in_full:
        raise InputError("The latest question has no other form.", help="Ask another one.")
    ask(session, turns[-1].in_full, as_written=True)


def _clear(session: ChatSession, _: str) -> None:
    session.conversation = Conversation(new_id(), ())
    out.print("New conversation. The one before is kept on the Ask page.")


def _do(session: ChatSession, words: str) -> None:
    if not words:
        raise InputError("Nothing to do was named.", help='Write it like "/do check the licences of the new rows".')
    _carry_out(session, words)


def _menu(session: ChatSession, _: str) -> None:
    from cli.jobs import choose_from_menu

    _carry_out(session, choose_from_menu())


def _carry_out(session: ChatSession, words: str) -> None:
    """Show the request that words ask for, and run it when the person agrees."""
    from cli.jobs import print_summary, understand, watch
    from ingestion.acts import runs
    from ingestion.acts.context import local_person, open_context
    from ingestion.types.run import describe_request

    # The worker writes the indexes, of which one may be open here.
    session.reopen()
    context = open_context(session.engine, local_person())
    request = understand(context, words).request
    out.print(describe_request(request, len(request.codes)), markup=False)
    if typer.confirm("Do it?", default=False):
        print_summary(watch(context, runs.run(context, request)))


def _help(session: ChatSession, _: str) -> None:
    del session
    width = max(len(f"{name} {command.usage}") for name, command in COMMANDS.items())
    for name, command in COMMANDS.items():
        say(f"{f'{name} {command.usage}':{width}}  {command.help}")
    out.print(f"{EXIT:{width}}  End the session.", markup=False)
    out.print("Anything else is a question. Ctrl-C cancels the answer that is being written.")


def _latest(session: ChatSession) -> Reply:
    if session.reply is None:
        raise InputError("There is no answer yet.", help="Ask a question first.")
    return session.reply


COMMANDS: Mapping[str, ChatCommand] = {
    "/filter": ChatCommand("[KEY=VALUE ... | clear]", "Show, set or clear the filter.", _filter),
    "/sources": ChatCommand("", "List the sources of the latest answer.", _sources),
    "/open": ChatCommand("N", "Show the page of source N.", _open),
    "/as-written": ChatCommand("", "Ask the latest follow-up question as it is written.", _as_written),
    "/in-full": ChatCommand("", "Ask the latest question as a follow-up of the one before.", _in_full),
    "/history": ChatCommand("", "List the questions of this conversation.", _history),
    "/export": ChatCommand("FILE", "Write the conversation as .docx or .md, or its sources as .bib or .ris.", _export),
    "/clear": ChatCommand("", "Begin a new conversation.", _clear),
    "/do": ChatCommand("WORDS", "Run what the words ask for.", _do),
    "/menu": ChatCommand("", "Choose a phase to run.", _menu),
    "/help": ChatCommand("", "List the commands.", _help),
}
