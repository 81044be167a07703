"""The documents name what is there."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.main import get_command

from cli.main import app
from tests.conftest import ROOT

DOCUMENTS = (
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "findings/README.md"),
    *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").glob("*.md"))),
)
FOLDERS = ("rag_engine", "ingestion", "pages", "cli", "tests", "benchmarks", "docs", ".ci", "data")
# Made by use, not by a checkout.
MADE = ("data/workspace",)


def _names(document: str) -> list[tuple[str, str]]:
    """Return the paths that a document names, each with the name of a definition in it or ""."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [
        (path, name)
        for path, name in re.findall(r"`([\w./-]+?)(?::(\w+))?`", text)
        if path.startswith(tuple(f"{folder}/" for folder in FOLDERS)) and not path.startswith(MADE)
    ]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_names_is_there(document: str) -> None:
    missing = [path for path, _ in _names(document) if not (ROOT / path).exists()]
    assert not missing


@pytest.mark.parametrize("document", ["docs/architecture.md", "docs/papers.md"])
def test_definitions_that_a_document_names_are_there(document: str) -> None:
    for path, name in _names(document):
        if name:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            assert name in {getattr(node, "name", "") for node in tree.body}, f"{path}:{name}"


@pytest.mark.parametrize("heading", ["The walk of a question", "The walk of a file"])
def test_a_walk_has_about_a_dozen_steps(heading: str) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    walk = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    assert 10 <= len(re.findall(r"^\d+\. `", walk, re.MULTILINE)) <= 14


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    folder = (ROOT / document).parent
    wrong = []
    for path, heading in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", (ROOT / document).read_text("utf-8")):
        page = folder / path if path else ROOT / document
        if not page.exists() or (heading and page.suffix == ".md" and heading not in _anchors(page)):
            wrong.append(f"{path}#{heading}")
    assert not wrong


def _anchors(page: Path) -> set[str]:
    """Return the addresses of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_that_a_document_names_have_their_verbs_and_options(document: str) -> None:
    blocks = re.findall(
        r"^```(?:sh|console)\n(.*?)^```", (ROOT / document).read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    for line in "".join(blocks).splitlines():
        program, *words = shlex.split(line.removeprefix("$ "), comments=True) or [""]
        if program == "sextant":
            assert not _unknown(words), line


def _unknown(words: list[str]) -> list[str]:
    """Return the verb of a command that there is not, or its options that it does not take."""
    command: Any = get_command(app)
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        verb, *words = words
        if verb not in command.commands:
            return [verb]
        command = command.commands[verb]
    known = {"--help", *(option for one in command.params for option in (*one.opts, *one.secondary_opts))}
    return [word for word in words if re.match("--?[a-z]", word) and word.partition("=")[0] not in known]


def test_every_table_that_was_measured_is_listed() -> None:
    listed = (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8")
    tables = (ROOT / "benchmarks" / "results").glob("*.md")
    assert not [path.name for path in tables if f"(../benchmarks/results/{path.name})" not in listed]


def test_the_picture_of_the_rooms_is_current() -> None:
    command = [sys.executable, str(Path("docs") / "draw_rooms.py"), "--check"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def test_the_list_of_licences_is_current_and_knows_every_one() -> None:
    listing = subprocess.run([sys.executable, "docs/list_licences.py", "--check"], cwd=ROOT, check=False)
    assert listing.returncode == 0
    text = (ROOT / "docs" / "packages.md").read_text(encoding="utf-8")
    assert "| unknown |" not in text
    assert "|  |" not in text


def test_what_torch_asks_for_is_installed_by_its_hashes_before_torch() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}
    asked = [Requirement(one) for one in requires("torch") or ()]
    needed = {one.name for one in asked if one.marker is None or one.marker.evaluate({"extra": ""})}
    # Those of a GPU come with the files of torch that use one.
    assert {
        name for name in map(canonicalize_name, needed) if not name.startswith(("nvidia-", "cuda-", "triton"))
    } <= locked
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [environment] = re.findall(r"^\.venv/locked:.*?touch", makefile, re.MULTILINE | re.DOTALL)
    installed = re.findall(r"pip install (.*)", environment)
    assert [line.split()[-1] for line in installed] == ["requirements.lock", "requirements-torch.lock"]
    assert "--require-hashes --no-deps" in installed[0]


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock", "requirements-models.lock"])
def test_every_locked_package_has_its_hashes(lock: str) -> None:
    lines = [line for line in (ROOT / lock).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==\S+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in lines)
    ends = [line for line in lines if not line.endswith("\\")]
    assert len(ends) == sum("==" in line for line in lines)
    # A lock that is written on one machine names no place of it.
    assert "://" not in "".join(lines)


def test_every_picture_of_a_page_is_taken_by_the_script() -> None:
    script = (ROOT / "docs" / "draw_pages.py").read_text(encoding="utf-8")
    taken = set(re.findall(r'_take\(page, "(\w+)"\)', script))
    assert {path.stem for path in (ROOT / "docs" / "images").glob("*.png")} == taken
