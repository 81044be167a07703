"""Changing the settings that are kept with the workspace, and the effect of each in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ingestion.jobs.queue import Run
from ingestion.operations.acts import ActingPlace, act, enter, signed
from ingestion.operations.desk import Desk
from rag_engine.settings import Setting, SettingState, keep_setting, read_settings, remove_setting, settings_table
from rag_engine.text.wording import ENGLISH, Wording


@act("reader")
def list_settings(desk: ActingPlace) -> list[SettingState]:
    """Return every setting with the value that holds and where it comes from."""
    settings = read_settings(desk.workspace)
    return [settings.state(name) for name in settings_table()]


@act("admin", "Changing a setting", on_first=True)
def change_setting(desk: ActingPlace, name: str, value: str, author: str) -> SettingState:
    """Keep a value with the workspace, with who changed it; nothing is started. Return what holds now."""
    author = signed(desk, author)
    keep_setting(desk.workspace, name, value, author)
    enter(desk, name, by=author)
    return read_settings(desk.workspace).state(name)


@act("admin", "Resetting a setting", on_first=True)
def reset_setting(desk: ActingPlace, name: str, author: str) -> None:
    """Remove the value of a setting from the workspace, so that its default holds; also a damaged one."""
    author = signed(desk, author)
    remove_setting(desk.workspace, name)
    enter(desk, name, by=author)


def describe_effect(setting: Setting, desk: Desk | None = None, wording: Wording = ENGLISH) -> str:
    """Return, in words, when a change of a setting takes effect.

    With a desk, it adds the cost of building the index again for its documents. The duration is known if it was built
    before.
    """
    message, counted = wording.message, wording.counted
    words = {
        "question": message("Takes effect from the next question."),
        "run": message("Takes effect for everything read or judged from now on. The next run checks what it changes."),
        "index": message("Takes effect in a rebuilt index."),
        "restart": message("Takes effect when `sextant serve` is started again."),
    }[setting.effect]
    if setting.effect != "index" or desk is None:
        return words
    documents = len(desk.engine.collection.snapshot().documents)
    if not documents:
        empty = message("The collection is empty: the first documents are indexed with it.")
        return f"{words} {empty}"
    encoded = counted(
        "{n} document must be encoded again: `sextant rebuild --encode`, or “Encode every document again” on the Run "
        "tab.",
        "{n} documents must be encoded again: `sextant rebuild --encode`, or “Encode every document again” on the Run "
        "tab.",
        documents,
    )
    took = _rebuild_minutes(desk.jobs.finished())
    length = counted("It took about {n} minute the last time.", "It took about {n} minutes the last time.", took)
    until = (
        message("Until then nothing can be added, and a server started again cannot search.")
        if setting.name == "encoder"
        else message("Until then only documents added from now on follow it.")
    )
    return " ".join(filter(None, (words, encoded, length if took else "", message("Nothing is started now."), until)))


def _rebuild_minutes(finished: Sequence[Run]) -> int:
    """Return how many minutes the last encoding of all documents took, 0 if there was none."""
    for run in reversed(finished):
        if run.action == "rebuild" and run.status == "done" and run.arguments.get("encode"):
            seconds = run.heartbeat - datetime.fromisoformat(run.started).timestamp()
            return max(1, round(seconds / 60))
    return 0
