"""Roles checked in every act, people and their last admin, and the audit log of changes."""

from __future__ import annotations

import errno
import importlib
import inspect
import json
import pkgutil
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app as terminal
from ingestion import acts as acts_package
from ingestion.acts import documents, indexes, jobs, runs, sources
from ingestion.acts.context import ActContext
from ingestion.acts.corrections import agree, correct
from ingestion.acts.library import save_filters, saved_filters
from ingestion.acts.people import audit_entries, exported_audit, list_people, set_role
from ingestion.acts.register import ClosedContext, every_act, missing_role
from ingestion.acts.settings import change_setting
from ingestion.records.audit import AuditEntry, begun
from ingestion.records.people import welcome
from ingestion.records.source_store import SourceStore
from ingestion.types.run import RunRequest
from ingestion.types.source import ListedSource
from ingestion.worker import work
from rag_engine.conversations.person import LOCAL, Person, PersonRole
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.storage.log import read_lines
from tests.conftest import ROOT

ADA = Person("Ada Lovelace (ada@example.org)", "ada@example.org", "admin")
CURATOR = Person("Cyd (cyd@example.org)", "cyd@example.org", "curator")
READER = Person("Rae (rae@example.org)", "rae@example.org", "reader")
PLAN = "# Rules of the harbour\n\n" + "The harbour master keeps the rules of the harbour. " * 20


def _public_acts() -> dict[str, Callable[..., Any]]:
    """Return every public function of the acts that takes a context, a place or a folder."""
    found: dict[str, Callable[..., Any]] = {}
    for module in pkgutil.iter_modules(acts_package.__path__):
        if module.name == "register":
            continue
        loaded = importlib.import_module(f"{acts_package.__name__}.{module.name}")
        for name, function in inspect.getmembers(loaded, inspect.isfunction):
            if name.startswith("_") or function.__module__ != loaded.__name__:
                continue
            first = next(iter(inspect.signature(function).parameters.values()), None)
            if first is not None and first.annotation in ("ActContext", "ActingPlace", "Path") and first.name != "file":
                assert name not in found, f"two acts are called {name}"
                found[name] = function
    return found


@pytest.fixture
def context(context: ActContext) -> ActContext:
    return replace(context, person=ADA)


def test_every_act_declares_its_least_role_and_checks_it() -> None:
    acts = _public_acts()
    assert acts.keys() == every_act().keys()
    assert not [one.name for one in every_act().values() if (one.role != "reader" or one.entered) and not one.title]
    assert not [name for name, function in acts.items() if not hasattr(function, "__wrapped__")]


def test_the_guide_of_security_has_each_act_with_its_role() -> None:
    acts: dict[tuple[str, str], list[str]] = {}
    for one in every_act().values():
        if one.title:
            acts.setdefault((one.role, one.title), []).append(f"`{one.name}`")
    rows = [f"| {title} | {role} | {', '.join(sorted(acts[role, title]))} |" for role, title in sorted(acts)]
    table = "\n".join(["| title | role | act |", "| --- | --- | --- |", *rows])
    assert table in (ROOT / "docs" / "security.md").read_text(encoding="utf-8"), table


@pytest.mark.parametrize("name", every_act())
@pytest.mark.parametrize("role", ["reader", "curator"])
def test_an_act_refuses_a_lesser_role_before_it_does_anything(name: str, role: PersonRole) -> None:
    place = ClosedContext(Path("nowhere"), replace(READER, role=role))
    act = every_act()[name]
    if place.person.has_role(act.role):
        assert missing_role(place.person, act) is None
        return
    with pytest.raises(InputError, match=f"takes the role {act.role}; you are a {role}.*sextant people set") as refused:
        _public_acts()[name](place)
    assert act.title in str(refused.value)


def test_a_reader_changes_nothing_and_a_curator_no_settings(context: ActContext, tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text(PLAN, encoding="utf-8")
    reader, curator = replace(context, person=READER), replace(context, person=CURATOR)
    with pytest.raises(InputError, match="Adding documents takes the role curator; you are a reader"):
        documents.queue_files(reader, [tmp_path / "own.md"])
    documents.queue_files(curator, [tmp_path / "own.md"])
    with pytest.raises(InputError, match="takes the role admin"):
        change_setting(curator, "answer_seconds", "600", "Ada")
    with pytest.raises(InputError, match="takes the role admin"):
        indexes.queue_rebuild(curator, anyway=True)
    assert [job.kind for job in context.jobs.latest()] == ["add"]
    assert audit_entries(context) == []


def test_what_a_worker_does_is_entered_under_the_name_of_who_asked(context: ActContext, tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text(PLAN, encoding="utf-8")
    documents.queue_files(replace(context, person=CURATOR), [tmp_path / "own.md"])
    work(context.engine)
    documents.queue_erasure(context, ["own.md"], "somebody else", "It was a draft.")
    work(context.engine)
    [erased, added] = audit_entries(context)
    assert (added.act, added.by, added.person, added.on) == ("add_files", CURATOR.name, CURATOR.key, "own.md")
    assert (erased.act, erased.by, erased.note) == ("erase", ADA.name, "It was a draft.")
    assert erased.on.endswith("own.md")


def test_a_logged_in_person_signs_with_no_other_name(context: ActContext) -> None:
    sources.add_sources(context, [ListedSource("A1", "https://example.org/a1.pdf")])
    sources.remove_sources(context, ["A1"], "the system's user")
    agreed = change_setting(context, "answer_seconds", "600", "the system's user")
    assert agreed.changed.startswith(ADA.name)
    assert {one.by for one in audit_entries(context)} == {ADA.name}
    assert [one.act for one in audit_entries(context)] == ["change_setting", "remove_sources", "add_sources"]
    on_this_machine = replace(context, person=replace(LOCAL, name="ada"))
    with suppress(InputError):
        agree(on_this_machine, ["nothing"], "Ada")
    change_setting(on_this_machine, "answer_seconds", "500", "Grace")
    assert audit_entries(context)[0].by == "Grace"


def test_a_run_and_its_end_are_entered_and_the_log_is_filtered_and_exported(context: ActContext) -> None:
    runs.run(context, RunRequest(("licence",)))
    jobs.control(replace(context, person=CURATOR), "cancel")
    assert [one.act for one in audit_entries(context, person="CYD@")] == ["control"]
    assert [one.act for one in audit_entries(context, of="run")] == ["run"]
    assert audit_entries(context, since="2999-01-01") == []
    with pytest.raises(InputError, match="is no date"):
        audit_entries(context, since="yesterday")
    exported = exported_audit(context, audit_entries(context)).decode("utf-8-sig").splitlines()
    assert exported[0] == "when,by,person,act,on,note,outcome"
    assert len(exported) == 3


def test_every_act_that_is_entered_is_entered_before_it_begins() -> None:
    files = Path(str(acts_package.__file__)).parent.glob("*.py")
    parts = [one for file in files for one in re.split(r"\n(?=@act\(|def _)", file.read_text(encoding="utf-8"))]
    acts = [one for one in parts if one.startswith("@act(") and re.search(r"\b_?enter(_sources)?\(", one)]
    entering = {re.findall(r"\ndef (\w+)", one)[0] for one in acts}
    entered = {one.name for one in every_act().values() if one.entered}
    assert entering - {"add_list", "restore", "repair_records"} == entered


def test_an_act_that_names_itself_what_it_is_upon_does_so_before_it_is_entered() -> None:
    files = [*Path(str(acts_package.__file__)).parent.glob("*.py")]
    acts = [one for file in files for one in re.split(r"\n@act\(.*\)\n", file.read_text(encoding="utf-8"))]
    named = {name for one in acts for name in re.findall(r"^def (\w+)[\s\S]*name_act\(", one)}
    itself = {name for file in files for name in re.findall(r'@act\(.*on="".*\)\ndef (\w+)', file.read_text("utf-8"))}
    # Corrections are entered, and named, in one place for four acts.
    assert named - {"restore_corrections", "add_list"} | {"correct", "agree", "undo"} == itself


def test_a_correction_that_is_broken_off_names_its_document_by_where_it_came_from(
    context: ActContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "own.md").write_text(PLAN, encoding="utf-8")
    documents.add_files(context, [tmp_path / "own.md"])
    [record] = context.engine.collection.documents()
    monkeypatch.setattr(SourceStore, "enter", full)
    with pytest.raises(OSError, match="No space"):
        correct(context, {record.metadata.title: {"authority": ["The town"]}}, "Ada")
    [failed, _added] = audit_entries(context)
    assert (failed.act, failed.on, failed.outcome) == ("correct", record.source, "failed")
    log = read_lines(context.workspace, "act")
    assert record.metadata.title not in "".join(map(repr, log))
    assert [one.on for one in log if one.act == "correct" and one.outcome == "begun"] == ["", record.source]


def test_an_act_whose_process_was_killed_before_it_was_done_is_shown_as_interrupted(context: ActContext) -> None:
    killed = (
        "import os, sys; from pathlib import Path; from ingestion.acts import people\n"
        "from ingestion.acts.register import ClosedContext; from rag_engine.conversations.person import LOCAL\n"
        "people.give_role = lambda *_: os.kill(os.getpid(), 9)\n"
        "people.set_role(ClosedContext(Path(sys.argv[1]), LOCAL), 'cyd@example.org', 'curator')\n"
    )
    ended = subprocess.run([sys.executable, "-c", killed, str(context.workspace)], check=False)
    assert ended.returncode == -signal.SIGKILL
    set_role(context, "rae@example.org", "reader")
    done, broken_off = audit_entries(context)
    assert (broken_off.act, broken_off.on, broken_off.outcome) == ("set_role", "cyd@example.org", "interrupted")
    assert (done.on, done.outcome) == ("rae@example.org", "done")


def test_an_act_that_is_under_way_or_failed_is_shown_and_one_that_did_nothing_is_not(context: ActContext) -> None:
    def outcomes() -> list[str]:
        return [one.outcome for one in audit_entries(context)]

    with (
        suppress(OSError),
        begun(context.workspace, AuditEntry("2026-11-26T02:00:00", "Ada", "", "rebuild", Message("index"))),
    ):
        assert outcomes() == ["running"]
        raise OSError
    assert outcomes() == ["failed"]
    with suppress(InputError):
        set_role(context, "ada@example.org", "king")
    assert outcomes() == ["failed"]


def test_new_people_are_readers_and_the_last_admin_stays(context: ActContext) -> None:
    workspace = context.workspace
    assert welcome(workspace, "issuer|1", "rae@example.org", "Rae").role == "reader"
    assert set_role(context, " Ada@Example.org ", "admin").key == "ada@example.org"
    with pytest.raises(InputError, match="is the only admin"):
        set_role(context, "ada@example.org", "reader")
    set_role(context, "rae@example.org", "admin")
    set_role(context, "ada@example.org", "reader")
    assert welcome(workspace, "issuer|2", "ada@example.org", "Ada").role == "reader"
    named = [(one.name, one.role) for one in list_people(context)]
    assert named == [("Ada (ada@example.org)", "reader"), ("Rae (rae@example.org)", "admin")]
    with pytest.raises(InputError, match="is no role"):
        set_role(context, "ada@example.org", "king")
    with pytest.raises(InputError, match="is no address"):
        set_role(context, "ada", "reader")


def test_saved_filters_are_each_persons_own(context: ActContext) -> None:
    reader = replace(context, person=READER)
    save_filters(reader, "Floods", {"hazard": ("Flood",)})
    assert list(saved_filters(reader)) == ["Floods"]
    assert saved_filters(context) == {}


def test_the_terminal_makes_the_first_admin_and_shows_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_USER", "grace")

    def call(*words: str) -> Any:
        result = CliRunner().invoke(terminal, [*words, "--workspace", str(tmp_path), "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.output)

    assert call("people", "set", "ada@example.org", "--role", "admin")["role"] == "admin"
    assert [one["key"] for one in call("people")["people"]] == ["ada@example.org"]
    [entry] = call("audit", "--act", "set_role")["entries"]
    assert (entry["by"], entry["person"], entry["on"]) == ("grace", "", "ada@example.org")
    refused = CliRunner().invoke(
        terminal, ["people", "set", "ada@example.org", "--role", "reader", "-w", str(tmp_path)]
    )
    assert refused.exit_code == 2
