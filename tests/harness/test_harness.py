"""The harness in its short form, which is among the everyday tests but for what needs a browser."""

from __future__ import annotations

import pytest

from tests.harness.parts import PARTS

# These start the page server and a browser.
_LONG = ("scripts", "visitors")


@pytest.mark.needs("linux")
@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("part", [pytest.param(one, marks=pytest.mark.long if one in _LONG else ()) for one in PARTS])
def test_nothing_is_lost(part: str) -> None:
    for tally in PARTS[part]("short"):
        assert tally.tried or tally.left_out, tally.what
        assert not tally.lost, str(tally)
