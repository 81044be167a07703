"""Every word that the pages show stands in the code as a message, and every message in every language."""

import ast
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from docs.list_messages import ERRORS, KEPT, TERMINAL
from ingestion.status.source_status import STATES
from ingestion.status.views import display_reason
from ingestion.types.outcome import OutcomeReason, OutcomeStatus
from ingestion.types.run import PHASES
from pages._shared.shown_names import FIXED
from rag_engine.evaluation.answers.test_results import MEASURES
from tests.conftest import ROOT
from tests.source_trees import calls_of, name_of, nodes_of

PAGES = ROOT / "pages"
# The pages and folders whose words are messages.
TRANSLATED = (
    "_admin", "admin.py", "_evaluation", "evaluation.py", "_ask", "ask.py", "_compare", "compare.py", "_document",
    "document.py", "_knowledge", "_library", "library.py", "_notebook", "notebook.py", "_people", "_search",
    "search.py", "_shared", "_uploads",
)  # fmt: skip
FILES = sorted(
    path for name in TRANSLATED for path in ((PAGES / name).glob("*.py") if name.startswith("_") else [PAGES / name])
)
SCRIPTS = {ROOT / "app.py", *PAGES.glob("*.py")}
EVERY = sorted({*PAGES.rglob("*.py"), ROOT / "app.py"})
CATALOGS = sorted(PAGES.glob("locale/*/LC_MESSAGES/*.po"))

# Phases and readers of lists, whose errors and notes are kept with a source and drawn later.
ROOMS = (
    "acquisition", "acts", "catalogues", "dataset", "deduplication", "licence", "navigation", "phases", "portals",
    "quality", "source_lists", "spreadsheets", "web",
)  # fmt: skip
SOURCES = sorted(path for name in ROOMS for path in (ROOT / "ingestion" / name).rglob("*.py"))
assert {path.relative_to(ROOT / "ingestion").parts[0] for path in SOURCES} == set(ROOMS), "a room has another name now"

MESSAGES = {"_", "ngettext", "counted", "to_translate"}
# What Streamlit draws of its first argument, and our own functions that hand it on.
DRAWN = {
    "altair_chart", "button", "caption", "chat_input", "checkbox", "date_input", "dialog", "download_button", "error",
    "expander", "file_uploader", "form_submit_button", "header", "info", "markdown", "metric",
    "multiselect", "number_input", "pills", "popover", "progress", "radio", "segmented_control",
    "select_slider", "selectbox", "slider", "spinner", "status", "subheader", "success", "tabs", "text", "text_area",
    "text_input", "title", "toast", "toggle", "update", "warning", "write",
    "CheckboxColumn", "Column", "DateColumn", "LinkColumn", "NumberColumn", "ProgressColumn", "SelectboxColumn",
    "TextColumn", "draw_copy", "draw_download", "draw_heading", "draw_schema_choice", "draw_unseen_title", "show_error",
}  # fmt: skip
# Our own whose second argument is drawn.
DRAWN_SECOND = {"act_button"}
DRAWN_NAMED = {"alt", "body", "help", "hint", "label", "placeholder", "show_spinner", "text", "title"}
# Names, and what is not of any language.
NAMES = frozenset(
    "English Español Français Italiano Sextant JSON OCR PDF Word Excel CSV BibTeX RIS UTC MB".split()  # noqa: SIM905
)
# Answers to other machines, before there is a session.
IN_ENGLISH = (
    "This server asks nobody to log in",
    "Log in first: this server answers",
    "There is no room",
    "No page of this",
)
_MARKUP = re.compile(r":material/\w+:|:[a-z]+-(?:badge|background)\[|:[a-z]+\[|</?\w[^>]*>|https?://\S+|&\w+;")
_WORD = re.compile(r"[^\W\d_]{2,}")


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(_MARKUP.sub(" ", text)) if word not in NAMES]


def _literals(node: ast.expr) -> Iterator[ast.Constant]:
    """Yield the strings that an expression may come to, without those that pass through a message."""
    match node:
        case ast.Constant(value=str()):
            yield node
        case ast.JoinedStr(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
            for part in parts:
                yield from _literals(part)
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            yield from _literals(left)
            yield from _literals(right)
        case ast.FormattedValue(value=value):
            yield from _literals(value)
        case ast.Call() if _called(node) in {"escape", "escape_paragraphs", "filter", "join"}:
            for part in node.args:
                yield from _literals(part)
        case ast.Call(func=ast.Attribute(value=ast.Constant() as text, attr="format")):
            yield from _literals(text)


def _drawn(path: Path) -> Iterator[ast.expr]:
    """Yield what calls draw."""
    for node in calls_of(path):
        if _called(node) in DRAWN:
            yield from node.args[:1]
        if _called(node) in DRAWN_SECOND:
            yield from node.args[1:2]
        yield from (one.value for one in node.keywords if one.arg in DRAWN_NAMED)


def _capitalised(path: Path) -> Iterator[ast.Constant]:
    """Yield the strings that begin like a label, in tables, and in what is returned to be drawn."""
    passed: set[ast.AST] = {child for node in nodes_of(path) if _is_no_label(node) for child in ast.walk(node)}
    for node in nodes_of(path):
        match node:
            case ast.Constant(value=str() as text) if node not in passed and re.match(r"[A-Z][a-z]", text):
                yield node
            case _:
                pass


def _is_no_label(node: ast.AST) -> bool:
    """Return whether the strings below the node are messages, docstrings, types, or compared."""
    match node:
        case ast.Call():
            return _called(node) in MESSAGES | {"cast", "TypeVar"}
        case ast.Expr(value=ast.Constant()) | ast.Compare() | ast.MatchValue() | ast.arg():
            return True
        case ast.Subscript(value=ast.Name(id="Literal")):
            return True
        case _:
            return False


def test_what_a_page_shows_is_a_message() -> None:
    wrong = []
    for path in FILES:
        shown = [literal for drawn in _drawn(path) for literal in _literals(drawn)]
        bare = {(one.lineno, str(one.value)) for one in (*shown, *_capitalised(path)) if _words(str(one.value))}
        wrong += [f"{name_of(path)}:{line}: {text!r}" for line, text in bare if not text.startswith(IN_ENGLISH)]
    assert not wrong, "\n".join(sorted(wrong))


def test_a_message_is_a_whole_literal_and_looked_up_while_a_page_is_drawn() -> None:
    wrong = [f"{name_of(path)}:{fault}" for path in EVERY for fault in _faults_of_messages(path)]
    assert not wrong, "\n".join(wrong)


def _faults_of_messages(path: Path) -> Iterator[str]:
    """Yield the lines of a file that look messages up too early, or where they are not found."""
    later = {
        inner
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for part in (node.body if isinstance(node.body, list) else [node.body])
        for inner in ast.walk(part)
    }
    quoted = {inner for node in nodes_of(path) if isinstance(node, ast.JoinedStr) for inner in ast.walk(node)}
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and _called(node) in MESSAGES and node.args:
            if _called(node) != "to_translate" and node not in later and path not in SCRIPTS:
                yield f"{node.lineno}: before there is a session"
            if node in quoted and isinstance(node.args[0], ast.Constant):
                yield f"{node.lineno}: inside an f-string, where it is not found"
            if any(isinstance(one, ast.JoinedStr | ast.BinOp) for one in node.args[: 1 + (_called(node) != "_")]):
                yield f"{node.lineno}: put together of parts"
        if isinstance(node, ast.Name) and node.id == "_" and isinstance(node.ctx, ast.Store) and _uses_messages(path):
            yield f"{node.lineno}: hides the function _"


def _uses_messages(path: Path) -> bool:
    imports = (node for node in nodes_of(path) if isinstance(node, ast.ImportFrom))
    return any("_" in {one.name for one in node.names} for node in imports)


def test_every_value_of_a_fixed_list_has_a_name() -> None:
    reasons = [display_reason(reason) for reason in get_args(OutcomeReason) if reason]
    phases, statuses = map(str.capitalize, PHASES), get_args(OutcomeStatus)
    assert not {*reasons, *phases, *statuses, *STATES.values(), *MEASURES.values()} - FIXED


def test_the_catalogs_hold_the_messages_of_the_code_and_no_others() -> None:
    command = [sys.executable, str(Path("docs") / "list_messages.py"), "--check"]
    checked = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("path", CATALOGS, ids=lambda path: path.parts[-3])
def test_every_message_is_translated_with_the_same_placeholders(path: Path) -> None:
    catalog = _read(path)
    wrong = [f"{one.id!r}: {why}" for one in catalog if one.id and (why := _fault(one, catalog))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", CATALOGS, ids=lambda path: path.parts[-3])
def test_no_page_names_a_command_or_a_variable(path: Path) -> None:
    said = {text for one in _read(path) if one.id for text in _texts(one.string)}
    assert said
    # A message without words of its language would be shown as the terminal says it.
    assert "" not in said
    assert not [text for text in said if TERMINAL.search(text)]


def test_what_becomes_of_a_source_is_said_by_templates() -> None:
    below = [path for package in ("ingestion", "rag_engine") for path in sorted((ROOT / package).rglob("*.py"))]
    kept = [(path, node) for path in below for node in calls_of(path) if _called(node) == KEPT]
    calls = kept + [(path, node) for path in SOURCES for node in calls_of(path) if _called(node) in ERRORS]
    wrong = [
        f"{name_of(path)}:{node.lineno}: {ast.unparse(one)}"
        for path, node in calls
        for one in (*node.args[:2], *_cures(node))
        if isinstance(one, ast.JoinedStr)
    ]
    assert calls
    assert not wrong, "\n".join(wrong)


def _cures(node: ast.Call) -> Iterator[ast.expr]:
    yield from (one.value for one in node.keywords if one.arg == "help")


def _read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3])


def _fault(message: Message, catalog: Catalog) -> str:
    originals = _texts(message.id)
    texts = _texts(message.string)
    if message.fuzzy or not all(texts):
        return "not translated"
    if message.pluralizable and len(texts) != catalog.num_plurals:
        return "a plural form is missing"
    for original, text in zip(originals, texts, strict=True):
        # Page words for a command need not name everything that the command does.
        terminal = TERMINAL.search(original) is not None
        other = _placeholders(original) ^ _placeholders(text)
        if other - _placeholders(original) or (other and not terminal):
            return f"has other placeholders: {text!r}"
        if re.findall(r":material/\w+:", original) != re.findall(r":material/\w+:", text):
            return f"has other icons: {text!r}"
        if not terminal and (original[-1] in ".…?:") != (text[-1] in ".…?:"):
            return f"ends otherwise: {text!r}"
    return ""


def _texts(text: str | list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    return (text or "",) if isinstance(text, str | None) else tuple(text)


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
