"""Faults of the machine around a workspace: damaged files, full or read-only disks, missing parts."""

from __future__ import annotations

from collections.abc import Iterator

from tests.harness.failing.absent import absent
from tests.harness.failing.clock import clock_jumps
from tests.harness.failing.damaged_files import damaged_files
from tests.harness.failing.full_disk import full_disk, read_only_disk, really_full_disks
from tests.harness.killing.scenes import folder_in_memory, scenes
from tests.harness.tally import Effort, Tally

_COMMANDS = {
    "add": ("add", "GIVEN"),
    "erase": ("erase", "flood.txt", "--redact"),
    "rebuild": ("rebuild",),
    "backup": ("backup", "ARCHIVE"),
    "import": ("sources", "add", "LIST"),
    "run": ("run",),
    "refresh": ("run", "--refresh"),
}
# Also carried out on small disks of memory.
_ON_DISKS = ("add", "erase", "rebuild", "backup")


def faults(effort: Effort) -> Iterator[Tally]:
    """Try each fault; the commands must say it in a sentence, and nothing be lost by it."""
    with folder_in_memory() as folder:
        for act, scene in scenes(folder):
            if act == "erase":
                yield from read_only_disk(scene)
                yield from damaged_files(scene, effort)
            if effort == "short" and act == "erase":
                yield full_disk(scene, act, _COMMANDS[act], effort)
                break
            if effort == "whole" and act in _COMMANDS:
                yield full_disk(scene, act, _COMMANDS[act], effort)
            if effort == "whole" and act in _ON_DISKS:
                yield from really_full_disks(scene, act, _COMMANDS[act])
            if effort == "whole" and act == "erase":
                yield from clock_jumps(scene)
                yield from absent(scene)
