"""A workspace on a disk that is only read is listed, searched and asked."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# The workspace is mounted once more over itself, for reading alone, in a namespace that ends with the command. Modes do
# not bind root.
_READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


@pytest.mark.needs("linux")
@pytest.mark.parametrize(
    ("act", "words", "file"),
    [("list", [], "caldo.md"), ("search", ["livello rosso"], "caldo.md"), ("ask", ["Wann gilt Stufe 2?"], "duerre.md")],
)
def test_a_workspace_that_cannot_be_written_answers_and_says_that_nothing_is_kept(
    small_workspace: Path, act: str, words: list[str], file: str
) -> None:
    sextant = [sys.executable, "-m", "cli", act, *words, "--json", "-w", str(small_workspace)]
    before = {path: path.read_bytes() for path in small_workspace.rglob("*") if path.is_file()}

    ended = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", _READ_ONLY, str(small_workspace), *sextant],
        check=False,
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )

    assert ended.returncode == 0, ended.stderr
    assert file in ended.stdout
    assert "nothing of this is kept" in " ".join(ended.stderr.split())
    assert before == {path: path.read_bytes() for path in small_workspace.rglob("*") if path.is_file()}
