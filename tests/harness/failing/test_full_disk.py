"""A full disk interrupts an act with a sentence, and the next writer finishes the act."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.harness.failing.commands import Ended, commands
from tests.harness.killing.acts import Scene
from tests.harness.killing.processes import act_undisturbed, run, run_watched
from tests.harness.killing.watched_writes import PASS, Write

pytestmark = [pytest.mark.needs("linux"), pytest.mark.usefixtures("forked")]

WORD = "zanzibar"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Return a workspace of two documents, the first of which alone holds WORD."""
    scene = Scene(tmp_path / "scene", tmp_path / "given")
    scene.folder.mkdir()
    scene.given.mkdir()
    for topic, place in (("flood", WORD), ("heat", "the city")):
        text = "\n\n".join(f"The {topic} plan of {place}, measure {n}, binds authority {n}." for n in range(6))
        (scene.given / f"{topic}.txt").write_text(text, encoding="utf-8")
    act_undisturbed("add", scene)
    return scene


def with_no_room_for(names: str, scene: Scene, *arguments: str) -> Ended:
    """Carry a command out on a disk that has no room for files with this in their names."""

    def decide(write: Write) -> int:
        return errno.ENOSPC if write.grows and names in write.path else PASS

    ended: Ended
    [ended] = run_watched(scene, decide, commands, scene, arguments)
    return ended


def holding(scene: Scene) -> list[str]:
    """Return the files of the workspace that hold the word."""
    files = (path for path in scene.workspace.rglob("*") if path.is_file())
    return [path.name for path in files if WORD.encode() in path.read_bytes().lower()]


@pytest.mark.parametrize("names", [".term", ".tantivy-writer.lock"])
def test_a_keyword_index_that_cannot_be_written_is_a_sentence(scene: Scene, names: str) -> None:
    ended = with_no_room_for(names, scene, "rebuild")
    assert (ended.code, ended.error) == (2, "")
    assert "See that its disk has room" in " ".join(ended.said.split())
    [again] = run(commands, scene, ("rebuild",))
    assert again.code == 0, again


def test_an_erasure_that_finds_no_room_to_write_chroma_anew_is_finished_when_there_is_some(scene: Scene) -> None:
    ended = with_no_room_for("chroma.sqlite3", scene, "erase", "flood.txt")
    assert (ended.code, ended.error) == (2, "")
    assert holding(scene)
    [again] = run(commands, scene, ("status",))
    assert again.code == 0, again
    assert holding(scene) == []
