"""Bring pages/locale/ up to date with the messages and errors in the code and in the tables of data/.

Messages are written in English for terminal and page. The English file holds only messages that name a command or a
variable of the environment: the page has other words for these.

An error is a message if it is written out as a literal, with named places. An error made with an f-string, for the
terminal or the log alone, is no message.

`python docs/list_messages.py` adds new messages, without a translation, and drops those that are gone; with --check it
says whether the files are current.
"""

from __future__ import annotations

import ast
import errno
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from string import Formatter

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from ingestion.acts.register import every_act
from ingestion.dataset.columns import COLUMNS, EDITING
from ingestion.jobs.kinds import KINDS
from pages._shared.interface_language import ENGLISH
from rag_engine.settings import settings_table

ROOT = Path(__file__).resolve().parents[1]
# As in gettext: the places of the message, and of its plural, among the arguments.
KEYWORDS = {"_": None, "to_translate": None, "ngettext": (1, 2), "counted": (1, 2)}
# Descriptions of the engine and of ingestion take their words from a Wording.
WORDING, WORDING_KEYWORDS = "rag_engine.text.wording", {"message": None, "counted": (1, 2)}
# Errors, with the place of the message among the arguments; functions that return one take words for it too.
ERRORS: Mapping[str, int] = {
    "SextantError": 0, "InputError": 0, "WorkspaceError": 0, "BackendError": 0, "ReplyError": 0,
    "WindowError": 0, "CutError": 0, "Refusal": 1, "ModelTimeoutError": 0,
}  # fmt: skip
# What is kept with an answer, a source or a run.
KEPT = "Message"
# Errors of the system for a file that cannot be read or written.
SYSTEM = (
    errno.EEXIST, errno.ENAMETOOLONG, errno.EIO, errno.EISDIR, errno.ENOSPC, errno.ENOENT, errno.ENOTDIR, errno.EACCES,
    errno.EROFS, errno.EMFILE,
)  # fmt: skip
# Words for the terminal alone: commands, their options, and variables of the environment.
TERMINAL = re.compile(
    r"SEXTANT_|\{variable\}|`(?:sextant|ollama|pip|apt-get) |apt-get|\bollama (?:pull|serve)\b|(?<!\S)--[a-z]"
)
# A comment that begins so goes to the translators, with the message after it.
FOR_TRANSLATORS = "For translators:"


def catalog_files() -> list[Path]:
    """Return the file of each language."""
    return sorted(ROOT.glob("pages/locale/*/LC_MESSAGES/*.po"))


def messages() -> Catalog:
    """Return the messages of the pages, and of descriptions below them, each with the files it is in."""
    found = Catalog()
    pages = (ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py")))
    below = [path for room in ("ingestion", "rag_engine") for path in sorted((ROOT / room).rglob("*.py"))]
    wordings = [path for path in below if _describes(path)]
    for path, keywords in (*((one, KEYWORDS) for one in pages), *((one, WORDING_KEYWORDS) for one in wordings)):
        place = path.relative_to(ROOT).as_posix()
        for line, message, comments, context in extract_from_file("python", path, keywords, (FOR_TRANSLATORS,)):
            found.add(message, None, [(place, line)], auto_comments=comments, context=context)
    for path in below:
        for line, text in errors_in(ast.parse(path.read_text(encoding="utf-8"))):
            found.add(text, None, [(path.relative_to(ROOT).as_posix(), line)])
    for file, text in _in_tables():
        found.add(text, None, [(file, 1)])
    return found


def _in_tables() -> Iterator[tuple[str, str]]:
    """Yield file and text of each message in a table."""
    yield from (("rag_engine/messages.py", os.strerror(number)) for number in SYSTEM)
    yield from (("ingestion/acts/register.py", act.title) for act in every_act().values() if act.title)
    for one in KINDS.values():
        texts = (one.title, one.variant[1], one.counted)
        yield from (("ingestion/jobs/kinds.py", text) for text in texts if text and isinstance(text, str))
    yield from (("data/settings.toml", text) for text in _settings_words())
    yield from (("data/settings.toml", one.only) for one in settings_table().values() if one.only)
    yield from (("data/dataset.toml", text) for text in (*(one.meaning for one in COLUMNS), *EDITING))


def of_language(language: str, messages: Catalog) -> Catalog:
    """Return the messages that the file of a language holds."""
    if language != ENGLISH:
        return messages
    chosen = Catalog()
    for message in messages:
        if any(map(TERMINAL.search, _forms(message))):
            chosen.add(message.id, None, message.locations, auto_comments=message.auto_comments)
    return chosen


def _forms(message: Message) -> Sequence[str]:
    return [message.id] if isinstance(message.id, str) else list(message.id)


def errors_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the messages of errors, and what is to be done about each, that are written out in a module."""
    constants = dict(_constants(tree))
    makers = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id in ERRORS
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id in ERRORS:
            message = list(_texts(node.args[ERRORS[node.func.id] :][:1], constants))
            cure = [one.value for one in node.keywords if one.arg == "help"]
            yield from ((node.lineno, text) for text in (*message, *(_texts(cure, constants) if message else ())))
        elif node.func.id == KEPT:
            yield from ((node.lineno, text) for text in _texts(node.args, constants))
        elif node.func.id in makers:
            yield from ((node.lineno, text) for text in _texts(node.args, constants) if _has_places(text))


def _has_places(text: str) -> bool:
    try:
        names = [name for _literal, name, *_ in Formatter().parse(text) if name is not None]
    except ValueError:
        return False
    return bool(names) and all(map(str.isidentifier, names))


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of a module with the expressions that they stand for."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                yield from (
                    (one.id, value) for one, value in zip(names, values, strict=True) if isinstance(one, ast.Name)
                )


def _texts(given: Iterable[ast.expr], constants: Mapping[str, ast.expr]) -> Iterator[str]:
    """Yield the texts that expressions may come to, also by the name of a constant of the module."""
    for node in given:
        match node:
            case ast.Constant(value=str(text)) if text:
                yield text
            case ast.IfExp(body=body, orelse=orelse):
                yield from _texts([body, orelse], constants)
            case ast.Name(id=name) if name in constants:
                yield from _texts([constants[name]], {})


def _settings_words() -> Iterator[str]:
    """Yield what the Settings tab says of each setting."""
    for setting in settings_table().values():
        yield from filter(None, (setting.group, setting.label, setting.explanation, setting.unset))


def _describes(path: Path) -> bool:
    return path.name == "wording.py" or WORDING in path.read_text(encoding="utf-8")


def written(present: str, catalog: Catalog) -> str:
    """Return the text of a language's file with the messages of the catalog.

    The header stays as it is, and there are neither numbers of lines nor dates: two people's changes merge.
    """
    header, _, _ = present.partition("\n\n")
    known, text = read_po(BytesIO(present.encode())), BytesIO()
    for message in catalog:
        # The next language takes the same catalog.
        before = known.get(message.id, message.context) if message.id else None
        message.string = before.string if before else ("", "") if message.pluralizable else ""
    write_po(text, catalog, width=120, omit_header=True, include_lineno=False)
    return f"{header}\n\n{text.getvalue().decode().strip()}\n"


if __name__ == "__main__":
    current = messages()
    for path in catalog_files():
        before = path.read_text(encoding="utf-8")
        after = written(before, of_language(path.parents[1].name, current))
        if "--check" not in sys.argv:
            path.write_text(after, encoding="utf-8")
        elif before != after:
            sys.exit(f"{path} has other messages: run docs/list_messages.py")
