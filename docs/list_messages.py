"""Bring pages/locale/ up to date with the messages in the code and the words of the settings.

`python docs/list_messages.py` adds new messages, without a translation, and drops those that are gone; with --check it
says whether the files are current.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from rag_engine.settings import settings_table

ROOT = Path(__file__).resolve().parents[1]
# As in gettext: the places of the message, and of its plural, among the arguments.
KEYWORDS = {"_": None, "to_translate": None, "ngettext": (1, 2), "counted": (1, 2)}
# Descriptions of the engine and of ingestion take their words from a Wording.
WORDING, WORDING_KEYWORDS = "rag_engine.text.wording", {"message": None, "counted": (1, 2)}
# A comment that begins so goes to the translators, with the message after it.
FOR_TRANSLATORS = "For translators:"


def catalog_files() -> list[Path]:
    """Return the file of each language."""
    return sorted(ROOT.glob("pages/locale/*/LC_MESSAGES/*.po"))


def messages() -> Catalog:
    """Return the messages of the pages, and of descriptions below them, each with the files it is in."""
    found = Catalog()
    pages = (ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py")))
    below = (path for room in ("ingestion", "rag_engine") for path in sorted((ROOT / room).rglob("*.py")))
    wordings = [path for path in below if _describes(path)]
    for path, keywords in (*((one, KEYWORDS) for one in pages), *((one, WORDING_KEYWORDS) for one in wordings)):
        place = path.relative_to(ROOT).as_posix()
        for line, message, comments, context in extract_from_file("python", path, keywords, (FOR_TRANSLATORS,)):
            found.add(message, None, [(place, line)], auto_comments=comments, context=context)
    for text in _settings_words():
        found.add(text, None, [("data/settings.toml", 1)])
    return found


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
        after = written(before, current)
        if "--check" not in sys.argv:
            path.write_text(after, encoding="utf-8")
        elif before != after:
            sys.exit(f"{path} has other messages: run docs/list_messages.py")
