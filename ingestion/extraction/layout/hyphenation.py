"""Words cut at the end of a line, made whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ingestion.extraction.assemble import DraftLine, Joint
from rag_engine.types.document import Box

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
HYPHENS = ("-", "\u2010", "\u00ad")
_LONGEST_WORD = 80
_CUT = re.compile(r"([^\W\d_]+)([-\u2010\u00ad])$")
_HEAD = re.compile(r"[^\W\d_]+")
# "Haus- und Hof-": the hyphen replaces the rest of the compound and is no line-end hyphen.
_CONJUNCTION = re.compile("und|oder|bzw|sowie|bis|and|or|to|et|ou|e|ed|o|y|u|ve|veya|ya")


def vocabulary_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the whole words inside lines, in lower case: evidence for or against a hyphen."""
    # Most words recur: parts between spaces are made one before the words in them are looked for.
    parts = {part for text in texts for part in text.lower().split()}
    return frozenset(word for part in parts for word in _WORD.findall(part))


def join_lines(lines: Sequence[tuple[str, Box | None]], vocabulary: frozenset[str]) -> tuple[DraftLine, ...]:
    """Draft lines whose texts and joints read as one paragraph.

    A hyphen goes when the next line continues in lower case, unless the document writes the compound with
    its hyphen elsewhere and never without.

    >>> lines = join_lines([("flood haz-", None), ("ards and well-", None), ("being", None)], frozenset({"well-being"}))
    >>> "".join(line.text + line.joint for line in lines)
    'flood hazards and well-being '
    """
    drafts: list[DraftLine] = []
    for (text, box), (following, _) in zip(lines, [*lines[1:], ("", None)], strict=True):
        kept, joint = _cut(text, following, vocabulary)
        drafts.append(DraftLine(kept, box, joint))
    return tuple(drafts)


def _cut(text: str, following: str, vocabulary: frozenset[str]) -> tuple[str, Joint]:
    if text[-1:] not in HYPHENS or not following or not following[0].isalnum():
        return text, " "
    found = _CUT.search(text, max(0, len(text) - _LONGEST_WORD))
    if not found:
        return text, " "
    whole = text[: found.start(2)]
    if found[2] == "\u00ad":
        return whole, ""
    if not following[0].islower():
        return text, ""
    rest = _HEAD.match(following)
    head, tail = found[1].lower(), rest[0].lower() if rest else ""
    if head + tail in vocabulary:
        return whole, ""
    if _CONJUNCTION.fullmatch(tail):
        return text, " "
    return (text, "") if f"{head}-{tail}" in vocabulary else (whole, "")
