import json
from pathlib import Path

import numpy as np

from rag_engine.evaluation.metric import Measured
from rag_engine.evaluation.report import compare, write_report


def test_a_report_has_a_table_notes_and_a_chart(tmp_path: Path) -> None:
    values = np.array([0.0, 0.5, 1.0, 1.0])
    measured = [Measured(name, {"recall": values * share}, values) for name, share in (("plain", 1.0), ("half", 0.5))]
    rows = compare(
        measured, "plain", {"all": [True] * 4, "few": [True, True, False, False], "one": [True] + [False] * 3}
    )
    write_report(
        tmp_path, "chunking", "Ways of chunking", rows, ["recall"], ["recall"], ["semantic is slow."], ["recall"]
    )

    text = (tmp_path / "chunking.md").read_text(encoding="utf-8")
    assert text.startswith("# Ways of chunking\n")
    # The smaller groups of questions are in the CSV alone.
    assert [line.split(" | ")[:3] for line in text.splitlines() if line.startswith("| ")][2:] == [
        ["| plain", "all", "4"],
        ["| half", "all", "4"],
        ["| plain", "few", "2"],
        ["| half", "few", "2"],
    ]
    assert "one" in (tmp_path / "chunking.csv").read_text(encoding="utf-8")
    assert text.endswith("- semantic is slow.\n")
    chart = json.loads((tmp_path / "chunking.recall.vl.json").read_text(encoding="utf-8"))
    assert {value["configuration"] for value in chart["data"]["values"]} == {"plain", "half"}
