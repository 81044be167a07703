"""The columns of the dataset as data/dataset.toml lists them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass

from ingestion.records.source_record import SourceRecord
from ingestion.status.source_status import source_status
from ingestion.types.description import FieldName
from rag_engine.config import DATA
from rag_engine.text.folding import fold

DATASET = "Dataset"
NOT_DOCUMENTS = "Not documents"
# A hidden copy of what was written, so that an import can tell what a person changed from what changed meanwhile.
EXPORTED = "Exported"
LEVEL_AND_COUNTRIES = "Geographical Level"
COUNTRIES = "Countries"
LIGHT = "Licence Light"
# Where a person decides on a licence; always empty in an export.
DECISION = "Licence Decision"
NOTE = "Decision Note"
_ACTIVE = "Active"
_TABLE = tomllib.loads((DATA / "dataset.toml").read_text(encoding="utf-8"))
EDITING: tuple[str, ...] = tuple(_TABLE["editing"])


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, width in characters, meaning, value, and the field that an edit corrects.

    `reads` names a part of the record and its field, such as "quality.score".
    """

    name: str
    width: int
    meaning: str
    reads: str = ""
    field: FieldName | None = None

    def read(self, record: SourceRecord) -> str | float | None:
        """Return the value of a cell; None if the record has no such part."""
        if self.name == LEVEL_AND_COUNTRIES:
            # The geographical level with the countries behind it, as the paper writes it: National - Italy; France.
            metadata = record.metadata
            countries = "; ".join(metadata.countries)
            level = metadata.geographical_level
            return f"{level} - {countries}" if level and countries else level
        if self.name == _ACTIVE:
            return "no" if record.relation and record.relation.superseded else "yes"
        if not self.reads and self.field is None:
            return ""
        part, _, name = (self.reads or f"metadata.{self.field}").partition(".")
        value = getattr(source_status(record) if part == "status" else getattr(record, part), name, None)
        return "; ".join(value) if isinstance(value, tuple) else value


def heading_key(text: str) -> str:
    """Return a heading as headings are compared: however it is spaced, accented and written large.

    >>> heading_key("  Código del documento ") == heading_key("CODIGO_DEL_DOCUMENTO")
    True
    """
    return re.sub(r"[\W_]+", "", fold(text))


COLUMNS = tuple(Column(**row) for row in _TABLE["columns"])
