"""The columns of the dataset in the paper's order (Buriasco 2026) with ours behind them, and what each one means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ingestion.records.source_record import SourceRecord, metadata_of
from ingestion.status.source_status import source_status
from ingestion.types import FieldName, Indexed

DATASET = "Estrazione Finale"
NOT_DOCUMENTS = "Not documents"
# A hidden copy of what was written, so that an import can tell what a person changed from what changed meanwhile.
EXPORTED = "Exported"
LEVEL_AND_COUNTRIES = "Geographical Level"
COUNTRIES = "Countries"

IMPORTING = (
    "How to edit: change the cells of the columns that say so, save the workbook, and import it again. Only what you "
    "changed is taken over, and your values are never overwritten by a later run.",
    "Several values in one cell are separated by a semicolon. An emptied cell empties the field.",
    "Keep Document_Code as it is: it says which document a row is about. Order, hidden rows and filters do not matter.",
    "The licence is decided in the licence review and not here.",
    "The hidden sheet Exported holds what was written; keep it. With it, an import takes the cells that you changed "
    "and no others, and tells where somebody else has changed the same value meanwhile. A CSV has no such sheet: its "
    "cells are compared with the present values, so that importing an old CSV takes back what others corrected since.",
    "Geographical Level and Countries hold the same countries; change one of the two cells, or both alike.",
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, width in characters, meaning, the field that an edited cell corrects, and its value."""

    name: str
    width: int
    meaning: str
    read: Callable[[SourceRecord], str | float | None]
    field: FieldName | None = None


def shown_level(record: SourceRecord) -> str:
    """Return the geographical level with the countries behind it, as the paper writes it: National - Italy; France."""
    metadata = metadata_of(record)
    countries = "; ".join(metadata.countries)
    level = metadata.geographical_level
    return f"{level} - {countries}" if level and countries else level


def _chunks(record: SourceRecord) -> float | None:
    outcome = record.outcomes.get("indexing")
    return outcome.evidence.children if outcome and isinstance(outcome.evidence, Indexed) else None


def _active(record: SourceRecord) -> str:
    return "no" if record.relation and record.relation.superseded else "yes"


_EDIT = " You may edit it."

COLUMNS: tuple[Column, ...] = (
    Column("Document_Code", 16, "The code that identifies the document for ever.", lambda d: d.source.code),
    Column("Policy Title", 50, "The document's own title." + _EDIT, lambda d: metadata_of(d).title, "title"),
    Column(
        "Issuing Authority",
        32,
        "Who issued it, by one name each." + _EDIT,
        lambda d: metadata_of(d).authority,
        "authority",
    ),
    Column(
        LEVEL_AND_COUNTRIES,
        24,
        "The level it applies to, with the countries behind a hyphen." + _EDIT,
        shown_level,
        "geographical_level",
    ),
    Column("Hazard", 24, "The hazards it deals with." + _EDIT, lambda d: "; ".join(metadata_of(d).hazards), "hazards"),
    Column(
        "Target and Relevance", 50, "Whom it addresses and what for." + _EDIT, lambda d: metadata_of(d).target, "target"
    ),
    Column(
        "Key Criteria",
        30,
        "Criteria of the taxonomy for which the text gives evidence." + _EDIT,
        lambda d: "; ".join(metadata_of(d).key_criteria),
        "key_criteria",
    ),
    Column(
        "Additional Tags",
        30,
        "Tags of the taxonomy for which the text gives evidence." + _EDIT,
        lambda d: "; ".join(metadata_of(d).tags),
        "tags",
    ),
    Column("Description", 70, "What it says, in short." + _EDIT, lambda d: metadata_of(d).description, "description"),
    Column(
        "Document type",
        18,
        "Its type in the taxonomy." + _EDIT,
        lambda d: metadata_of(d).document_type,
        "document_type",
    ),
    Column("Source", 50, "The address in the list of seeds.", lambda d: d.source.url),
    Column("Language", 10, "Two letters of ISO 639-1." + _EDIT, lambda d: metadata_of(d).language, "language"),
    Column(
        "Date of Publication",
        14,
        "Year, year-month or year-month-day; a day is also read as 31/12/2020." + _EDIT,
        lambda d: metadata_of(d).date,
        "date",
    ),
    Column("License", 24, "The licence as it was read or decided.", lambda d: metadata_of(d).licence),
    Column("AI Notes", 40, "Remarks on the extraction." + _EDIT, lambda d: metadata_of(d).notes, "notes"),
    Column("Local File Path", 36, "The file in the workspace.", lambda d: d.download.path if d.download else ""),
    Column(
        "Content Hash", 20, "SHA-256 of the cleaned text.", lambda d: d.extraction.text_hash if d.extraction else ""
    ),
    Column("Quality Score", 10, "0 to 100.", lambda d: d.quality.score if d.quality else None),
    Column(
        "Sections Found",
        30,
        "Usual sections it has.",
        lambda d: "; ".join(d.quality.sections_found) if d.quality else "",
    ),
    Column("Key Terms", 30, "Its most telling terms.", lambda d: "; ".join(d.quality.key_terms) if d.quality else ""),
    Column("Num Chunks", 10, "Pieces in the index.", _chunks),
    Column(
        "Cleaned Text Length",
        12,
        "Characters of the cleaned text.",
        lambda d: d.extraction.cleaned_characters if d.extraction else None,
    ),
    Column("Parent_Code", 14, "The portal or directory it was found under.", lambda d: d.source.parent),
    Column("Version", 12, "Which version of the work it is.", lambda d: d.relation.version if d.relation else ""),
    Column("Active", 8, "yes for the newest version of a work, no for a superseded one.", _active),
    Column(
        "Superseded",
        12,
        "The date from which a newer version stands.",
        lambda d: d.relation.superseded if d.relation else "",
    ),
    Column(
        "Translation_Of",
        14,
        "The code of the preferred language version.",
        lambda d: d.relation.translation_of if d.relation else "",
    ),
    Column(COUNTRIES, 24, "English names." + _EDIT, lambda d: "; ".join(metadata_of(d).countries), "countries"),
    Column("Licence Light", 10, "GREEN, YELLOW or RED.", lambda d: d.verdict.light if d.verdict else ""),
    Column("Status", 10, "indexed, waiting, or how the phase beside it ended.", lambda d: source_status(d).status),
    Column("Phase", 14, "The phase it stands at.", lambda d: source_status(d).phase),
    Column("Reason", 16, "Why it stands there.", lambda d: source_status(d).reason),
    Column("Message", 50, "The same in a sentence.", lambda d: source_status(d).message),
)
