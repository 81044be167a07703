"""Changing the settings that are kept with the workspace, and the effect of each in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ingestion.acts.context import ActContext
from ingestion.acts.register import ActingPlace, act, enter, signed
from ingestion.jobs.queue import Job
from rag_engine.settings import Setting, SettingState, keep_setting, read_settings, remove_setting, settings_table
from rag_engine.text.wording import ENGLISH, Wording


@act("reader")
def list_settings(context: ActingPlace) -> list[SettingState]:
    """Return every setting with the value that holds and where it comes from."""
    settings = read_settings(context.workspace)
    return [settings.state(name) for name in settings_table()]


@act("admin", "Changing a setting", on_first=True)
def change_setting(context: ActingPlace, name: str, value: str, author: str) -> SettingState:
    """Keep a value with the workspace, with who changed it; nothing is started. Return what holds now."""
    author = signed(context, author)
    keep_setting(context.workspace, name, value, author)
    enter(context, name, by=author)
    return read_settings(context.workspace).state(name)


@act("admin", "Resetting a setting", on_first=True)
def reset_setting(context: ActingPlace, name: str, author: str) -> None:
    """Remove the value of a setting from the workspace, so that its default holds; also a damaged one."""
    author = signed(context, author)
    remove_setting(context.workspace, name)
    enter(context, name, by=author)


def describe_effect(setting: Setting, context: ActContext | None = None, wording: Wording = ENGLISH) -> str:
    """Return, in words, when a change of a setting takes effect.

    With an opened workspace, it adds the cost of building the index again for its documents. The duration is known
    if it was built before.
    """
    message, counted = wording.message, wording.counted
    words = {
        "question": message("Takes effect from the next question."),
        "run": message("Takes effect for everything read or judged from now on. The next run checks what it changes."),
        "index": message("Takes effect in a rebuilt index."),
        "restart": message("Takes effect when `sextant serve` is started again."),
    }[setting.effect]
    if setting.effect != "index" or context is None:
        return words
    documents = len(context.engine.collection.snapshot().documents)
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
    took = _rebuild_minutes(context.jobs.finished())
    length = counted("It took about {n} minute the last time.", "It took about {n} minutes the last time.", took)
    until = (
        message("Until then nothing can be added, and a server started again cannot search.")
        if setting.name == "encoder"
        else message("Until then only documents added from now on follow it.")
    )
    return " ".join(filter(None, (words, encoded, length if took else "", message("Nothing is started now."), until)))


def _rebuild_minutes(finished: Sequence[Job]) -> int:
    """Return how many minutes the last encoding of all documents took, 0 if there was none."""
    for job in reversed(finished):
        if job.kind == "rebuild" and job.status == "done" and job.arguments.get("encode"):
            seconds = job.heartbeat - datetime.fromisoformat(job.started).timestamp()
            return max(1, round(seconds / 60))
    return 0
