"""Jobs of the worker: their progress, controls and results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import streamlit as st

from ingestion.acts.jobs import Control, control
from ingestion.jobs.kinds import KINDS, title_of
from ingestion.jobs.process import ensure_worker
from ingestion.jobs.queue import Job
from ingestion.status.views import rate_per_minute, running_sources, seconds_left
from ingestion.types.run import Progress
from pages._shared import resources
from pages._shared.elements import act_button, draw_table
from pages._shared.errors import show, show_error, show_errors
from pages._shared.filter_widgets import WORDING, display_text
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, duration, moment, number
from pages._shared.shown_names import shown_name, shown_reason
from rag_engine.processes.writer_lock import find_writer

_EVENTS = 500


_POLL_SECONDS = 1.0
_LOOKED_AT = 50
_SHOWN = 5
# Notes on files that are drawn at once; the others are folded.
_NOTES = 10
# The job whose end this person has waited for, so that its results are open before them.
_WATCHED = "job watched"


def addition_under_way() -> Job | None:
    """Return the addition of documents that is running, or the one that waits longest."""
    additions = [job for job in resources.jobs().latest() if job.kind == "add" and job.active]
    return additions[-1] if additions else None


def draw_writer() -> None:
    """Draw that another process, a job or the terminal, is changing the collection."""
    if writer := find_writer(resources.workspace()):
        told = _(
            ":material/sync: The collection is being changed, since {time} (process {process}). "
            "Questions are answered from what is ready; additions and deletions wait their turn."
        )
        st.caption(told.format(time=writer.since[:5], process=writer.process))


def draw_jobs(chosen: Callable[[Job], bool] | None = None) -> None:
    """Draw the active and paused jobs, polling each second while any is active, and the latest results.

    Of `chosen` jobs no results are drawn, only why the latest failed.
    """
    active = [job for job in _latest(chosen) if job.active]
    st.fragment(_draw_jobs, run_every=_POLL_SECONDS if active else None)(chosen, watching=bool(active))


def _latest(chosen: Callable[[Job], bool] | None) -> list[Job]:
    return [job for job in resources.jobs().latest(_LOOKED_AT) if chosen is None or chosen(job)]


def told_of_latest(kind: str) -> str:
    """Return what the latest job of a kind gave, "" while one is active or if it gave nothing."""
    latest = next((job for job in resources.jobs().latest(_LOOKED_AT) if job.kind == kind), None)
    return " ".join(_tell(kind, result) for result in latest.results) if latest and not latest.active else ""


def time_left(progress: Progress, seconds: float) -> float | None:
    """Return the seconds that remain, from the bytes done so far; None while these are too few."""
    if progress.done_bytes <= 0 or seconds < 2:
        return None
    return (progress.total_bytes - progress.done_bytes) * seconds / progress.done_bytes


def _draw_jobs(chosen: Callable[[Job], bool] | None, *, watching: bool) -> None:
    jobs = _latest(chosen)
    active = [job for job in jobs if job.active]
    if active and not any(job.alive for job in active):
        # The worker has died, or went before the last job was queued.
        ensure_worker(resources.workspace())
    elif watching and not active:
        # All is done: the table, the filters and the figures are others now.
        st.rerun()
    for job in reversed(active):
        _draw_active(job)
    for job in reversed(jobs):
        if job.status == "paused":
            _draw_paused(job)
    if chosen is None:
        if active:
            st.session_state[_WATCHED] = active[0].id
        _draw_latest([job for job in jobs if not job.active and job.status != "paused"][:_SHOWN])
    # An erasure may have removed why.
    elif jobs and jobs[0].status == "failed" and jobs[0].message:
        show_error(show(jobs[0].message))


def _draw_active(job: Job) -> None:
    with st.container(border=True, key=f"job active {job.id}"):
        text, buttons = st.columns([3, 2], vertical_alignment="center")
        waiting = " · " + _("waiting") if job.status == "queued" else ""
        text.markdown(f"**{_title(job)}**{waiting}")
        if job.progress and job.progress.total:
            now = job.progress
            share = now.done_bytes / now.total_bytes if now.total_bytes else now.done / now.total
            st.progress(min(max(share, 0.0), 1.0), text=_progress(job, now))
        elif job.progress:
            st.caption(escape(show(job.progress.current)))
        if job.kind == "run" and job.progress and job.progress.phase:
            _draw_sources(job, job.progress)
        stop, signalled = KINDS[job.kind].stop, job.signal != ""
        with buttons.container(horizontal=True, horizontal_alignment="right"):
            if stop == "pause" and job.signal == "pause":
                _draw_control(job, "resume", _("Pausing … resume"), "play_arrow")
            elif stop == "pause":
                _draw_control(job, "pause", _("Pause"), "pause", disabled=signalled)
            if stop in ("pause", "cancel"):
                cancelled = job.signal == "cancel"
                _draw_control(job, "cancel", _("Stopping …") if cancelled else _("Cancel"), "close", disabled=cancelled)
            elif stop == "undo" and job.progress is None:
                _draw_control(job, "cancel", _("Undo"), "undo", disabled=signalled)


def _draw_control(job: Job, signal: Control, label: str, icon: str, *, disabled: bool = False) -> None:
    """Draw a button that pauses, resumes or cancels a job."""
    paused = job.status == "paused"
    look: dict[str, Any] = {
        "icon": f":material/{icon}:",
        "type": "primary" if paused and signal == "resume" else "secondary",
    }
    if act_button("control", label, key=f"{signal} {job.id}", disabled=disabled, **look):
        with show_errors():
            control(resources.context(), signal, job.id)
            if paused:
                # The whole page: only a new start of it looks again each second.
                st.rerun()


def _draw_paused(job: Job) -> None:
    with st.container(border=True, key=f"job paused {job.id}"):
        text, buttons = st.columns([3, 2], vertical_alignment="center")
        text.markdown(f":material/pause: **{_title(job)}** · " + _("paused"))
        with buttons.container(horizontal=True, horizontal_alignment="right"):
            _draw_control(job, "resume", _("Resume"), "play_arrow")
            _draw_control(job, "cancel", _("Cancel"), "close")
        st.caption(_("Completed work is kept. The job continues when you resume it."))


def _draw_latest(finished: Sequence[Job]) -> None:
    if finished:
        opened = finished[0].id == st.session_state.get(_WATCHED)
        with st.expander(_("Recent activity"), icon=":material/history:", expanded=opened):
            for job in finished:
                _draw_finished(job)


def _progress(job: Job, now: Progress) -> str:
    if job.kind == "run":
        return _sources_done(now)
    done = _(KINDS[job.kind].counted).format(done=number(now.done), total=number(now.total))
    parts = [done, escape(now.current)]
    if job.kind == "add" and job.started:
        seconds = (datetime.now(UTC) - datetime.fromisoformat(job.started)).total_seconds()
        if (left := time_left(now, seconds)) is not None:
            parts.append(f"{number(now.done_bytes / seconds / 1e6, 1)} MB/s")
            parts.append(_("{duration} left").format(duration=duration(left)))
    return " · ".join(filter(None, parts))


def _sources_done(now: Progress) -> str:
    """Return the progress of a run over the sources: its phase, rate, time left, and the source it is at."""
    rate = rate_per_minute(resources.store().latest(_EVENTS), now.phase, datetime.now(UTC))
    left = seconds_left(now.done, now.total, rate)
    counted_sources = KINDS["run"].counted
    parts = [
        f"**{escape(shown_name(now.phase.capitalize()))}**" if now.phase else "",
        _(counted_sources).format(done=number(now.done), total=number(now.total)),
        _("{rate} a minute").format(rate=number(rate)) if rate is not None else "",
        _("{duration} left in this phase").format(duration=duration(left)) if left else "",
        escape(now.current),
    ]
    return " · ".join(part for part in parts if part)


def _draw_sources(job: Job, now: Progress) -> None:
    """Draw, once it is opened, which sources of the phase are done, which it is at, and which wait."""
    waiting = now.total - now.done - len(now.now)
    st.caption(
        _("{done} done · {now} now · {waiting} waiting").format(
            done=number(now.done), now=number(len(now.now)), waiting=number(waiting)
        )
    )
    # A label that never changes: with another one it would close itself each second.
    with st.expander(
        _("Sources of this phase"), icon=":material/list_alt:", key=f"sources of {job.id}", on_change="rerun"
    ) as folded:
        if folded.open:
            titles = {source.code: source.shown_title for source in resources.store().sources()}
            found = running_sources(now, resources.store().latest(_EVENTS), titles, job.started)
            rows = [
                {_("Source"): source.code, _("Title"): source.title, _("State"): shown_name(source.state.capitalize())}
                for source in found
            ]
            draw_table(rows, f"running {job.id}", _("Sources of the phase: done, now, waiting"))


def _title(job: Job) -> str:
    """Return the markdown of what a job does."""
    return escape(title_of(job, replace(WORDING, value=_value)))


def _tell(kind: str, result: Mapping[str, Any]) -> str:
    """Return the markdown of what a result of a job is, "" if nothing is said of it."""
    return escape(KINDS[kind].told(result, WORDING))


def _value(name: str, value: str) -> str:
    """Return the title of a document by its source, or the last part of that where the document is gone."""
    if name != "document":
        return display_text(name, value)
    documents = resources.engine().collection.documents()
    return next((document.shown_title for document in documents if document.source == value), Path(value).name)


def _draw_finished(job: Job) -> None:
    """Draw how a job ended, with its results."""
    st.markdown(f"**{_title(job)}** · {moment(job.queued)} · {_ending(job)}")
    if job.message:
        show_error(show(job.message))
    if job.kind == "add" and job.results:
        files = [
            {
                _("File"): Path(str(result["path"])).name,
                _("Result"): shown_name(str(result["status"])),
                _("Pages"): int(result.get("pages", 0)),
                _("Passages"): int(result.get("children", 0)),
            }
            for result in job.results
        ]
        draw_table(files, f"run {job.id}", _("Result for each file"))
        _draw_notes(job)
    if job.kind == "run" and job.results:
        _draw_summaries(job)
    for result in job.results:
        if told := _tell(job.kind, result):
            st.caption(told)
        if job.kind == "backup":
            _draw_backup(result)


def _draw_summaries(job: Job) -> None:
    """Draw what each phase of a run did."""
    rows = [
        {
            _("Phase"): shown_name(str(summary["phase"]).capitalize()),
            _("Done"): int(summary["done"]),
            _("Skipped"): int(summary["skipped"]),
            _("Refused"): int(summary["refused"]),
            _("Failed"): int(summary["failed"]),
            _("Reasons"): ", ".join(
                f"{number(count)} {shown_reason(reason)}" for reason, count in summary["reasons"].items()
            ),
            _("Seconds"): float(summary["seconds"]),
        }
        for summary in job.results
    ]
    seconds = {_("Seconds"): lambda value: number(value, 1)}
    draw_table(rows, f"run {job.id}", _("Results of each phase of the run"), written=seconds)


def _draw_backup(result: Mapping[str, Any]) -> None:
    """Draw which originals a backup lacks or has otherwise than they were added."""
    for names, told in (
        (result["lost_originals"], _("Missing from the workspace, and so from the backup: {names}. Add them again.")),
        (
            result["damaged_originals"],
            _("No longer as they were added, here and in the backup: {names}. Add them again."),
        ),
    ):
        if names:
            st.warning(told.format(names=escape(", ".join(map(str, names)))), icon=":material/warning:")
    if result["without_vectors"]:
        st.warning(
            counted(
                "{n} passage has a missing or damaged vector, here and in the backup. Rebuild the indexes on the Run "
                "tab with “Encode every document again”.",
                "{n} passages have missing or damaged vectors, here and in the backup. Rebuild the indexes on the Run "
                "tab with “Encode every document again”.",
                int(result["without_vectors"]),
            ),
            icon=":material/warning:",
        )


def _ending(job: Job) -> str:
    if job.kind != "add" or not job.results:
        return shown_name(job.status)
    statuses = [str(result["status"]) for result in job.results]
    told = ", ".join(_files_ended(statuse, statuses.count(statuse)) for statuse in dict.fromkeys(statuses))
    return f"{shown_name(job.status)}; {told}" if job.status == "cancelled" else told


def _files_ended(status: str, n: int) -> str:
    """Return how many files ended so; other languages than English say it otherwise of several."""
    match status:
        case "indexed":
            return counted("{n} indexed", "{n} indexed", n)
        case "unchanged":
            return counted("{n} unchanged", "{n} unchanged", n)
        case "refused":
            return counted("{n} refused", "{n} refused", n)
        case "failed":
            return counted("{n} failed", "{n} failed", n)
        case _:
            return f"{number(n)} {shown_name(status)}"


def _draw_notes(job: Job) -> None:
    """Draw why files were not added, or what to know of them, as sentences."""
    notes = [
        _("**{file}**: {note}").format(file=escape(Path(str(result["path"])).name), note=escape(show(result["reason"])))
        for result in job.results
        if result["reason"]
    ]
    for note in notes[:_NOTES]:
        st.caption(note)
    if len(notes) > _NOTES:
        more = counted("{n} more note", "{n} more notes", len(notes) - _NOTES)
        with st.expander(more, key=f"more notes {job.id}"):
            for note in notes[_NOTES:]:
                st.caption(note)
