"""Files are lent in a scratch folder, and nothing of it stays."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rag_engine.confinement.scratch import Scratch
from tests.conftest import ROOT


def test_a_file_is_lent_under_its_name_and_is_gone_afterwards(tmp_path: Path) -> None:
    (tmp_path / "plan über Fluten.pdf").write_bytes(b"words")
    scratch = Scratch()
    with scratch.lend(tmp_path / "plan über Fluten.pdf") as lent:
        assert lent.read_bytes() == b"words"
        assert lent.name == "plan über Fluten.pdf"
    assert not lent.exists()
    assert (tmp_path / "plan über Fluten.pdf").read_bytes() == b"words"
    with scratch.lend(tmp_path) as folder, scratch.lend(tmp_path / "none.pdf") as none:
        assert not folder.exists()
        assert not none.exists()
    scratch.close()
    assert not scratch.own.parent.exists()


def test_a_link_lends_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "plan.pdf").write_bytes(b"words")
    (tmp_path / "link.pdf").symlink_to("plan.pdf")
    scratch = Scratch()
    with scratch.lend(tmp_path / "link.pdf") as lent:
        assert lent.read_bytes() == b"words"
        assert not lent.is_symlink()
    scratch.close()


@pytest.mark.needs("linux")
def test_what_a_killed_process_left_is_removed_and_what_is_in_use_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    used = Scratch()
    script = "import os\nfrom rag_engine.confinement.scratch import Scratch\nScratch()\nos.kill(os.getpid(), 9)\n"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    assert len(list(tmp_path.iterdir())) == 2
    next_one = Scratch()
    assert {*tmp_path.iterdir()} == {used.own.parent, next_one.own.parent}
    used.close()
    next_one.close()
