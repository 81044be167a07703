"""Sections that a question names, looked up in the catalog, and missing ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rag_engine.answering_documents import identified_documents
from rag_engine.chunking.section.references import Reference, named_sections
from rag_engine.chunking.section.rules import normal_label, number_key, rules_of
from rag_engine.retrieval.act_mentions import ActMention, find_acts, names_any_act
from rag_engine.storage.catalog import ParentRecord
from rag_engine.storage.section_index import Act, SectionPlace
from rag_engine.storage.snapshot import CollectionView
from rag_engine.text.identifiers import PlacedIdentifier, find_identifiers
from rag_engine.text.languages import READ_LANGUAGES
from rag_engine.types.evidence import AbsentSection, QueryPlan

SECTION_BONUS, ACT_BONUS = 1.0, 0.5

# A section may be as long as a book; this many of its parents are examined.
_MOST_PLACES = 60
# Acts are cited by one of these; a question in another language may use the word of that language.
_UNITS = ("article", "section", "clause", "rule")
_GAP = re.compile(r"(?<=\d)\s(?=\d)")
_DIGITS = re.compile(r"\d+")
_POINT = re.compile(r"\.\d+$")
# In characters: an act on the other side of "and" belongs to another section.
_CONJUNCTION = 60
_JOINED = 15


@dataclass(frozen=True, slots=True)
class NamedSections:
    """The acts and sections of the collection that a question names.

    `places` are the places of the named sections, in the question's order. `acts` are the names of acts, `documents`
    the documents named by an identifier. `labels` are labels of sections without a known act. `absent` are the sections
    that a named act does not have.
    """

    places: tuple[SectionPlace, ...] = ()
    acts: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    documents: frozenset[int] = frozenset()
    absent: tuple[AbsentSection, ...] = ()

    def bonus(self, parent: ParentRecord, title: str) -> float:
        """Return 1.0 for a passage of a named section, 0.5 for a passage of a named act, else 0.

        This is the phi of the structural pipeline, whose caller multiplies it by lambda. If the question names an act,
        a section of the same number in another act is another section.
        """
        if any(place.parent_key == parent.key for place in self.places):
            return SECTION_BONUS
        if parent.document_key in self.documents:
            return ACT_BONUS
        if self.acts:
            return ACT_BONUS if parent.act in self.acts or (not parent.act and title in self.acts) else 0.0
        return SECTION_BONUS if normal_label(parent.section) in self.labels else 0.0


def find_named(plan: QueryPlan, view: CollectionView, allowed: Collection[int] | None) -> NamedSections:
    """Return the acts and sections that the question names, within the allowed documents.

    None allows all. A section without its act is only looked up if a single act has one of that label; else its act is
    not known. If the question names an act that the collection lacks, its sections are not looked up in other acts.
    """
    question = plan.question
    references = named_sections(question, plan.language)
    mentions = find_acts(question, view.acts, [(one.start, one.end) for one in references])
    identified = dict(_identified(question, view))
    mentions = _with_identified(mentions, identified, view.acts)
    places: dict[SectionPlace, None] = {}
    absent: list[AbsentSection] = []
    unplaced: set[str] = set()
    elsewhere = not mentions and names_any_act(question)
    for reference in references:
        if elsewhere and not reference.document:
            continue
        meant = () if reference.document else _meant(reference, mentions, references, question)
        acts = meant or view.acts
        having = {act: found for act in acts if (found := _places(act, reference.label, allowed))}
        if meant and not having:
            absent += _absent(question[reference.start : reference.end], reference.label, acts, view, allowed)
        elif having and (meant or len(having) == 1):
            # The act itself comes before a document that has it as an annex.
            for act in sorted(having, key=lambda act: act.name not in act.titles):
                places |= dict.fromkeys(having[act])
        elif not meant:
            unplaced.add(reference.label)
    named = frozenset(act.name for mention in mentions for act in mention.acts)
    documents = frozenset().union(*identified.values())
    return NamedSections(
        tuple(places)[:_MOST_PLACES], named, frozenset(unplaced), documents, tuple(dict.fromkeys(absent))
    )


def _identified(question: str, view: CollectionView) -> Iterator[tuple[PlacedIdentifier, frozenset[int]]]:
    """Yield the identifiers in a question that name documents of the collection, with these."""
    for placed in find_identifiers(question):
        if documents := identified_documents(placed.identifier, view.snapshot.documents):
            yield placed, documents


def _with_identified(
    mentions: Sequence[ActMention], identified: Mapping[PlacedIdentifier, frozenset[int]], acts: Sequence[Act]
) -> list[ActMention]:
    """Return the mentions of acts with those by an identifier, which count before a number within it."""
    found = [
        ActMention(placed.start, placed.end, named)
        for placed, documents in identified.items()
        if (named := tuple(act for act in acts if act.documents & documents))
    ]
    others = [one for one in mentions if all(one.end <= it.start or it.end <= one.start for it in identified)]
    return sorted([*others, *found], key=lambda one: one.start)


def _meant(
    reference: Reference, mentions: Sequence[ActMention], references: Sequence[Reference], question: str
) -> tuple[Act, ...]:
    """Return the acts that a section belongs to: the nearest one, and acts that a conjunction joins to it.

    "Article 2 of X and of Y" means both. An act beyond a conjunction counts as further away.
    """

    def distance(mention: ActMention) -> tuple[int, int]:
        behind = mention.start >= reference.end
        gap = question[reference.end : mention.start] if behind else question[mention.end : reference.start]
        return len(gap) + (_CONJUNCTION if _conjunction().search(gap) else 0), 0 if behind else 1

    if not mentions:
        return ()
    # "§ 2 FVG with Article 5 of the Geneva Agreement": the act in the section's own words, though another is nearer.
    own = [one for one in mentions if reference.act and question[one.start : one.end] in reference.act]
    last = min(own or mentions, key=distance)
    acts = dict.fromkeys(last.acts)
    for mention in mentions[mentions.index(last) + 1 :]:
        gap = question[last.end : mention.start]
        between = any(last.end <= one.start < mention.start for one in references)
        follows = any(mention.end <= one.start <= mention.end + 2 for one in references)
        if between or follows or len(gap) > _JOINED or not _conjunction().search(gap):
            break
        acts |= dict.fromkeys(mention.acts)
        last = mention
    return tuple(acts)


@cache
def _conjunction() -> re.Pattern[str]:
    words = {word for language in READ_LANGUAGES for word in rules_of(language).joins}
    return re.compile(rf"(?<!\w)(?:{'|'.join(sorted(words))})(?!\w)")


def _places(act: Act, label: str, allowed: Collection[int] | None) -> list[SectionPlace]:
    """Return the places of a section in an act, under any label that the act may use.

    "6.4" may be a part of its Article 6.
    """
    return next((found for one in _labels(act, label) if (found := act.places(one, allowed))), [])


def _labels(act: Act, label: str) -> Iterator[str]:
    """Yield the labels under which an act may have a section, the most exact first."""
    kind, _, number = label.rpartition(" ")
    kinds = [kind]
    if kind in _UNITS and not any(section.startswith(f"{kind} ") for section in act.sections):
        kinds = [unit for unit in _UNITS if any(known.startswith(f"{unit} ") for known in act.sections)]
    for one in kinds:
        yield f"{one} {number}"
        yield f"{one} {_POINT.sub('', number)}"


def _absent(
    written: str, label: str, acts: Sequence[Act], view: CollectionView, allowed: Collection[int] | None
) -> Iterator[AbsentSection]:
    """Yield the section if the first act does not have it.

    The act's sections must be numbered, and none of its pages may print the label: the extraction may have missed a
    heading.
    """
    for act in acts[:1]:
        wanted = next(_labels(act, label), label)
        kind, _, number = wanted.rpartition(" ")
        have = [one.removeprefix(f"{kind} ") for one in act.labels(allowed) if one.rpartition(" ")[0] == kind]
        numbers = sorted(one for one in map(number_key, have) if one[0])
        if numbers and not _prints(act, kind, number, view, allowed):
            ends = ["".join(map(str, end)) for end in (numbers[0], numbers[-1])]
            shown = " ".join(written.split())
            if not any(map(str.isalpha, shown)) and "§" not in shown:
                # The second number of a list has no noun, so it gets the noun of the act's sections.
                [first] = view.catalog.parents([act.places(f"{kind} {have[0]}", allowed)[0].parent_key]).values()
                shown = _DIGITS.sub(shown, first.section, count=1)
            yield AbsentSection(shown, act.name, ends[0], ends[1])


def _prints(act: Act, kind: str, number: str, view: CollectionView, allowed: Collection[int] | None) -> bool:
    """Return whether a line of the act's documents begins with the label of a section."""
    rules = rules_of(act.language)
    for key in {place.document_key for places in act.sections.values() for place in places}:
        if allowed is not None and key not in allowed:
            continue
        for line in view.catalog.text(key).splitlines():
            # A number may be printed with a gap in it.
            found = rules.unit.match(_GAP.sub("", line.strip(" \t*#_|")))
            if found and normal_label(found.group()) == f"{kind} {number}":
                return True
    return False
