"""Names from fixed lists of the data and of the engine, in the language of the interface."""

from __future__ import annotations

from ingestion.status.views import display_reason
from pages._shared.interface_language import _, to_translate
from pages._shared.numbers_and_dates import counted
from rag_engine.notebook.notebook import Notebook
from rag_engine.notebook.store import is_unnamed
from rag_engine.text.file_kinds import page_kind

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
        to_translate("Refused"),
        to_translate("Failed"),
        to_translate("Now"),
        to_translate("Waiting"),
        to_translate("done"),
        to_translate("failed"),
        to_translate("running"),
        to_translate("interrupted"),
        to_translate("cancelled"),
        to_translate("indexed"),
        to_translate("unchanged"),
        to_translate("refused"),
        to_translate("skipped"),
        to_translate("restore"),
    )
)
# Why a phase ended as it did.
_REASONS = frozenset(
    (
        to_translate("licence green"),
        to_translate("licence unclear"),
        to_translate("licence conflict"),
        to_translate("licence reserved"),
        to_translate("robots forbidden"),
        to_translate("address forbidden"),
        to_translate("host unknown"),
        to_translate("connection failed"),
        to_translate("certificate invalid"),
        to_translate("timed out"),
        to_translate("too large"),
        to_translate("too many redirects"),
        to_translate("http error"),
        to_translate("not found"),
        to_translate("access denied"),
        to_translate("rate limited"),
        to_translate("url missing"),
        to_translate("url invalid"),
        to_translate("wrong content"),
        to_translate("empty page"),
        to_translate("off topic"),
        to_translate("no document link"),
        to_translate("browser missing"),
        to_translate("directory"),
        to_translate("not modified"),
        to_translate("file missing"),
        to_translate("not a portal"),
        to_translate("nothing found"),
        to_translate("empty"),
        to_translate("unsupported type"),
        to_translate("mislabelled"),
        to_translate("encrypted"),
        to_translate("damaged"),
        to_translate("no pages"),
        to_translate("too many pages"),
        to_translate("no text"),
        to_translate("not utf8"),
        to_translate("too slow"),
        to_translate("too much memory"),
        to_translate("crashed"),
        to_translate("ocr missing"),
        to_translate("office missing"),
        to_translate("file too small"),
        to_translate("too few pages"),
        to_translate("too little text"),
        to_translate("unreadable text"),
        to_translate("title refused"),
        to_translate("low score"),
        to_translate("out of scope"),
        to_translate("same content"),
        to_translate("same text"),
        to_translate("same work"),
        to_translate("same address"),
        to_translate("superseded"),
        to_translate("translation"),
        to_translate("model missing"),
        to_translate("model failed"),
        to_translate("decided"),
        to_translate("unexpected"),
    )
)
# How a source is doing, what was done with it, and the status of its licence.
_SOURCES = frozenset(
    (
        to_translate("Licence to decide"),
        to_translate("New"),
        to_translate("Indexed"),
        to_translate("Indexed, translation"),
        to_translate("Indexed, superseded"),
        to_translate("Portal"),
        to_translate("Erased"),
        to_translate("Added"),
        to_translate("Address"),
        to_translate("Removed"),
        to_translate("Decision"),
        to_translate("Correction"),
        to_translate("GREEN"),
        to_translate("YELLOW"),
        to_translate("RED"),
    )
)
# How questions came out, and what two runs of them differ in.
_ANSWERS = frozenset(
    (
        to_translate("answered"),
        to_translate("insufficient evidence"),
        to_translate("Evidence found"),
        to_translate("Evidence cited"),
        to_translate("First quotation right"),
        to_translate("Rightly refused"),
        to_translate("Wrongly refused"),
        to_translate("Answered without evidence"),
        to_translate("Evidence not found"),
        to_translate("Evidence found, not cited"),
        to_translate("none"),
        to_translate("more than chance"),
        to_translate("may be chance"),
    )
)
_ROLES = frozenset((to_translate("reader"), to_translate("curator"), to_translate("admin")))
# How a question was planned, where no model did.
_PLANNERS = frozenset((to_translate("rules"),))
FIXED = _TAXONOMY | _STATES | _REASONS | _SOURCES | _ANSWERS | _PLANNERS | _ROLES


# rag_engine/notebook/store.py
_UNNAMED_NOTEBOOK = to_translate("Evidence")


def notebook_name(notebook: Notebook) -> str:
    """Return the name of a notebook; that of the default one in the language until it is renamed."""
    return _(_UNNAMED_NOTEBOOK) if is_unnamed(notebook) else notebook.name


def page_noun(file: str) -> str:
    """Return what a page of a file is called: "Page", "Slide", "Sheet", else "Part"."""
    match page_kind(file):
        case "slide":
            return _("Slide")
        case "sheet":
            return _("Sheet")
        case "page":
            return _("Page")
    return _("Part")


def count_pages(file: str, n: int) -> str:
    """Return how many pages a file has: "1 page", "12 slides", "4 sheets"; "" where it has none."""
    match page_kind(file):
        case "slide":
            return counted("{n} slide", "{n} slides", n)
        case "sheet":
            return counted("{n} sheet", "{n} sheets", n)
        case "page":
            return counted("{n} page", "{n} pages", n)
    return ""


def is_workbook(file: str) -> bool:
    """Return whether the pages of a file are sheets."""
    return page_kind(file) == "sheet"


def shown_reason(reason: str) -> str:
    """Return why a phase ended as it did, in words."""
    return shown_name(display_reason(reason))


def shown_name(value: str) -> str:
    """Return the name of a value that is of a fixed list; any other value as it is."""
    return _(value) if value in FIXED else value
