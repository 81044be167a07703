"""The harness in its short form."""

from __future__ import annotations

import pytest

from tests.harness.parts import PARTS


@pytest.mark.needs("linux")
@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_lost(part: str) -> None:
    for tally in PARTS[part]("short"):
        assert tally.tried or tally.left_out, tally.what
        assert not tally.lost, str(tally)
