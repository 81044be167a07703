import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from rag_engine.config import read_config
from rag_engine.settings import settings_file, settings_table

runner = CliRunner()


def rows(workspace: Path) -> dict[str, dict[str, str]]:
    listed = runner.invoke(app, ["settings", "--json", "-w", str(workspace)])
    assert listed.exit_code == 0, listed.output
    return {row["name"]: row for row in json.loads(listed.stdout)["settings"]}


def test_every_setting_is_listed_with_value_origin_and_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_OPENAI_KEY", "opensesame")
    monkeypatch.setenv("SEXTANT_CATALOG_URL", "postgresql://ada:opensesame@here/catalog")
    for variable in ("SEXTANT_OLLAMA_URL", "SEXTANT_OPENAI_URL", "SEXTANT_CHROMA_URL"):
        monkeypatch.setenv(variable, "http://ada:open@sesame@here:8000/v1")
    found = rows(tmp_path)
    assert found.keys() == settings_table().keys()
    assert found["encoder"] | {"explanation": ""} == {
        "name": "encoder", "value": "multilingual-e5-small", "origin": "default", "effect": "new index",
        "explanation": "",
    }  # fmt: skip
    assert found["openai_key"]["origin"] == "SEXTANT_OPENAI_KEY"
    printed = runner.invoke(app, ["settings", "-w", str(tmp_path)]).stdout
    assert found["ollama_url"]["value"] == "http://here:8000/v1"
    assert "sesame" not in printed + json.dumps(found)


@pytest.mark.parametrize(
    "address", ["ada:opensesame@here:99999", "http://ada:open/sesame@here", "ftp://ada:opensesame@here"]
)
def test_an_address_that_cannot_be_read_is_named_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", address)
    listed = runner.invoke(app, ["settings", "-w", str(tmp_path)])
    assert (listed.exit_code, "SEXTANT_OLLAMA_URL: ollama_url is no address" in listed.output) == (2, True)
    assert "sesame" not in listed.output


@pytest.mark.parametrize(
    "first",
    [
        ["settings", "set", "answer_seconds", "600", "--by", "Ada"],
        ["people", "set", "ada@example.org", "--role", "admin", "--by", "Ada"],
        ["jobs"],
    ],
)
@pytest.mark.parametrize("there", [False, True])
def test_whatever_makes_a_workspace_makes_it_its_owners_alone(tmp_path: Path, first: list[str], there: bool) -> None:
    workspace = tmp_path / "workspace"
    if there:
        workspace.mkdir(mode=0o755)
    made = runner.invoke(app, [*first, "-w", str(workspace)])
    assert made.exit_code == 0, made.output
    assert workspace.stat().st_mode & 0o077 == 0
    kept = [workspace / name for name in ("settings.toml", "records.sqlite")]
    assert {path.stat().st_mode & 0o077 for path in kept if path.exists()} <= {0}


def test_a_value_is_kept_with_who_changed_it_and_reset(tmp_path: Path) -> None:
    words = ["-w", str(tmp_path), "--by", "Ada"]
    kept = runner.invoke(app, ["settings", "set", "answer_seconds", "600", *words])
    assert kept.exit_code == 0, kept.output
    assert kept.stdout.splitlines() == ["answer_seconds = 600", "Takes effect from the next question."]
    assert rows(tmp_path)["answer_seconds"]["origin"].startswith("workspace: Ada, ")
    assert runner.invoke(app, ["settings", "unset", "answer_seconds", *words]).exit_code == 0
    assert rows(tmp_path)["answer_seconds"]["origin"] == "default"


def test_a_change_of_the_index_is_asked_about_and_starts_nothing(workspace: Path) -> None:
    command = ["settings", "set", "chunking", "section", "-w", str(workspace)]
    refused = runner.invoke(app, command, input="n\n")
    assert refused.exit_code == 1
    assert "3 documents must be encoded again" in refused.output
    assert not settings_file(workspace).exists()
    asked = runner.invoke(app, [*command, "--json"])
    assert json.loads(asked.stdout)["saved"] is False
    assert not settings_file(workspace).exists()
    agreed = runner.invoke(app, command, input="y\n")
    assert agreed.exit_code == 0
    assert read_config(workspace).chunking.strategy == "section"


def test_a_value_that_is_not_allowed_is_refused_before_anything_is_asked(workspace: Path) -> None:
    refused = runner.invoke(app, ["settings", "set", "encoder", "/nowhere", "-w", str(workspace)])
    assert refused.exit_code == 2
    assert "encoder='/nowhere' is no folder." in refused.stderr


def test_a_value_below_zero_is_a_value_and_no_option(tmp_path: Path) -> None:
    refused = runner.invoke(app, ["settings", "set", "answer_seconds", "-3", "-w", str(tmp_path)])
    assert refused.exit_code == 2
    assert "answer_seconds='-3' is no number" in refused.stderr
    assert "No such option" not in refused.stderr
    kept = runner.invoke(app, ["settings", "set", "openai_model", "-small", "-w", str(tmp_path), "--by", "Ada"])
    assert kept.exit_code == 0, kept.output
    assert rows(tmp_path)["openai_model"]["value"] == "-small"
    misspelt = runner.invoke(app, ["settings", "set", "answer_seconds", "600", "--bye", "Ada", "-w", str(tmp_path)])
    assert (misspelt.exit_code, "--bye" in misspelt.stderr) == (2, True)


def test_doctor_starts_with_a_damaged_file_and_names_the_remedy(workspace: Path) -> None:
    settings_file(workspace).write_text("ocr = 'abacus'\n", encoding="utf-8")
    searched = runner.invoke(app, ["search", "flood", "-w", str(workspace)])
    assert searched.exit_code == 2
    assert f"{settings_file(workspace)}: ocr='abacus' is not known." in searched.stderr.replace("\n", "")

    examined = runner.invoke(app, ["doctor", "--json", "-w", str(workspace)])
    checks = {check["name"]: check for check in json.loads(examined.stdout)["checks"]}
    assert checks["Settings"]["state"] == "bad"
    assert "settings unset ocr" in checks["Settings"]["found"]
    assert checks["Collection"]["state"] == "good"

    assert runner.invoke(app, ["settings", "unset", "ocr", "-w", str(workspace)]).exit_code == 0
    assert runner.invoke(app, ["search", "flood", "-w", str(workspace)]).exit_code == 0
