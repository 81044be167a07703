"""The catalog: values come out as they went in."""

from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sql
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import InputError, WorkspaceError
from rag_engine.storage.catalog import (
    open_catalog,
    pack_blocks,
    pack_lines,
    pack_text,
    unpack_blocks,
    unpack_lines,
    unpack_text,
)
from rag_engine.storage.schema import vectors
from rag_engine.types.document import Block, Box, Line

OFFSETS = st.integers(0, 2**31 - 1)
NUMBERS = st.floats(-1e4, 1e4, width=32)
LINES = st.builds(Line, OFFSETS, OFFSETS, OFFSETS, st.none() | st.builds(Box, NUMBERS, NUMBERS, NUMBERS, NUMBERS))
SIZES = st.none() | st.floats(0, 200)
BLOCKS = st.builds(Block, OFFSETS, OFFSETS, OFFSETS, st.sampled_from(["heading", "text", "table", "note"]), SIZES)


@given(st.lists(LINES, max_size=5), st.lists(BLOCKS, max_size=5), st.text())
def test_text_lines_and_blocks_are_kept_to_the_last_digit(lines: list[Line], blocks: list[Block], text: str) -> None:
    assert unpack_lines(pack_lines(lines)) == tuple(lines)
    assert unpack_blocks(pack_blocks(blocks)) == tuple(blocks)
    text = text.encode("utf-8", "replace").decode()
    assert unpack_text(pack_text(text)) == text


@pytest.mark.parametrize("kept", [0, 5, -5])
def test_a_text_that_is_cut_off_is_damaged(kept: int) -> None:
    with pytest.raises(WorkspaceError, match="cut off"):
        unpack_text(pack_text("Floods damage archives and museums.")[:kept])


def test_a_text_that_swells_beyond_what_a_document_has_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_engine.storage.catalog._LARGEST", 10_000)
    assert unpack_text(pack_text("a" * 9_999)) == "a" * 9_999
    with pytest.raises(WorkspaceError, match="swells"):
        unpack_text(pack_text("a" * 1_000_000))


def test_ten_thousand_blocks_take_less_room_than_their_text() -> None:
    sizes = np.random.default_rng(0).choice([9.0, 10.5, 14.0], 10_000)
    blocks = [Block(i * 300, i * 300 + 280, i // 10 + 1, "text", float(size)) for i, size in enumerate(sizes)]
    assert len(pack_blocks(blocks)) < 100_000


def test_a_new_workspace_is_its_owners_alone_and_a_folder_that_holds_something_stays_as_it_is(tmp_path: Path) -> None:
    for name in ("empty", "shared"):
        (tmp_path / name).mkdir(mode=0o755)
    (tmp_path / "shared" / "of others").touch()
    modes = {"new": 0o700, "empty": 0o700, "shared": 0o755}
    for name in modes:
        open_catalog(tmp_path / name).close()
    assert {name: (tmp_path / name).stat().st_mode & 0o777 for name in modes} == modes


@pytest.mark.parametrize("name", ["what? mode=memory", "50%25 #1&2", "a@b:c", "quo'te\"s"])
def test_the_catalog_lies_in_its_workspace_whatever_that_is_called(tmp_path: Path, name: str) -> None:
    open_catalog(tmp_path / name).close()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name / "catalog.sqlite").stat().st_size > 0


@pytest.mark.parametrize("url", ["postgresql+nosuch://ada:hunter2@host/db", "no address, hunter2"])
def test_an_address_that_cannot_be_used_is_refused_without_its_password(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match="SEXTANT_CATALOG_URL cannot be used") as refused:
        open_catalog(tmp_path, url)
    assert "hunter2" not in str(refused.value)


def test_an_error_of_the_database_repeats_no_value(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    row = {"model": "zanzibar", "text_hash": "", "row": 0, "sentences": b""}
    with pytest.raises(sql.exc.IntegrityError, match="UNIQUE") as error, catalog.begin() as connection:
        connection.execute(sql.insert(vectors), [row, row])
    assert "zanzibar" not in str(error.value)
    catalog.close()
