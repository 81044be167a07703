"""Files that broke their reader are not tried again unchanged; a file that stops two is set aside."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ingestion.file_reading import FileReading, PrintedPages
from ingestion.records.refused_files import RefusedFiles, WorkerStops
from ingestion.types.outcome import OutcomeReason, Refusal
from rag_engine.types.document import ExtractedText
from tests.conftest import ROOT

READING = FileReading(ExtractedText("Words", 1, (), (), "text/plain", ""))


@dataclass
class Refuser:
    """A reader that refuses for a reason, until it is given enough time."""

    reason: OutcomeReason
    enough: float = 1000.0
    asked: list[float] = field(default_factory=list)

    def read(self, path: Path, patience: float = 1.0) -> FileReading:
        self.asked.append(patience)
        if patience >= self.enough:
            return READING
        raise Refusal(self.reason, f"{path.name} was refused.", help="Split it.")

    def lines(self, path: Path, pages: Collection[int]) -> PrintedPages:
        raise AssertionError(path)

    def abort(self) -> None:
        raise AssertionError


def refusal(refused: RefusedFiles, reader: Refuser, sha256: str = "a") -> Refusal:
    with pytest.raises(Refusal) as caught:
        refused.read(reader, Path("plan.pdf"), sha256)
    return caught.value


@pytest.mark.parametrize("reason", ["crashed", "damaged", "too_slow", "too_much_memory"])
def test_a_file_that_broke_its_reader_is_refused_at_once_until_it_changes(
    tmp_path: Path, reason: OutcomeReason
) -> None:
    reader = Refuser(reason)
    first = refusal(RefusedFiles(tmp_path / "refused", "1"), reader)
    again = refusal(RefusedFiles(tmp_path / "refused", "1"), reader)
    assert len(reader.asked) == 1
    assert (again.reason, again.status) == (first.reason, first.status)
    assert "plan.pdf was refused. So it was on 20" in str(again)
    assert "`sextant add --again`" in str(again)
    # Another content, and another reader.
    refusal(RefusedFiles(tmp_path / "refused", "1"), reader, "b")
    refusal(RefusedFiles(tmp_path / "refused", "2"), reader)
    assert len(reader.asked) == 3


@pytest.mark.parametrize("reason", ["empty", "ocr_missing", "office_missing", "unexpected"])
def test_what_is_seen_at_once_or_can_be_installed_is_looked_at_again(tmp_path: Path, reason: OutcomeReason) -> None:
    reader = Refuser(reason)
    for _ in range(2):
        refusal(RefusedFiles(tmp_path / "refused", "1"), reader)
    assert len(reader.asked) == 2


def test_a_slow_file_that_is_tried_on_purpose_gets_twice_the_time_of_before(tmp_path: Path) -> None:
    reader = Refuser("too_slow", enough=4.0)
    refusal(RefusedFiles(tmp_path / "refused", "1"), reader)
    on_purpose = RefusedFiles(tmp_path / "refused", "1", again=True)
    refusal(on_purpose, reader)
    assert on_purpose.read(reader, Path("plan.pdf"), "a") == READING
    assert reader.asked == [1.0, 2.0, 4.0]
    # It was read: nothing is held against it.
    assert list((tmp_path / "refused").iterdir()) == []


def test_what_stopped_two_workers_is_set_aside_and_can_be_tried_on_purpose(tmp_path: Path) -> None:
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom ingestion.records.refused_files import WorkerStops\n"
        "with WorkerStops(Path(sys.argv[1])).at('indexing a', 'plan.pdf'):\n    os.kill(os.getpid(), 9)\n"
    )
    for _ in range(2):
        with WorkerStops(tmp_path).at("indexing b", "other.pdf"):
            pass
        subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, check=False)
        assert WorkerStops(tmp_path).one_at_a_time
    with (
        pytest.raises(Refusal, match=r"plan\.pdf stopped the worker 2 times and is set aside") as caught,
        WorkerStops(tmp_path).at("indexing a", "plan.pdf"),
    ):
        pytest.fail("it was not set aside")
    assert (caught.value.reason, caught.value.status, caught.value.retryable) == ("crashed", "failed", False)
    with WorkerStops(tmp_path, again=True).at("indexing a", "plan.pdf"):
        pass
    with WorkerStops(tmp_path).at("indexing a", "plan.pdf"):
        pass
    assert not WorkerStops(tmp_path).one_at_a_time
