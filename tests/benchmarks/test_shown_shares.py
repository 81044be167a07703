"""The rates of refusals and tiers that the interface states are those of the committed tables."""

import tomllib

from benchmarks.answers.shown_shares import CHANCES, with_shown_shares
from tests.conftest import ROOT

RESULTS = ROOT / "benchmarks" / "results"


def test_the_shares_that_are_shown_are_those_of_the_tables() -> None:
    chances = CHANCES.read_text(encoding="utf-8")
    tiers, refusals = ((RESULTS / f"{name}.md").read_text(encoding="utf-8") for name in ("tiers", "refusals"))
    assert with_shown_shares(chances, tiers, refusals) == chances


def test_what_is_stated_comes_from_the_held_out_half_and_not_from_a_handful_of_passages() -> None:
    tiers = "\n".join(
        f"| {model}, heldout, {place} | 3 of 4 (75%) | 5 of 10 (50%) | 1 of 100 (1%) |"
        for model in ("reader", "likeness")
        for place in ("same language", "across languages")
    )
    refusals = "| today, dev | 9 of 9 | 0 of 9 | 0 of 9 | 0% |\n| today, heldout | 1 of 80 | 8 of 10 | 9 of 10 | 85% |"
    before = "[reader]\nstrong = 0.4\n\n[reader.measured.same]\nstrong = 0.99\n\n[likeness]\nstrong = 0.4\n"
    shown = tomllib.loads(with_shown_shares(before, tiers, refusals))
    assert shown["reader"]["strong"] == 0.4
    assert shown["reader"]["measured"]["same"] == {"moderate": 0.5, "weak": 0.01}
    assert shown["reader"]["refusals"] == {"mistaken": 1, "answerable": 80, "caught": 17, "unanswerable": 20}
    assert "refusals" not in shown["likeness"]
