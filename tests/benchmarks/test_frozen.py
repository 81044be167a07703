"""The comparison of two checkouts: nothing differs from itself, and a verdict that changed is shown."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.frozen.compare import differences, masked, rankings
from tests.conftest import ROOT

# A judge of another opinion about one case, as a change of the rules would make it.
CHANGED = """

_judge = judge_case


def judge_case(case):
    verdict = _judge(case)
    return replace(verdict, light="YELLOW") if case.id == "lic000" else verdict
"""


@pytest.fixture
def other_checkout(tmp_path: Path) -> Path:
    """Lay out a checkout that differs in one verdict and lacks the comparison."""
    folder = tmp_path / "other"
    (folder / "benchmarks" / "pipeline").mkdir(parents=True)
    for name in (".venv", "rag_engine", "ingestion", "data", "benchmarks/report.py"):
        (folder / name).symlink_to(ROOT / name)
    text = (ROOT / "benchmarks" / "pipeline" / "licences.py").read_text(encoding="utf-8")
    changed = text.replace("\ndef measure(", f"{CHANGED}\n\ndef measure(").replace(
        "from pathlib", "from dataclasses import replace\nfrom pathlib", 1
    )
    (folder / "benchmarks" / "pipeline" / "licences.py").write_text(changed, encoding="utf-8")
    return folder


def test_a_checkout_does_not_differ_from_itself(tmp_path: Path) -> None:
    ended = _compare(ROOT, ROOT, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "## licences: 0 of " in ended.stdout


def test_what_another_checkout_gives_is_shown(other_checkout: Path, tmp_path: Path) -> None:
    ended = _compare(ROOT, other_checkout, tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert "## licences: 1 of " in ended.stdout
    assert '+ "light": "YELLOW",' in ended.stdout


def test_times_and_drawn_names_do_not_count() -> None:
    before = {"answer": {"seconds": 1.5, "file": "uploads/0123456789abcdef/a.pdf", "at": "2026-11-28T07:00:00"}}
    after = {"answer": {"seconds": 2.5, "file": "uploads/fedcba9876543210/a.pdf", "at": "2026-11-28T08:00:00"}}
    assert not list(differences(masked(before), masked(after)))
    assert list(differences(before, after))


def test_the_first_ten_and_the_figures_of_runs_are_compared() -> None:
    before = {"figures set": {"default": {"ndcg@10": 0.5}}, "a.run q1": ["x", "y"], "a.run q2": ["x", "y"]}
    after = {"figures set": {"default": {"ndcg@10": 0.4}}, "a.run q1": ["y", "x"], "a.run q2": ["x", "y"]}
    assert list(rankings(before, after)) == [
        "a: the same first 10 for 1 of 2 questions",
        "figures set: nDCG@10 [0.5] before, [0.4] after",
    ]


def _compare(before: Path, after: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.frozen.compare", str(before), str(after), "--out", str(out / "kept")]
    return subprocess.run(
        [*command, "--only", "licences"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
