"""Names of what comes from fixed lists of the data and of the engine, in the language of the interface."""

from __future__ import annotations

from pages._shared.interface_language import _, to_translate

# data/taxonomy.toml
_TAXONOMY = frozenset(
    (
        to_translate("Global/Supranational"),
        to_translate("Supranational/regional"),
        to_translate("European region"),
        to_translate("Latin-American region"),
        to_translate("National"),
        to_translate("Glossary"),
        to_translate("Policy brief"),
        to_translate("Guidelines"),
        to_translate("Recommendation"),
        to_translate("Framework"),
        to_translate("Report"),
        to_translate("Law"),
        to_translate("Academic paper"),
        to_translate("Dataset"),
        to_translate("Other"),
        to_translate("Flood"),
        to_translate("Earthquake"),
        to_translate("Landslide"),
        to_translate("Wildfire"),
        to_translate("Heatwaves"),
        to_translate("Climate change"),
        to_translate("Multi-hazard"),
        to_translate("Adaptive governance"),
        to_translate("Health and wellbeing"),
        to_translate("Active memory"),
        to_translate("Social interaction and inclusiveness"),
        to_translate("Socio-economic resilience"),
        to_translate("Culture and Heritage"),
        to_translate("Communication and user needs"),
        to_translate("Psychological aspect"),
        to_translate("Preparedness and Mitigation phase"),
        to_translate("Vulnerable groups"),
        to_translate("Gender"),
        to_translate("Community-based approach"),
    )
)
# The phases, and how they, a run and a file end; a table begins each with a capital.
_STATES = frozenset(
    (
        to_translate("Licence"),
        to_translate("Acquisition"),
        to_translate("Portals"),
        to_translate("Extraction"),
        to_translate("Quality"),
        to_translate("Deduplication"),
        to_translate("Metadata"),
        to_translate("Indexing"),
        to_translate("Done"),
        to_translate("Skipped"),
        to_translate("Rejected"),
        to_translate("Failed"),
        to_translate("Now"),
        to_translate("Waiting"),
        to_translate("done"),
        to_translate("failed"),
        to_translate("cancelled"),
        to_translate("indexed"),
        to_translate("unchanged"),
        to_translate("rejected"),
    )
)
_ROLES = frozenset((to_translate("reader"), to_translate("curator"), to_translate("admin")))
_NAMES = _TAXONOMY | _STATES | _ROLES


_SLIDES, _SHEETS = ("pptx", "odp"), ("xlsx", "ods")


def page_place(file: str, first: int, last: int = 0) -> str:
    """Return a page of a file, or several, as they are cited: "page 3", "slide 3–4"."""
    n = str(first) if last <= first else f"{first}–{last}"
    suffix = _suffix(file)
    place = _("slide {n}") if suffix in _SLIDES else _("sheet {n}") if suffix in _SHEETS else _("page {n}")
    return place.format(n=n)


def _suffix(file: str) -> str:
    return file.rpartition(".")[2].lower()


def shown_name(value: str) -> str:
    """Return the name of a value that is of a fixed list; any other value as it is."""
    return _(value) if value in _NAMES else value
