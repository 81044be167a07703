"""Every field of a description without a model: from what the list and the file declare, and from the text itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.metadata.authorities import Authority, canonical_authority
from ingestion.metadata.document_type import TypeGuess, guess_types
from ingestion.metadata.geography import PlaceGuess, locate
from ingestion.metadata.issuers import Issuer, find_issuers
from ingestion.metadata.quotes import Passages, passages_of
from ingestion.metadata.summary import Summary, summarise
from ingestion.metadata.taxonomy import Taxonomy, Vocabulary, load_taxonomy, term_table
from ingestion.metadata.term_matching import Usage, Word, count_usage, cut_words, find_terms
from ingestion.types import FieldName, FieldValue, SeedSource
from rag_engine.geography import Gazetteer
from rag_engine.types import ExtractedText

MULTI_HAZARD = "Multi-hazard"
_OTHER = "Other"
_SEVERAL = 3
# Below this an issuer is a guess that is better left out.
# How sure the words of a link on a portal are as the title of what it leads to.
_LINK_WORDS = 0.45
_LEAST_ISSUER = 0.3
# A hazard that is mentioned a fifth as often as the foremost one is a subject of its own.
_BESIDE_FOREMOST = 0.2


@dataclass(frozen=True, slots=True)
class Clues:
    """Names that the file declares, best first, and addresses that it came from."""

    names: tuple[tuple[str, str], ...] = ()
    addresses: tuple[str, ...] = ()


def describe_by_rules(
    source: SeedSource,
    extracted: ExtractedText,
    language: str,
    *,
    titles: Sequence[FieldValue],
    dates: Sequence[FieldValue],
    clues: Clues,
    gazetteer: Gazetteer,
) -> list[FieldValue]:
    """Return the fields that rules can fill, one value for each single-valued one; what is not known is left out."""
    words = cut_words(extracted.text)
    passages = passages_of(extracted, language)
    taxonomy = load_taxonomy()
    titles = _titles(source, titles)
    values: list[FieldValue] = list(titles[:1])
    title = values[0].value if values else extracted.title
    issuers = find_issuers(
        extracted, language, title=title, declared=clues.names, addresses=clues.addresses, words=words
    )
    authority, known = _authority(source, issuers, passages)
    values += [authority] if authority else []
    values.append(_document_type(guess_types(title, extracted, words), title, passages))
    values += _hazards(title, extracted, words, language, taxonomy, passages)
    for vocabulary in ("key_criteria", "tags"):
        values += _labels(vocabulary, extracted, words, language, taxonomy, passages)
    issuer = authority.value if authority else ""
    values += _geography(title, extracted, words, language, known, issuer, clues, gazetteer, passages)
    values += list(dates[:1])
    values.append(FieldValue("language", language, "rule", "", None, 0.95 if len(words) > 60 else 0.7))
    description, target = summarise(extracted, language)
    values += _summary("description", description, passages) + _summary("target", target, passages)
    return values


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


def _titles(source: SeedSource, titles: Sequence[FieldValue]) -> Sequence[FieldValue]:
    """Return the title that the analyst's list gives; the words of a portal's link only stand in for a doubtful one."""
    listed = " ".join(source.title.split())
    if not listed:
        return titles
    if not source.parent:
        return [FieldValue("title", listed, "seed", source.title, None, 1.0)]
    return sorted(
        [*titles, FieldValue("title", listed, "seed", source.title, None, _LINK_WORDS)],
        key=lambda value: -value.confidence,
    )


def _authority(
    source: SeedSource, issuers: Sequence[Issuer], passages: Passages
) -> tuple[FieldValue | None, Authority | None]:
    """Return the issuing body under its canonical name; what the analyst's list says comes first."""
    if source.authority.strip():
        known = canonical_authority(source.authority)
        name = known.name if known else " ".join(source.authority.split())
        return FieldValue("authority", name, "seed", source.authority, None, 1.0), known
    if not issuers or issuers[0].confidence < _LEAST_ISSUER:
        return None, None
    best = issuers[0]
    passage = passages.at(best.start, best.end) if best.start >= 0 else None
    sentence = passage.text if passage else best.why
    page = passage.page if passage else None
    return FieldValue("authority", best.name, "rule", sentence, page, round(best.confidence, 2)), best.known


def _document_type(guesses: Sequence[TypeGuess], title: str, passages: Passages) -> FieldValue:
    best = guesses[0]
    others = guesses[1].weight if len(guesses) > 1 else 0.0
    sure = 0.3 if best.weight < 1 else min(0.95, 0.45 + 0.1 * best.weight + 0.08 * max(0.0, best.weight - others))
    if best.why.startswith("the title"):
        return FieldValue("document_type", best.name, "rule", title, None, round(sure, 2))
    passage = passages.at(best.start, best.end) if best.start >= 0 else None
    return FieldValue(
        "document_type",
        best.name,
        "rule",
        passage.text if passage else best.why,
        passage.page if passage else None,
        round(sure, 2),
    )


def _hazards(
    title: str,
    extracted: ExtractedText,
    words: Sequence[Word],
    language: str,
    taxonomy: Taxonomy,
    passages: Passages,
) -> list[FieldValue]:
    """Return hazards that the title names or the text treats; three and more make it multi-hazard as well."""
    table = term_table(language, "hazards")
    titled = {mention.label for mention in find_terms(cut_words(title), table)}
    usage = count_usage(find_terms(words, table), len(words), len(extracted.text))
    foremost = max((one.count for one in usage.values()), default=0)
    chosen: dict[str, float] = {}
    for label in taxonomy.hazards:
        used = usage.get(label.name)
        if label.name in titled:
            chosen[label.name] = 0.9
        elif (
            used is not None
            and _enough(used, label.mentions, label.places, label.per_thousand)
            and used.count >= _BESIDE_FOREMOST * foremost
        ):
            chosen[label.name] = _sure(used, label.per_thousand)
    if chosen.get(_OTHER, 1.0) < 0.9 and usage[_OTHER].count < 0.5 * foremost:
        del chosen[_OTHER]
    values = [
        FieldValue("hazards", name, "rule", *_first(usage.get(name), passages, title), sure)
        for name, sure in chosen.items()
    ]
    if len(chosen) >= _SEVERAL and MULTI_HAZARD not in chosen:
        named = ", ".join(chosen)
        values.append(FieldValue("hazards", MULTI_HAZARD, "rule", f"Several hazards are treated: {named}.", None, 0.6))
    return values


def _labels(
    vocabulary: Vocabulary,
    extracted: ExtractedText,
    words: Sequence[Word],
    language: str,
    taxonomy: Taxonomy,
    passages: Passages,
) -> list[FieldValue]:
    """Return criteria or tags with enough evidence for their definition."""
    mentions = find_terms(words, term_table(language, vocabulary))
    usage = count_usage(mentions, len(words), len(extracted.text))
    values = []
    for name in taxonomy.labels(vocabulary):
        label, used = taxonomy.label(vocabulary, name), usage.get(name)
        if used is not None and _enough(used, label.mentions, label.places, label.per_thousand):
            sure = _sure(used, label.per_thousand)
            values.append(FieldValue(vocabulary, name, "rule", *_first(used, passages, ""), sure))
    return values


def _enough(used: Usage, mentions: int, places: int, per_thousand: float) -> bool:
    return used.count >= mentions and used.places >= places and used.per_thousand >= per_thousand


def _sure(used: Usage, per_thousand: float) -> float:
    """Return how far above the least evidence the mentions are, as 0.55 to 0.9."""
    above = used.per_thousand / max(per_thousand, 0.01)
    return round(min(0.9, 0.5 + 0.05 * above + 0.01 * used.places), 2)


def _first(used: Usage | None, passages: Passages, title: str) -> tuple[str, int | None]:
    """Return the sentence that justifies a label.

    Of the first mentions the one in the longest sentence, else the title.
    """
    if used is None or not used.mentions:
        return title, None
    found = [passages.at(one.start, one.end) for one in used.mentions[:5]]
    # A heading or an entry of the contents says less than a sentence.
    best = max(found, key=lambda passage: (passage.text.endswith("."), min(len(passage.text), 200)))
    return best.text, best.page


def _geography(
    title: str,
    extracted: ExtractedText,
    words: Sequence[Word],
    language: str,
    authority: Authority | None,
    issuer: str,
    clues: Clues,
    gazetteer: Gazetteer,
    passages: Passages,
) -> list[FieldValue]:
    address = clues.addresses[0] if clues.addresses else ""
    found = locate(
        title, extracted, words, language, authority=authority, url=address, gazetteer=gazetteer, issuer=issuer
    )
    if found.level is None:
        return []
    values = [_place("geographical_level", found.level, passages)]
    return values + [_place("countries", country, passages) for country in found.countries]


def _place(field: FieldName, place: PlaceGuess, passages: Passages) -> FieldValue:
    if place.start < 0:
        return FieldValue(field, place.value, "rule", place.why, None, place.confidence)
    passage = passages.at(place.start, place.end)
    return FieldValue(field, place.value, "rule", passage.text, passage.page, place.confidence)


def _summary(field: FieldName, summary: Summary, passages: Passages) -> list[FieldValue]:
    if not summary.text:
        return []
    passage = passages.at(summary.start, summary.end)
    return [FieldValue(field, summary.text, "rule", passage.text, passage.page, 0.5)]
