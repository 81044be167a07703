"""The search finds what a parser must not do, and names the input."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.harness.fuzzing.fuzz import searched
from tests.harness.fuzzing.seam import Seam

pytestmark = [pytest.mark.needs("linux"), pytest.mark.usefixtures("forked")]


def _raise(content: bytes) -> None:
    int(content)


def _end_the_process(content: bytes) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _take_memory(content: bytes) -> None:
    bytearray(2**31)


def seams(_: Path) -> dict[str, Seam]:
    """Return parsers each of which does something else that none may do."""
    made = {"raises": _raise, "ends": _end_the_process, "takes": _take_memory}
    return {what: Seam(parse, (KeyError,), (b"honest",)) for what, parse in made.items()}


@pytest.mark.parametrize(
    ("what", "error"), [("raises", "ValueError at "), ("ends", "it ended with -11"), ("takes", "MemoryError at ")]
)
def test_what_a_parser_must_not_do_is_lost_with_its_input(tmp_path: Path, what: str, error: str) -> None:
    tally = searched(tmp_path, 0.1, seams, what)
    assert tally.survived < tally.tried
    assert tally.lost[0].startswith(error)
    assert "b'honest'" in tally.lost[0]
