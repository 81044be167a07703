"""One kill in each act; the other moments, faults and hostile input are in `make harness`."""

from __future__ import annotations

import pytest

from tests.harness.killing.kills import kills


@pytest.mark.needs("linux")
@pytest.mark.usefixtures("forked")
def test_nothing_is_lost_by_a_kill_in_the_middle_of_an_act() -> None:
    tallies = list(kills("short"))
    assert {one.what.rpartition(": ")[2] for one in tallies} == {
        *("add", "erase", "rebuild", "rebuild --encode", "backup", "import", "run", "refresh")
    }
    assert not [str(one) for one in tallies if one.lost or not one.tried]
