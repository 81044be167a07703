"""A sentence about rights: the licences it names, and its subject."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.licence.names import NamedLicence, names_in
from ingestion.licence.table import load_licences
from ingestion.types.licence import LicenceSubject
from rag_engine.text.folding import fold_in_place

_QUOTE = 300
_CREDIT = 80
# How far from the beginning of a sentence its first noun may be: "All of the data".
_OPENING = 16


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as the rules see it: `plain` is `folded` without phrases that only sound like a negation.

    `work` says that it is about the document, `part` about a part of it such as its photographs. `quoted_before`: it is
    about the quotation in the sentence before.
    """

    text: str
    folded: str
    plain: str
    names: tuple[NamedLicence, ...]
    work: bool
    part: bool
    quoted_before: bool

    @property
    def subject(self) -> LicenceSubject:
        """Return the subject of the sentence, "" if it does not say."""
        if self.quoted_before or any(map(self.says, ("quoted_material", "elsewhere", "foreign", "quoting"))):
            return "quoted"
        if self.names and self.of_data(self.names[0].start):
            return "data"
        if self.part and not _whole_work(self.plain):
            return "part"
        return "document" if self.work else ""

    def of_data(self, end: int) -> bool:
        """Return whether the subject before a place is data: the first of its nouns or the last.

        "The data of this report are licensed", "the report's data are licensed"; but not "this data report".
        """
        words, before = load_licences().phrases, self.folded[:end]
        data = [found.span() for found in words["data"].finditer(before)]
        if not data:
            return False
        works = [found.span() for found in words["work"].finditer(before)]
        start, stop = data[0]
        compound = any(first <= start and stop < last and before.count(" ", stop, last) <= 1 for first, last in works)
        opens = start < _OPENING and not compound and ":" not in before[stop:]
        return opens or data[-1][1] >= max((last for _, last in works), default=0)

    def says(self, kind: str) -> bool:
        """Return whether the folded sentence holds a phrase of the kind."""
        return bool(load_licences().phrases[kind].search(self.folded))

    def says_plainly(self, kind: str) -> bool:
        """Return whether the sentence holds a phrase of the kind that is not merely part of another."""
        return bool(load_licences().phrases[kind].search(self.plain))

    def holds(self, fact: str) -> bool:
        """Return whether a fact of every statement holds: its subject, or a kind of phrase in it."""
        match fact:
            case "work":
                return self.work
            case "part":
                return self.part
            case "named":
                return bool(self.names)
            case "whole_work":
                return _whole_work(self.plain)
        return self.says(fact)


def statement_of(sentence: str, before: str = "") -> Statement:
    """Return the sentence as the rules see it, with the subject that the one before it names."""
    words = load_licences().phrases
    folded = fold_in_place(sentence)
    quoted = words["quoted_material"].search
    # "All content, except logos": what is left out is not what the sentence is about.
    plain = blank(words["excluded"], blank(words["neutral"], folded))
    return Statement(
        sentence,
        folded,
        plain,
        tuple(names_in(sentence)),
        work=bool(words["work"].search(folded)),
        part=bool(words["part"].search(plain)) or (len(folded) < _CREDIT and _credits(before, sentence)),
        # "Excerpt from the edition of 1947. Text under CC BY-SA": what was quoted one sentence earlier.
        quoted_before=not words["demonstrative"].search(folded) and bool(quoted(fold_in_place(before[-_QUOTE:]))),
    )


def _credits(before: str, sentence: str) -> bool:
    """Return whether a statement credits a picture, as in "Photo by J. Doe. CC BY 2.0".

    The credit may begin a sentence before the licence.
    """
    words = load_licences().phrases
    opening = fold_in_place(before)
    if words["credit_line"].search(f"{opening[-_QUOTE:]} {fold_in_place(sentence)}"):
        return True
    return len(before) < _CREDIT and bool(words["part"].search(opening) or words["data"].search(opening))


def _whole_work(plain: str) -> bool:
    """Return whether the sentence is about the whole document although it also names a part.

    An example is "text and photographs".
    """
    words = load_licences().phrases
    work, part = words["work"].search(plain), words["part"].search(plain)
    return bool(
        work and part and work.end() <= part.start() and words["joined"].search(plain[work.end() : part.start()])
    )


def blank(pattern: re.Pattern[str], text: str) -> str:
    """Return the text with every match made blank, so that all else keeps its place."""
    return pattern.sub(lambda match: " " * len(match.group()), text)
