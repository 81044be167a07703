"""The sentences that an answer says by itself, in the language of the question."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Literal

from rag_engine.config import DATA
from rag_engine.text.file_kinds import page_cell
from rag_engine.text.neutralise import one_line
from rag_engine.types.evidence import AbsentSection, AbsentWord, ResidualGap, Side
from rag_engine.types.passage import IndexListing, Source

_SENTENCES: dict[str, dict[str, str]] = tomllib.loads((DATA / "answers.toml").read_text(encoding="utf-8"))
INSUFFICIENT, QUOTATIONS_ONLY = _SENTENCES["insufficient"], _SENTENCES["quotations_only"]
CLOSEST = _SENTENCES["closest_passages"]


def insufficient(language: str) -> str:
    """Return the sentence for "not enough evidence" in the language, or in English."""
    return INSUFFICIENT.get(language, INSUFFICIENT["en"])


def quotations_heading(language: str, *, sure: bool, after: Literal["", "failure", "refusal"] = "") -> str:
    """Return the line above quotations, which calls them relevant or merely the closest, else in English.

    It says that there is no language model, or that the one there is failed or found no answer.
    """
    sentences = QUOTATIONS_ONLY if sure else CLOSEST
    if after:
        sentences = _SENTENCES[f"{'relevant' if sure and after == 'failure' else 'closest'}_after_{after}"]
    return sentences.get(language, sentences["en"])


def in_quotes(text: str, language: str) -> str:
    """Return a text in the quotation marks of a language, or else in those of English."""
    return _SENTENCES["quoted"].get(language, _SENTENCES["quoted"]["en"]).format(text=text)


def also_relevant(language: str) -> str:
    """Return the line above the quotations after the first, in the language or else in English."""
    return _SENTENCES["also_relevant"].get(language, _SENTENCES["also_relevant"]["en"])


def note_words(kind: Literal["note", "former"], number: str, section: str, language: str) -> str:
    """Return what a quotation from a note, or from former wording, is called; else in English.

    >>> note_words("note", "3", "Article 5", "en")
    'note 3 to Article 5'
    """
    words = {name: _SENTENCES[name].get(language, _SENTENCES[name]["en"]) for name in ("note", "note_in", "former")}
    note = f"{words['note']} {number}".strip()
    note = words["note_in"].format(note=note, section=one_line(section)) if section else note
    return words["former"].format(note=note) if kind == "former" else note


def wording_days(first: str, last: str, language: str) -> str:
    """Return between which days a quoted wording was in force; else in English."""
    return _SENTENCES["in_force"].get(language, _SENTENCES["in_force"]["en"]).format(first=first, last=last)


def help_line(language: str) -> str:
    """Return the line that answers a greeting, in the language or else in English."""
    return _SENTENCES["help"].get(language, _SENTENCES["help"]["en"])


def absent_sections(absent: Sequence[AbsentSection | AbsentWord], language: str) -> str:
    """Return a sentence for each section or word that its act lacks, in the language or else in English."""
    sentences = [_absent_word(one) if isinstance(one, AbsentWord) else _absent_section(one, language) for one in absent]
    return " ".join(sentences)


def _absent_section(one: AbsentSection, language: str) -> str:
    pattern = _SENTENCES["absent_section"].get(language, _SENTENCES["absent_section"]["en"])
    section, act = one_line(one.section), one_line(one.act, limit=150)
    sentence = pattern.format(section=section, act=act, first=one.first, last=one.last)
    return sentence[:1].upper() + sentence[1:]


def _absent_word(one: AbsentWord) -> str:
    table = _SENTENCES["absent_word" if one.pages else "absent_word_without_pages"]
    pattern = table.get(one.language, table["en"])
    return pattern.format(word=one_line(one.word), document=one_line(one.document, limit=150), pages=one.pages)


def names_no_source(language: str) -> str:
    """Return the sentence that an answer is not shown because it names no source.

    If the language has no such sentence, it is in English.
    """
    return _SENTENCES["no_source"].get(language, _SENTENCES["no_source"]["en"])


def nothing_on(named: str, language: str) -> str:
    """Return the sentence that no source is about or names this, in the language or else in English."""
    return _SENTENCES["unnamed"].get(language, _SENTENCES["unnamed"]["en"]).format(named=one_line(named, limit=150))


def not_found_in(sides: Sequence[Side], language: str) -> str:
    """Return a sentence for each document, country or year of a question in which nothing was found."""
    sentences = []
    found = {side.name for side in sides if side.sources}
    for side in {one.name: one for one in sides if one.name and one.name not in found}.values():
        table = _SENTENCES["not_found_in_pages" if side.pages > 1 else "not_found_in"]
        pattern = table.get(language, table["en"])
        sentences.append(pattern.format(name=one_line(side.name, limit=150), pages=side.pages))
    return " ".join(sentences)


def not_covered(gaps: Sequence[ResidualGap], language: str) -> str:
    """Return a sentence for the unanswered parts of a question, and one for the disputed parts."""
    sentences = []
    for kind, contradicted in (("open_parts", False), ("contradicted_parts", True)):
        named = [one_line(gap.question) for gap in gaps if gap.contradicted == contradicted]
        if named:
            parts = " ".join(in_quotes(text, language) for text in named)
            sentences.append(f"{_SENTENCES[kind].get(language, _SENTENCES[kind]['en'])} {parts}")
    return "\n\n".join(sentences)


def listed_in_index(sources: Sequence[Source], language: str) -> str:
    """Return a sentence on the index entries that list the sources, in the language or in English.

    A second sentence names the glossary entries that explain sources. Without entries the text is empty. Only the first
    entry of a source is named.
    """
    sentences = []
    for kind, glossary in (("listed", False), ("explained", True)):
        entries = [
            _listed_entry(source, first, language)
            for source in sources
            for first in source.listed[:1]
            if first.glossary == glossary
        ]
        sentence = _SENTENCES[kind].get(language, _SENTENCES[kind]["en"])
        sentences += [sentence.format(entries="; ".join(entries))] if entries else []
    return " ".join(sentences)


def _listed_entry(source: Source, listing: IndexListing, language: str) -> str:
    """Return an entry with its page, by the printed number, as an index names it."""
    page = source.document.page_label(listing.page) or page_cell(source.document.file, listing.page, None)
    table = _SENTENCES["listed_entry" if page else "listed_without_page"]
    return table.get(language, table["en"]).format(entry=one_line(listing.entry), page=page, n=source.n)


def entry_question(entry: str, language: str) -> str:
    """Return the question about an index entry, in the language or in English.

    It asks what the documents say about the entry.
    """
    table = _SENTENCES["entry_question"]
    return table.get(language, table["en"]).format(entry=one_line(entry))
