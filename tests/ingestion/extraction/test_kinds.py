"""Each kind of print is read in every format that has it as a reader of the page sees it."""

from pathlib import Path

import pytest

from benchmarks.pipeline.kinds import KINDS, NOT_THERE, WRITERS, read

CONVERTED = ("DOC", "ODS")
CELLS = [(name, kind) for name in WRITERS for kind in KINDS if kind not in NOT_THERE.get(name, {})]


@pytest.mark.parametrize(("name", "kind"), [cell for cell in CELLS if cell[0] not in CONVERTED])
def test_a_kind_of_print_is_read_as_it_is_shown(tmp_path: Path, name: str, kind: str) -> None:
    assert read(name, kind, tmp_path) == KINDS[kind][1]


@pytest.mark.long
@pytest.mark.needs("soffice")
@pytest.mark.parametrize(("name", "kind"), [cell for cell in CELLS if cell[0] in CONVERTED])
def test_a_kind_of_print_in_an_older_format_is_read_as_it_is_shown(tmp_path: Path, name: str, kind: str) -> None:
    assert read(name, kind, tmp_path) == KINDS[kind][1]
