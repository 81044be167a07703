"""Commands of backups: write one archive of the workspace, and make a new workspace from it."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path

import typer

from cli.options import AsJson, Workspace
from cli.terminal import bar, closed_context, end_as_json, err, errors_end, say
from rag_engine.settings import settings_table

app = typer.Typer()


@app.command()
def backup(file: Path, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Write documents, decisions, conversations, vectors and settings to one new file.

    The workspace stays in use. A document that is erased later stays in the backups that were made before.
    """
    from ingestion.acts import backups

    with errors_end(as_json), bar("Backing up") as advance:
        made = backups.backup(closed_context(workspace), file, progress=advance)
    code = 1 if made.lost_originals or made.damaged_originals else 0
    end_as_json(as_json, asdict(made) | {"file": str(made.file)}, code)
    say(
        f"{made.file}: {made.documents} documents, {made.passages} passages, {made.files} files, "
        f"{made.size / 2**20:,.1f} MiB."
    )
    # Print which originals and vectors a backup lacks, or has as they are and not as they were added.
    if made.without_vectors:
        say(
            f"{made.without_vectors} passages have missing or damaged vectors, here and in the backup; "
            "`sextant doctor --repair` encodes them again.",
            "yellow",
            console=err,
        )
    for names, what in (
        (made.lost_originals, "are missing from the workspace, and so from the backup"),
        (made.damaged_originals, "are no longer as they were added, and in the backup as they are"),
    ):
        if names:
            say(
                f"{len(names)} originals {what}: {', '.join(names[:5])}{' ...' if len(names) > 5 else ''}. "
                "`sextant add` with these files puts them back.",
                "yellow",
                console=err,
            )
    raise typer.Exit(code)


@app.command()
def restore(archive: Path, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Make a workspace from a backup, in a folder that is empty or not there; every file is checked first.

    The indexes are made again from the vectors in the backup; nothing is encoded again.
    """
    from ingestion.acts import backups

    with errors_end(as_json), bar("Restoring") as advance:
        restored = backups.restore(closed_context(workspace), archive, progress=advance)
    end_as_json(as_json, asdict(restored) | {"workspace": str(restored.workspace)})
    say(
        f"{restored.workspace}: {restored.documents} documents and {restored.passages} passages, "
        f"as {restored.former} was at {restored.made}."
    )
    # Print what was not restored since the archive may be a stranger's, and who would be an admin.
    place = f"--workspace {shlex.quote(str(restored.workspace))}"
    lines = []
    if restored.dropped_settings:
        lines.append("Settings that name a server were not restored. Set again those that you trust:")
        lines += [f"  {_setting_again(name, value, place)}" for name, value in restored.dropped_settings.items()]
    if restored.cancelled_jobs:
        actions = ", ".join(dict.fromkeys(restored.cancelled_jobs))
        lines.append(f"Jobs that had not ended are cancelled here: {actions}. Start again what you want done.")
    if restored.admins:
        lines.append(
            f"Admins of this workspace: {', '.join(restored.admins)}. "
            f"`sextant people set ADDRESS --role reader {place}` takes the role from one whom you do not know."
        )
    for line in lines:
        say(line, "yellow", console=err)
    if restored.without_vectors:
        say(
            f"{restored.without_vectors} passages are of documents with missing or damaged vectors; "
            "run `sextant rebuild --encode`.",
            "yellow",
            console=err,
        )


def _setting_again(name: str, value: str, place: str) -> str:
    setting = settings_table().get(name)
    if setting is not None and setting.only:
        return f"{name}: {setting.variable} alone sets it"
    return f"sextant settings set {shlex.quote(name)} {shlex.quote(value)} {place}"
