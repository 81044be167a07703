"""Badges of a document and of a passage: facets, newer version, how likely it answers the question."""

from __future__ import annotations

from collections.abc import Mapping

from pages._shared.filter_widgets import WORDING, display_text
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import percent
from rag_engine.answering.reference_list import year_text
from rag_engine.conversations.reply import ShownSource
from rag_engine.types.document import DocumentRecord, Metadata
from rag_engine.types.passage import Tier

_TIERS: Mapping[Tier, tuple[str, str, str]] = {
    "strong": ("green", ":material/signal_cellular_alt:", to_translate("Strong match")),
    "moderate": ("yellow", ":material/signal_cellular_alt_2_bar:", to_translate("Moderate match")),
    "weak": ("gray", ":material/signal_cellular_alt_1_bar:", to_translate("Weak match")),
}

_SHARES: Mapping[Tier, str] = {
    "strong": to_translate(
        "In our tests, {share} of the passages rated strong in the language of the question held the answer."
    ),
    "moderate": to_translate(
        "In our tests, {share} of the passages rated moderate in the language of the question held the answer."
    ),
    "weak": to_translate(
        "In our tests, {share} of the passages rated weak in the language of the question held the answer."
    ),
}
_FOREIGN_SHARES: Mapping[Tier, str] = {
    "strong": to_translate(
        "In our tests, {share} of the passages rated strong in another language than the question held the answer."
    ),
    "moderate": to_translate(
        "In our tests, {share} of the passages rated moderate in another language than the question held the answer."
    ),
    "weak": to_translate(
        "In our tests, {share} of the passages rated weak in another language than the question held the answer."
    ),
}


def badges(of: Metadata | ShownSource) -> str:
    """Return the markdown of a document's facets, a badge for each."""
    level = display_text("geographical_level", of.geographical_level)
    countries = [display_text("country", country) for country in of.countries]
    where = ", ".join(countries) if of.geographical_level == "National" and countries else level
    language = display_text("language", of.language) if of.language else ""
    hazards = [display_text("hazard", hazard) for hazard in of.hazards]
    values = [year_text(of.year, WORDING), *hazards, where, language, display_text("document_type", of.document_type)]
    return " ".join(f":gray-badge[{escape(value)}]" for value in values if value)


def tier_badge(tier: Tier) -> str:
    """Return the markdown of how likely a passage answers the question: colour, sign and word."""
    colour, sign = _TIERS[tier][:2]
    return f":{colour}-badge[{sign} {tier_words(tier)}]"


def tier_words(tier: Tier) -> str:
    """Return how likely a passage answers the question, in words."""
    return _(_TIERS[tier][2])


def tier_help(source: ShownSource) -> str:
    """Return how often passages of the source's tier answered in tests, "" if not measured."""
    if source.tier_share is None:
        return ""
    told = _FOREIGN_SHARES if source.foreign else _SHARES
    return _(told[source.tier]).format(share=percent(source.tier_share))


def version_badge(document: DocumentRecord | None) -> str:
    """Return the markdown of a badge if the document has a newer version, "" without one."""
    if document is None or not document.metadata.superseded:
        return ""
    return _(":orange-badge[:material/history: Newer version exists]")
