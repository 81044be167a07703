"""A run that takes much longer than those kept on its kind of machine is told."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from tests.conftest import ROOT

HOLDING = runpy.run_path(str(ROOT / ".ci" / "hold_duration.py"))


@pytest.mark.parametrize(("seconds", "too_long"), [(700.0, False), (1050.0, False), (1051.0, True)])
def test_a_run_is_held_against_the_median_of_those_kept(seconds: float, too_long: bool) -> None:
    sentence, told = HOLDING["judged"](seconds, [600.0, 700.0, 2000.0])
    assert told == too_long
    assert sentence == f"The run took {seconds:.0f} s; the median of 3 kept is 700 s."


def test_the_first_run_of_a_kind_of_machine_passes() -> None:
    assert HOLDING["judged"](700.0, [])[1] is False


@pytest.mark.parametrize(
    ("flags", "kind"),
    [("flags : avx2 avx512f amx_bf16 amx_tile", "amx"), ("flags : avx2 avx512f", "avx512"), ("flags : avx2", "avx2")],
)
def test_the_kinds_of_machine_are_those_that_are_kept(tmp_path: Path, flags: str, kind: str) -> None:
    (tmp_path / "cpuinfo").write_text(flags, encoding="utf-8")
    assert HOLDING["kind_of_machine"](tmp_path / "cpuinfo") == kind
    assert kind in json.loads(HOLDING["KEPT"].read_text(encoding="utf-8"))
