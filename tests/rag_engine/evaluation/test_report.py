from __future__ import annotations

from pathlib import Path

import numpy as np

from rag_engine.evaluation.metrics import Measured
from rag_engine.evaluation.report import compare, kept_measurements, write_report


def test_a_report_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    values = np.array([0.0, 0.5, 1.0, 1.0])
    measured = [Measured(name, {"recall": values * share}, values) for name, share in (("plain", 1.0), ("half", 0.5))]
    rows = compare(
        measured, "plain", {"all": [True] * 4, "few": [True, True, False, False], "one": [True] + [False] * 3}
    )
    write_report(
        tmp_path, "chunking", "Ways of chunking", rows, ["recall"], ["recall"], ["semantic is slow."], ["recall"]
    )

    [kept] = kept_measurements([tmp_path, tmp_path / "not there"])
    assert (kept.name, kept.title) == ("chunking", "Ways of chunking")
    [table] = kept.tables
    assert table.columns[:4] == ("configuration", "questions", "n", "recall")
    # The smaller groups of questions are in the CSV alone.
    assert {row[:2] for row in table.rows} == {("plain", "all"), ("plain", "few"), ("half", "all"), ("half", "few")}
    assert "one" in (tmp_path / "chunking.csv").read_text(encoding="utf-8")
    assert kept.notes[-1] == "semantic is slow."
    [chart] = kept.charts
    assert {value["configuration"] for value in chart["data"]["values"]} == {"plain", "half"}


def test_headings_part_the_tables_and_a_broken_chart_is_left_out(tmp_path: Path) -> None:
    cost, gain = "| a | b |\n| --- | --- |\n| 1 | 2 |", "| c |\n| --- |\n| 3 |"
    text = f"# Reranking\n\nRead it so.\n\n## Cost\n\n{cost}\n\n## Gain\n\n{gain}\n"
    (tmp_path / "reranking.md").write_text(text, encoding="utf-8")
    (tmp_path / "reranking.x.vl.json").write_text("{", encoding="utf-8")
    [kept] = kept_measurements([tmp_path])
    assert [(one.heading, one.rows) for one in kept.tables] == [("Cost", (("1", "2"),)), ("Gain", (("3",),))]
    assert kept.notes == ("Read it so.",)
    assert kept.charts == ()
