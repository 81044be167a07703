"""Every field of a description without a model.

They come from the declarations of the list and the file, and from the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from ingestion.extraction.dates import find_dates
from ingestion.file_reading import FileProperties
from ingestion.metadata.authorities import Authority, canonical_authority, load_authorities
from ingestion.metadata.geography import locate
from ingestion.metadata.issuers import find_issuers
from ingestion.metadata.quotes import DocumentText, Guess
from ingestion.metadata.summary import summarise
from ingestion.metadata.taxonomy import Label, Vocabulary, load_taxonomy, term_table, type_table
from ingestion.metadata.term_matching import Mention, Usage, count_usage, cut_words, find_terms
from ingestion.patterns import load_patterns
from ingestion.types.description import FieldName, FieldValue
from ingestion.types.source import ListedSource
from rag_engine.types.document import ExtractedText

# Part of what every description is made from: another number has every document described anew.
METADATA_VERSION = 3
MULTI_HAZARD = "Multi-hazard"
_OTHER = "Other"
_SEVERAL = 3
# How sure the words of a link on a portal are as the title of what it leads to.
_LINK_WORDS = 0.45
# Below this an issuer is a guess that is better left out.
_LEAST_ISSUER = 0.3
# A hazard that is mentioned a fifth as often as the foremost one is a subject of its own.
_BESIDE_FOREMOST = 0.2
OTHER = "Other"
_OPENING = 4_000
_TOP = 600
_SHORT = 220
_FIRST_WORDS = 30
_RECITALS = 10_000
_TITLE = 400
_PDF = "application/pdf"
_SPREADSHEETS = ("spreadsheet", "ms-excel", "text/csv", "tab-separated")
_PATTERNS = load_patterns("document_types")
_CITED = re.compile(r"\bet al\b|\(\w+(?: and \w+)?,? (?:19|20)\d\d[a-z]?[);]|(?<![\w.])10\.\d{4,9}/\w")
_NAMES: dict[FieldName, str] = {
    "title": "title",
    "authority": "issuing authority",
    "document_type": "document type",
    "hazards": "hazard",
    "geographical_level": "geographical level",
    "date": "date",
    "target": "sentences for the target",
    "description": "sentences for the description",
}


def describe_by_rules(
    source: ListedSource,
    text: DocumentText,
    declared: FileProperties,
    titles: Sequence[FieldValue],
    *,
    today: date,
) -> list[FieldValue]:
    """Return the fields that rules can fill, one value for each single-valued one.

    Unknown fields are left out.
    """
    extracted, language = text.extracted, text.language
    values: list[FieldValue] = list(_titles(source, titles)[:1])
    title = values[0].value if values else extracted.title
    authority, known = _authority(source, declared, text, title)
    values += [authority] if authority else []
    guesses = guess_types(title, text)
    best = guesses[0]
    others = guesses[1].weight if len(guesses) > 1 else 0.0
    sure = 0.3 if best.weight < 1 else min(0.95, 0.45 + 0.1 * best.weight + 0.08 * max(0.0, best.weight - others))
    why = title if best.why.startswith("the title") else best.why
    values.append(text.value("document_type", replace(best, weight=sure, why=why)))
    values += _hazards(title, text)
    for vocabulary in ("key_criteria", "tags"):
        # Criteria or tags with enough evidence for their definition.
        usage = _usage(vocabulary, text)
        values += [
            FieldValue(vocabulary, label.name, "rule", *_first(used, text, ""), _sure(used, label))
            for label in load_taxonomy().definitions(vocabulary)
            if (used := usage.get(label.name)) is not None and _enough(used, label)
        ]
    issuer = authority.value if authority else ""
    place = locate(title, text, authority=known, url=source.url, issuer=issuer)
    if place.level is not None:
        values.append(text.value("geographical_level", place.level))
        values += [text.value("countries", country) for country in place.countries]
    values += find_dates(extracted, source, declared, language, today=today)[:1]
    values.append(FieldValue("language", language, "rule", "", None, 0.95 if len(text.words) > 60 else 0.7))
    description, target = summarise(extracted, language)
    values += [text.value("description", description)] if description.value else []
    return values + ([text.value("target", target)] if target.value else [])


def notes_on(values: Sequence[FieldValue]) -> list[str]:
    """Return what a person should look at, in sentences."""
    notes = []
    for field, name in _NAMES.items():
        found = [value for value in values if value.field == field]
        if not found:
            notes.append(f"No {name} found.")
        elif min(value.confidence for value in found) < 0.5:
            notes.append(f"{name[0].upper()}{name[1:]} uncertain.")
    return notes


def _titles(source: ListedSource, titles: Sequence[FieldValue]) -> Sequence[FieldValue]:
    """Return the title that the analyst's list gives.

    The words of a portal's link replace only a doubtful title.
    """
    listed = " ".join(source.title.split())
    if not listed:
        return titles
    if not source.parent:
        return [FieldValue("title", listed, "list", source.title, None, 1.0)]
    return sorted(
        [*titles, FieldValue("title", listed, "list", source.title, None, _LINK_WORDS)],
        key=lambda value: -value.confidence,
    )


def _authority(
    source: ListedSource, declared: FileProperties, text: DocumentText, title: str
) -> tuple[FieldValue | None, Authority | None]:
    """Return the issuing body under its canonical name; the analyst's list comes first."""
    if source.authority.strip():
        known = canonical_authority(source.authority)
        name = known.name if known else " ".join(source.authority.split())
        return FieldValue("authority", name, "list", source.authority, None, 1.0), known
    names = [("publisher", declared.publisher), *(("author", name) for name in declared.authors)]
    named = [(what, name) for what, name in names if name.strip()]
    issuers = find_issuers(text, title, declared=named, margins=declared.margins, address=source.url)
    if not issuers or issuers[0].weight < _LEAST_ISSUER:
        return None, None
    return text.value("authority", issuers[0]), load_authorities().by_name.get(issuers[0].value)


def _hazards(title: str, text: DocumentText) -> list[FieldValue]:
    """Return hazards that the title names or the text treats; three and more make it multi-hazard as well."""
    titled = {mention.label for mention in find_terms(cut_words(title), term_table(text.language, "hazards"))}
    usage = _usage("hazards", text)
    foremost = max((one.count for one in usage.values()), default=0)
    chosen: dict[str, float] = {}
    for label in load_taxonomy().hazards:
        used = usage.get(label.name)
        if label.name in titled:
            chosen[label.name] = 0.9
        elif used is not None and _enough(used, label) and used.count >= _BESIDE_FOREMOST * foremost:
            chosen[label.name] = _sure(used, label)
    if chosen.get(_OTHER, 1.0) < 0.9 and usage[_OTHER].count < 0.5 * foremost:
        del chosen[_OTHER]
    values = [
        FieldValue("hazards", name, "rule", *_first(usage.get(name), text, title), sure)
        for name, sure in chosen.items()
    ]
    if len(chosen) >= _SEVERAL and MULTI_HAZARD not in chosen:
        named = ", ".join(chosen)
        values.append(FieldValue("hazards", MULTI_HAZARD, "rule", f"Several hazards are treated: {named}.", None, 0.6))
    return values


def _usage(vocabulary: Vocabulary, text: DocumentText) -> dict[str, Usage]:
    mentions = find_terms(text.words, term_table(text.language, vocabulary))
    return count_usage(mentions, len(text.words), len(text.extracted.text))


def _enough(used: Usage, label: Label) -> bool:
    dense = used.per_thousand >= label.per_thousand
    return used.count >= label.mentions and used.places >= label.places and dense


def _sure(used: Usage, label: Label) -> float:
    """Return how far above the least evidence the mentions are, as 0.55 to 0.9."""
    above = used.per_thousand / max(label.per_thousand, 0.01)
    return round(min(0.9, 0.5 + 0.05 * above + 0.01 * used.places), 2)


def _first(used: Usage | None, text: DocumentText, title: str) -> tuple[str, int | None]:
    """Return the sentence that justifies a label.

    The longest with one of the first mentions, else the title.
    """
    if used is None:
        return title, None
    found = [text.at(mention.start, mention.end) for mention in used.mentions[:5]]
    # A heading or an entry of the contents says less than a sentence.
    best = max(found, key=lambda quoted: (quoted.text.endswith("."), min(len(quoted.text), 200)))
    return best.text, best.page


def guess_types(title: str, text: DocumentText) -> list[Guess]:
    """Return possible types, the likeliest first; "Other" alone where nothing speaks for any."""
    summed: dict[str, Guess] = {}
    for guess in (*_by_title(title), *_by_opening(text), *_by_build(text.extracted, len(text.words))):
        known = summed.setdefault(guess.value, guess)
        if known is not guess:
            shown = max(known, guess, key=lambda one: (one.start >= 0, one.weight))
            summed[guess.value] = replace(shown, weight=known.weight + guess.weight)
    ranked = sorted(summed.values(), key=lambda one: -one.weight)
    if not ranked or ranked[0].weight < 1.0:
        return [Guess(OTHER, 0.3, "nothing names its type"), *ranked]
    return ranked


def _by_title(title: str) -> list[Guess]:
    title = title[:_TITLE]
    mentions = find_terms(cut_words(title), type_table("named"))
    guesses: dict[str, Guess] = {}
    about = _PATTERNS["about"].search(title)
    for mention in mentions:
        # "Handbook on the Flood Act" is a handbook; "Flood Act" and "Report on floods" are what they say.
        weight = 3.0 if about is None or mention.start <= about.start() else 1.2
        weight += 0.3 * (mention.term.count(" "))
        known = guesses.get(mention.label)
        if known is None or known.weight < weight:
            why = f"the title says {title[mention.start : mention.end]!r}"
            guesses[mention.label] = Guess(mention.label, weight, why)
    return list(guesses.values())


def _by_opening(text: DocumentText) -> list[Guess]:
    words, blocks = text.words, text.extracted.blocks
    head = [word for word in words[: _OPENING // 3] if word.end <= _OPENING]
    mentions = find_terms(head, type_table("opening"))
    # Formulas of enactment are after recitals, which may be long.
    later = find_terms(words[len(head) : len(head) + _RECITALS], type_table("opening"))
    mentions += [mention for mention in later if mention.label == "Law" and mention.term.count(" ") > 2]
    guesses = []
    for label, usage in count_usage(mentions, len(head), _OPENING).items():
        different = {mention.term for mention in usage.mentions}
        each = 0.5 if label == "Academic paper" else 1.3
        first = usage.mentions[0]
        guesses.append(Guess(label, min(each * len(different), 2.6), "how it opens", first.start, first.end))
    # In running prose "act" and "report" are verbs.
    short = [block for block in blocks[:40] if block.end - block.start <= _SHORT]
    top = [word for word in head if word.end <= _TOP and any(one.start <= word.start < one.end for one in short)]
    headings = [block for block in blocks if block.kind == "heading" and block.start < _OPENING // 2][:6]
    headed = [word for word in head if any(block.start <= word.start < block.end for block in headings)]
    for part, weight in ((headed, 1.7), (top[:_FIRST_WORDS], 0.4), (top, 0.8)):
        firsts: dict[str, Mention] = {}
        for term in find_terms(part, type_table("named")):
            firsts.setdefault(term.label, term)
        guesses += [
            Guess(mention.label, weight, "how it opens", mention.start, mention.end) for mention in firsts.values()
        ]
    return guesses


def _by_build(extracted: ExtractedText, words: int) -> list[Guess]:
    text = extracted.text
    guesses = []
    inside = sum(block.end - block.start for block in extracted.blocks if block.kind == "table")
    share = inside / max(len(text), 1)
    if any(kind in extracted.media_type for kind in _SPREADSHEETS):
        guesses.append(Guess("Dataset", 3.5, "it is a table"))
    elif words and extracted.media_type == _PDF and share > 0.5:
        # Web pages and word processors lay out prose in tables.
        guesses.append(Guess("Dataset", 1.0 + 2 * share, "most of it is in tables"))
    articles = list(_PATTERNS["article"].finditer(text))
    numbers = {match.group().split()[-1] for match in articles}
    # A treaty in the annex of a report has articles too, but not throughout.
    parts = len({20 * match.start() // max(len(text), 1) for match in articles})
    dense = 1000 * len(articles) / max(words, 1)
    if len(numbers) >= 4 and dense >= 1.2 and parts >= 9:
        guesses.append(Guess("Law", 3.2, "it is cut into articles", *articles[0].span()))
    elif len(numbers) >= 2 and dense >= 0.8:
        guesses.append(Guess("Law", 1.2, "it has articles", *articles[0].span()))
    references = list(_PATTERNS["references"].finditer(text))
    cited = sum(1 for _ in _CITED.finditer(text))
    if references and cited >= 5 and _PATTERNS["abstract"].search(text[:6000]):
        guesses.append(Guess("Academic paper", 2.5, "abstract and references", *references[-1].span()))
    elif cited >= 5 and 1000 * cited / max(words, 1) > 4:
        guesses.append(Guess("Report", 1.3, "it cites literature"))
    elif caption := _PATTERNS["caption"].search(text):
        guesses.append(Guess("Report", 1.0, "it shows findings", *caption.span()))
    return guesses
