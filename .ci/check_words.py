"""Check the words of README, docs, changelog, interface, and the first lines of all docstrings.

    python .ci/check_words.py [FILE.md ...]

Prints the words and the longest paragraph of each page, then each breach as FILE:LINE: rule, and ends with 1 if there
is one. With files, only these pages are checked.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[1]
MESSAGES = ROOT / "pages" / "locale" / "it" / "LC_MESSAGES" / "sextant.po"
README_BYTES, ENTRY_WORDS, SENTENCE_WORDS, PARAGRAPH_WORDS = 8192, 20, 25, 80
DOCSTRING_CHARACTERS = 100
CODE = (
    "rag_engine", "ingestion", "pages", "cli", "tests", "benchmarks", "training", "docs", ".ci", "data/sample",
)  # fmt: skip
# Of the rules of words, those that a pattern can hold.
_RIDDLE = re.compile(r"(?:what|those|one that|whoever)\b", re.IGNORECASE)
_OLD = re.compile(r"\b(?:anew|for ever|so many|of (?:its|their|your|one's) own|whatever|whoever)\b", re.IGNORECASE)
_CODE = re.compile(r"`+[^`]*`+")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARK = re.compile(r":[a-z]+-badge|:material/\w+:|\*\*|<[^>]+>")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”’»)*]*\s+(?=[^a-z])")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
_SECTIONS = ("Added", "Changed", "Fixed")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, list item, cell of a table or message as it is read: code is one word, a link its text."""

    place: str
    text: str

    @property
    def words(self) -> int:
        """Number of words."""
        return _count(self.text)


def _count(text: str) -> int:
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def plain(text: str) -> str:
    """Return the text without the marks of Markdown."""
    return _MARK.sub("", _LINK.sub(r"\1", _CODE.sub("Code", text))).strip()


def paragraphs(path: Path) -> list[Paragraph]:
    """Return the paragraphs, list items and cells of a Markdown file, without headings and blocks of code."""
    found, lines, begun, fenced = [], list[str](), 0, False
    for number, line in enumerate([*path.read_text("utf-8").splitlines(), ""], 1):
        place = f"{path.relative_to(ROOT)}:{number}"
        fence = line.lstrip().startswith("```")
        apart = fence or fenced or not line.strip() or line.startswith(("#", "|", "<!--"))
        if lines and (apart or _ITEM.match(line)):
            found.append(Paragraph(f"{path.relative_to(ROOT)}:{begun}", plain(" ".join(lines))))
            lines = []
        if line.startswith("|") and not fenced:
            found += [Paragraph(place, plain(cell)) for cell in re.split(r"(?<!\\)\|", line) if re.search(r"\w", cell)]
        elif not apart:
            begun = begun if lines else number
            lines.append(_ITEM.sub("", line, count=1).strip())
        fenced ^= fence
    return found


def breaches(paragraph: Paragraph) -> Iterator[str]:
    """Yield the rules of words that a paragraph breaks, each with its place."""
    if paragraph.words > PARAGRAPH_WORDS:
        yield f"{paragraph.place}: {paragraph.words} words in a paragraph: {paragraph.text[:70]}"
    for sentence in _SENTENCE_END.split(paragraph.text):
        if _count(sentence) > SENTENCE_WORDS:
            yield f"{paragraph.place}: {_count(sentence)} words in a sentence: {sentence[:90]}"
        if _RIDDLE.match(sentence) and "?" not in sentence:
            yield f"{paragraph.place}: a sentence begins with {sentence.split()[0]!r}: {sentence[:70]}"
        if old := _OLD.search(sentence):
            yield f"{paragraph.place}: {old[0]!r}: {sentence[:90]}"


def changelog_breaches(path: Path) -> Iterator[str]:
    """Yield entries of the changelog that are too long, and sections that have another name."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("### ") and line[4:] not in _SECTIONS:
            yield f"{path.name}:{number}: a section is one of {', '.join(_SECTIONS)}: {line}"
    for entry in paragraphs(path):
        if entry.words > ENTRY_WORDS:
            yield f"{entry.place}: {entry.words} words in an entry: {entry.text[:70]}"


def docstring_breaches() -> Iterator[str]:
    """Yield first lines of docstrings that are too long or break a rule of words."""
    for path in (ROOT / "app.py", *(path for folder in CODE for path in sorted((ROOT / folder).rglob("*.py")))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
            if len(first) > DOCSTRING_CHARACTERS:
                yield f"{place}: {len(first)} characters in the first line of a docstring: {first[:70]}"
            yield from breaches(Paragraph(place, plain(first)))


def messages() -> Iterator[Paragraph]:
    """Yield the messages of the interface in English."""
    with MESSAGES.open("rb") as file:
        for message in read_po(file):
            for text in [message.id] if isinstance(message.id, str) else message.id:
                if text:
                    yield Paragraph(f"message {text[:20]!r}", plain(text))


def main() -> int:
    """Check the pages named, else everything; return 1 if a rule is broken."""
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    everything = not pages
    changelog = ROOT / "CHANGELOG.md"
    if everything:
        pages = [ROOT / "README.md", changelog, *sorted((ROOT / "docs").glob("*.md"))]
    found = []
    print(f"{'page':32}{'words':>8}{'longest paragraph':>20}")
    for page in pages:
        read = paragraphs(page)
        print(f"{page.relative_to(ROOT)!s:32}{sum(one.words for one in read):8,}{max(one.words for one in read):20}")
        found += [breach for one in read for breach in breaches(one)]
    if everything:
        size = (ROOT / "README.md").stat().st_size
        found += [f"README.md: {size:,} bytes of at most {README_BYTES:,}"] if size > README_BYTES else []
        found += changelog_breaches(changelog)
        found += [breach for message in messages() for breach in breaches(message)]
        found += docstring_breaches()
    print(*found, f"{len(found)} breaches of the rules of words", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
