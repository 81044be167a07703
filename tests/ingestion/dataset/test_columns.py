from __future__ import annotations

import pytest

from ingestion.dataset.columns import COLUMNS, Column
from ingestion.types.description import FIELDS
from tests.ingestion.source_records import source_record


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_every_column_reads_something_or_shows_a_field(column: Column) -> None:
    value = column.read(source_record())
    empty = (
        "Parent_Code", "Version", "Superseded", "Translation_Of", "Identifiers", "Reason", "Message",
        "Licence Decision", "Decision Note",
    )  # fmt: skip
    assert value is not None
    assert (value == "") == (column.name in empty)
    assert column.field is None or column.field in FIELDS
