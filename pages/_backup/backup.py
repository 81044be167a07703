"""Backups tab of the admin page, where backups are made, taken away and deleted."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ingestion import workspace as folders
from ingestion.acts.backups import KeptBackup, backup_bytes, delete_backup, list_backups, queue_backup
from pages._shared import resources
from pages._shared.elements import act_button, draw_confirmation, draw_download, translated_dialog, why_disabled
from pages._shared.errors import show_errors
from pages._shared.interface_language import _, to_translate
from pages._shared.jobs import draw_jobs
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import moment, number

# A download passes through the memory of the server.
_LARGEST_DOWNLOAD = 1_000_000_000
_SHOWN = 50


def draw_backups() -> None:
    """Draw how a backup is made, one that is being made, and those that are kept, for an admin."""
    if why := why_disabled("list_backups"):
        st.info(why, icon=":material/lock:")
        return
    with show_errors():
        st.header(_("Backups"), anchor=False)
        st.markdown(
            _(
                "A backup is one file with everything in the workspace: documents, decisions, corrections, "
                "conversations, notebooks, people, settings and the audit log. Everybody can go on working meanwhile."
            )
        )
        folder = folders.backups(resources.workspace())
        st.caption(
            _(
                "Kept in {folder}. Copy them to another disk: they are lost with this one. A document that is deleted "
                "stays in the backups that were made before."
            ).format(folder=f"`{folder}`")
        )
        if act_button("queue_backup", _("Make a backup"), type="primary", icon=":material/backup:", key="make backup"):
            queue_backup(resources.context())
        draw_jobs(lambda job: job.kind == "backup")
        found = list_backups(resources.context())
        if not found:
            st.info(_("No backup has been made yet."))
        for backup in found[:_SHOWN]:
            _draw_one(backup)
        st.caption(_("The server's administrator restores a backup, as a new workspace beside this one."))


def _draw_one(backup: KeptBackup) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"backup {backup.file.name}"):
        size = _("{n} MB").format(n=number(backup.size / 1e6, 1))
        st.markdown(f"{moment(backup.made)} · {size}", width=260)
        if backup.size > _LARGEST_DOWNLOAD:
            st.caption(
                _("{file} is too large for the browser: copy it from the folder.").format(file=escape(backup.file.name))
            )
        else:
            name = backup.file.name
            read = partial(backup_bytes, resources.context(), name)
            draw_download(_("Download {file}").format(file=name), read, name, f"download {name}")
        if st.button(
            "",
            icon=":material/delete:",
            type="tertiary",
            key=f"backup delete {backup.file.name}",
            help=_("Delete {name}").format(name=escape(backup.file.name)),
        ):
            _confirm_deletion(backup.file.name)


@translated_dialog(to_translate("Delete?"), icon=":material/delete:")
def _confirm_deletion(name: str) -> None:
    st.markdown(f"**{escape(name)}**")
    st.markdown(_("The file is removed from this machine and cannot be recovered. The workspace stays as it is."))
    deleted = partial(delete_backup, resources.context(), name)
    draw_confirmation("delete_backup", _("Delete"), "delete backup", deleted, ":material/delete:")
