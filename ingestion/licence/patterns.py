"""Licence statements in running text, weighed with their sentences by data/licences.toml.

A sentence frees a document only if it names a licence or grants reproduction. It must be about the document, and not
about a photograph, a theme or licences in general. It must hold neither a negation nor a condition that takes the grant
back. A reservation of rights needs less: it is better to ask a person than to free a document that is not free.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ingestion.licence.names import UNSTATED, NamedLicence, with_restrictions
from ingestion.licence.statement import Statement, blank, statement_of
from ingestion.licence.table import deciding_rule, load_licences, row_of, tidy_text
from ingestion.types.licence import LicenceMark, Light
from rag_engine.text.folding import fold_in_place

AUTHORISED = "Reproduction authorised"
RESERVED = "Reproduction reserved"
UNCLEAR = "Unclear permission"
_QUOTE = 300
# How many sentences behind a licence what limits it may stand.
_BESIDE = 3
_LIMITING = {"NC": ("noncommercial", "limit_nc"), "ND": ("unmodified", "limit_nd")}
_LIMITS = {
    "limit_nc": "Commercial use reserved (NC)",
    "limit_nd": "Changes reserved (ND)",
    "limit_sa": "Same licence required (SA)",
}
# What may stand behind a licence that a phrase without a verb names, and in a bracket before one.
_TAIL, _REMARK = 40, 30
_YEAR = re.compile(r"(?:19|20)\d\d|rechte|rights|droits|diritti|derechos|direitos|rettigheter|rechten")
_TURKISH = re.compile(r"lisan\w*(?: \w+){0,4} \w+(?:dir|tir|dur|tur|mistir|maktadir|lir|nir|ilir)\b")
_WORD = re.compile(r"[^\W\d_]{2,}")
_FRAMED = re.compile("[\"“„«»”']")
# Facts that a rule may ask for, besides those that every statement knows.
Facts = Mapping[str, Callable[[], bool]]
_LONGEST = 1000
_WINDOW = 500
_MOST = 60_000
_LONGEST_SPAN = 6_000
_SENTENCE = re.compile(
    r"\n+|\s(?:```|#{1,6}(?=\s))|(?<=[.!?;。])(?<!\W[^\W\d_]\.)[\"'”»)\]]*\s+|\s*[|•·♦]\s*|\s+-{2,}\s+|\s{2,}"
)


@dataclass(frozen=True, slots=True)
class _Finding:
    """Result of one rule for a statement, with the ids of the rule and of its row of words."""

    light: Light
    licence: str
    score: float
    rule: str


def read_statements(text: str, place: str) -> list[LicenceMark]:
    """Return the statements of a text on its licence, in order, each mark with its sentence.

    [] when it says nothing.

    Of a long text only the surroundings of words that licences are made of are read.

    >>> [(mark.light, mark.licence) for mark in read_statements("È vietata la riproduzione, anche parziale.", "page 2")]
    [('RED', 'Reproduction reserved')]
    """
    marks: list[LicenceMark] = []
    for piece in pieces_of(text):
        for mark in _read_piece(list(sentences_of(piece)), place):
            if mark not in marks:
                marks.append(mark)
    return marks


def _read_piece(sentences: Sequence[str], place: str) -> Iterator[LicenceMark]:
    """Return what each sentence says, and what limits the licence that it says in those around it."""
    found = [list(_read(one, before, place)) for before, one in pairwise(["", *sentences])]
    for at, marks in enumerate(found):
        yield from marks
        around = found[max(0, at - _BESIDE) : at + _BESIDE + 1]
        if any(mark.light == "GREEN" or mark.licence == UNSTATED for near in around for mark in near):
            yield from _limits(sentences[at], place)


def read_limits(text: str, place: str) -> list[LicenceMark]:
    """Return what the sentences of a text beside a licence forbid.

    Commercial use, changes, another licence.
    """
    return [mark for piece in pieces_of(text) for sentence in sentences_of(piece) for mark in _limits(sentence, place)]


def says_reserved(text: str) -> bool:
    """Return whether anything in the text reserves rights."""
    return any(mark.light == "RED" for mark in read_statements(text, ""))


def _read(sentence: str, before: str, place: str) -> Iterator[LicenceMark]:
    if load_licences().phrases["keys"].search(fold_in_place(sentence)):
        statement = statement_of(sentence, before)
        for finding in _findings(statement):
            yield LicenceMark(
                "pattern",
                finding.light,
                finding.licence,
                finding.score,
                sentence[:_QUOTE],
                place,
                finding.rule,
                statement.subject,
            )


def _limits(sentence: str, place: str) -> Iterator[LicenceMark]:
    """Find what a sentence beside a licence forbids.

    Commercial use, changes, other licences for what is made of it.
    """
    words = load_licences().phrases
    folded = fold_in_place(sentence)
    for kind, name in _LIMITS.items():
        if found := words[kind].search(blank(words["lifted"], folded)):
            # What is made of a work is licensed as contributions; that limits the work itself.
            facts: Facts = {"part": lambda: False} if kind == "limit_sa" else {}
            for finding in _decided("limit", statement_of(sentence), facts, row=row_of(kind, found), licence=name):
                yield LicenceMark(
                    "pattern", finding.light, finding.licence, finding.score, sentence[:_QUOTE], place, finding.rule
                )


def _findings(statement: Statement) -> Iterator[_Finding]:
    reserved = [*_rights(statement), *_bans(statement)]
    yield from reserved
    if any(finding.licence == RESERVED for finding in reserved):
        yield from (_Finding("YELLOW", name.name, 0.0, "named-beside-a-ban") for name in statement.names)
        return
    for name in statement.names:
        yield from _decided("named", statement, _facts_of_name(statement, name), licence=name.name)
    if all(name.name == UNSTATED or name.name.startswith("EU reuse") for name in statement.names):
        rule = next((name.name for name in statement.names if name.name != UNSTATED), AUTHORISED)
        for found in _grants(statement):
            yield replace(found, licence=rule) if found.licence == AUTHORISED else found
    if not reserved:
        yield from _decided("notice", statement, {})


def _decided(group: str, statement: Statement, facts: Facts, *, row: str = "", licence: str = "") -> Iterator[_Finding]:
    rule = deciding_rule(group, lambda fact: facts[fact]() if fact in facts else statement.holds(fact))
    if rule.light is not None:
        named = licence if rule.licence == "NAME" else rule.licence
        yield _Finding(rule.light, named, rule.score, f"{rule.id} {row}".strip())


def _rights(statement: Statement) -> Iterator[_Finding]:
    """Find what reserves all rights."""
    words = load_licences().phrases
    found = words["reserved"].search(blank(words["some"], statement.folded))
    if found is None:
        return
    near = statement.folded[max(0, found.start() - 60) : found.start()]
    before, after = near[-3:], statement.folded[found.end() : found.end() + 3]
    facts: Facts = {
        "part_before": lambda: bool(words["part"].search(near)),
        # A phrase in quotation marks is talked about.
        "quoted": lambda: bool(_FRAMED.search(before) and _FRAMED.search(after)),
    }
    yield from _decided("reserved", statement, facts, row=row_of("reserved", found))


def _bans(statement: Statement) -> Iterator[_Finding]:
    """Find each ban and demand for permission, read with what surrounds it alone.

    An excused ban excuses no other.
    """
    words = load_licences().phrases
    hits = [(match, "forbidden") for match in words["forbidden"].finditer(statement.folded)]
    if statement.says("use"):
        hits += [(match, "consent") for match in words["consent"].finditer(statement.plain)]
    bound = 0
    for found, kind in sorted(hits, key=lambda hit: hit[0].start()):
        near = statement.folded[max(bound, found.start() - 140) : found.end()]
        bound = found.end()
        facts = _facts_of_ban(statement, found, kind == "forbidden", near, statement.folded[bound : bound + 60])
        yield from _decided("ban", statement, facts, row=row_of(kind, found))


def _facts_of_ban(statement: Statement, found: re.Match[str], is_ban: bool, near: str, after: str) -> Facts:
    words = load_licences().phrases

    def opens() -> bool:
        # "Reprints only with the publisher's permission": a short statement that copying opens is about the document.
        return len(near) < 160 and bool(words["copying"].search(near[:60]))

    def commercial() -> bool:
        general = blank(words["noncommercial"], near + after)
        return bool(words["commercial"].search(general)) and not words["at_all"].search(near + after)

    return {
        "permission": lambda: not is_ban,
        "topic": lambda: bool(words["topic"].search(found.group())),
        "use_forbidden": lambda: is_ban and bool(words["use"].search(found.group())),
        "copying_forbidden": lambda: is_ban and bool(words["copying"].search(found.group())),
        "opens": opens,
        "short": lambda: len(statement.folded) < _QUOTE or opens() or statement.says("rights"),
        "beyond": lambda: bool(words["beyond"].search(near)),
        "third": lambda: bool(words["third"].search(near)),
        "part_near": lambda: bool(words["part"].search(near)),
        "commercial": commercial,
    }


def _facts_of_name(statement: Statement, licence: NamedLicence) -> Facts:
    """Return what surrounds the name of a licence, the other names blanked out."""
    table = load_licences()
    words = table.phrases
    bare = statement.plain
    for other in statement.names:
        bare = bare[: other.start] + " " * (other.end - other.start) + bare[other.end :]
    # "Licensed under CC BY for non-commercial use only" limits a licence and takes nothing back.
    bare = blank(words["limit_nd"], blank(words["limit_nc"], bare))
    around = bare[max(0, licence.start - 160) : licence.end + 120]
    before = statement.folded[: licence.start]
    works = words["work"].finditer

    def predicated() -> bool:
        # Turkish has its verb behind.
        starts = [found.end() for found in works(before)]
        return any(words["predicate"].search(bare, start) for start in starts) or bool(
            _TURKISH.search(bare[licence.end :])
        )

    return {
        "variant_not_stated": lambda: licence.name == UNSTATED,
        "hypothetical": lambda: bool(words["hypothetical"].search(bare)),
        "negated": lambda: bool(words["negation"].search(around)),
        "consent": lambda: bool(words["consent"].search(around)),
        "part_near": lambda: bool(words["part"].search(statement.plain[max(0, licence.start - 60) : licence.end + 40])),
        "but": lambda: bool(words["but"].search(bare[licence.end :])),
        "licensed": lambda: bool(words["licensed"].search(bare)),
        "label": lambda: bool(words["label"].match(before)),
        # Nothing but the licence and the words one puts around it: a badge, a line of its own.
        "alone": lambda: table.around.issuperset(_WORD.findall(bare)),
        "brief": lambda: len(bare.strip()) <= 60,
        "label_near": lambda: bool(words["label_near"].search(before) or words["some"].search(before[-60:])),
        "rights_near": lambda: bool(words["rights"].search(before[-60:]) and _YEAR.search(before[-60:])),
        "predicated": lambda: predicated() or len(bare[licence.end :].strip()) < _TAIL,
        "parenthetical": lambda: len(before.rpartition(")")[2].partition("(")[2]) > _REMARK,
        "permitted": lambda: bool(words["granted"].search(bare)),
        "of_data": lambda: statement.of_data(licence.start),
        "quoted_before": lambda: statement.quoted_before,
        "holder_first": lambda: len(statement.folded) < _QUOTE and bool(words["notice"].match(statement.folded)),
        # The subject comes before what is said of it: "this report is licensed", not "CC BY, for this report see ...".
        "work_before": lambda: any(";" not in bare[found.end() : licence.start] for found in works(before)),
    }


def _grants(statement: Statement) -> Iterator[_Finding]:
    """Find the permission in a sentence: anything, the public domain, or reproduction."""
    words = load_licences().phrases
    if found := words["public_domain"].search(statement.folded):
        facts = _facts_of_public_domain(statement, found)
        yield from _decided("public_domain", statement, facts, row=row_of("public_domain", found))
    elif found := words["granted"].search(statement.plain):
        rest = statement.plain[found.end() :]
        near = statement.plain[max(0, found.start() - 80) : found.end() + 60]
        # "... if the source is named and it is not sold" limits a permission and takes nothing back.
        unlimited = statement.plain
        for kind in ("other_noncommercial", "limit_nc", "limit_nd"):
            unlimited = blank(words[kind], unlimited)
        facts = {
            "negated": lambda: bool(words["negation"].search(unlimited)),
            "consent": lambda: statement.says_plainly("consent"),
            "hypothetical": lambda: statement.says_plainly("hypothetical"),
            "but": lambda: bool(words["but"].search(rest)),
            "of_data": lambda: statement.of_data(found.start()),
            "partial": lambda: bool(words["partial"].search(near)),
            # "Reproduction authorised" is said of the document that prints it, "free use" of anything.
            "copied": lambda: bool(words["copying"].search(found.group())),
        }
        restrictions = [token for token, kinds in _LIMITING.items() if any(map(statement.says, kinds))]
        for finding in _decided("granted", statement, facts, row=row_of("granted", found)):
            yield replace(finding, licence=with_restrictions(finding.licence, restrictions))


def _facts_of_public_domain(statement: Statement, found: re.Match[str]) -> Facts:
    words = load_licences().phrases
    clean = blank(words["public_domain"], statement.plain)
    return {
        "tiny": lambda: len(statement.folded) < 60,
        "of_data": lambda: statement.of_data(found.start()),
        "labelled": lambda: bool(words["labelled"].search(statement.folded)),
        "negated": lambda: bool(words["negation"].search(clean)),
        "but": lambda: bool(words["but"].search(clean)),
        "somewhere": lambda: bool(words["somewhere"].match(clean[found.end() :])),
    }


def pieces_of(text: str) -> Iterator[str]:
    """Return the text, or of a long one the windows around its licence words, up to a bound."""
    if len(text) <= 2 * _WINDOW:
        yield tidy_text(text)
        return
    # Notices stand at the beginning and the end; what is too much is left out in the middle.
    read = 0
    for low, high in _from_both_ends(_spans(text)):
        if read > _MOST:
            return
        cut = text[low:high]
        # A window begins with a whole sentence where there is one: half a sentence may lack its "not".
        begins = re.search(r"[.!?\n]\s", cut[:_WINDOW]) if low else None
        cut = cut[begins.end() :] if begins else cut
        read += len(cut)
        yield tidy_text(cut)


def sentences_of(piece: str) -> Iterator[str]:
    """Return the sentences of a piece; a very long one in overlapping cuts."""
    for sentence in _SENTENCE.split(piece):
        stripped = sentence.strip() if sentence else ""
        # Overlapping cuts, so that no statement is halved without being read whole once.
        for start in range(0, max(1, len(stripped) - 200), _LONGEST - 300):
            if cut := stripped[start : start + _LONGEST]:
                yield cut


def _spans(text: str) -> list[tuple[int, int]]:
    """Return the surroundings of licence words, joined if they touch, none longer than a bound."""
    spans: list[tuple[int, int]] = []
    for match in load_licences().phrases["keys"].finditer(fold_in_place(text)):
        low, high = max(0, match.start() - _WINDOW), min(len(text), match.end() + _WINDOW)
        if spans and low <= spans[-1][1] and high - spans[-1][0] <= _LONGEST_SPAN:
            spans[-1] = spans[-1][0], high
        else:
            spans.append((low, high))
    return spans


def _from_both_ends(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Return the first, the last, the second, the last but one ..."""
    for step in range((len(spans) + 1) // 2):
        yield spans[step]
        if len(spans) - 1 - step > step:
            yield spans[-1 - step]
