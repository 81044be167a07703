"""The installed program: a wheel over this environment, used from a folder without a checkout."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from rag_engine.config import cache_folder
from tests.conftest import ROOT

# Folders of the checkout that a wheel holds, and what it leaves out of them: where the samples come from, and notes.
HELD = ("rag_engine", "ingestion", "pages", "cli", "data", ".streamlit")
LEFT_OUT = ("data/sample/build.py", "data/sample/content/", "data/sample/rendering/", "data/workspace")
OF_SOMEBODY = "data/workspace/settings.toml"
QUESTION = "When do residents near the dyke have to leave?"
ANSWER = "when the gauge at Milltown passes 4.5 metres"
# In one process, which loads its models once: the help of every command, and the commands that it is given.
CALLS = """
import json, sys
import typer
from typer.testing import CliRunner
from cli.main import app

def commands(command, words):
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, [*words, name])

calls = {" ".join([*words, "--help"]): [*words, "--help"] for words in commands(typer.main.get_command(app), [])}
for name, words in (calls | json.load(sys.stdin)).items():
    result = CliRunner().invoke(app, words)
    print(json.dumps([name, result.exit_code, result.stdout, repr(result.exception)]))
"""


@dataclass(frozen=True)
class Installed:
    """A wheel, its environment, a folder elsewhere, and the variables of a program there."""

    wheel: Path
    environment: Path
    elsewhere: Path
    variables: dict[str, str]

    def python(self, *words: str | Path, given: str = "") -> str:
        """Return what a script prints; it has to end well."""
        ended = subprocess.run(
            [self.environment / "bin" / "python", "-P", *words],
            cwd=self.elsewhere, env=self.variables, input=given, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout


@dataclass(frozen=True)
class Said:
    """The output of a command of the terminal, and how it ended."""

    code: int
    printed: str
    error: str

    def json(self) -> Any:
        """Return what was printed by a command that ended well."""
        assert self.code == 0, self.printed + self.error
        return json.loads(self.printed)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Build the wheel from a copy of the checkout, and install it over our packages.

    The packages are those of this environment but for Sextant, whose editable installation is a file that only the
    environment itself reads, and for the one that `pip install` does not bring.
    """
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "source"
    for name in HELD:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "workspace"))
    for name in ("app.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    (source / OF_SOMEBODY).parent.mkdir()
    (source / OF_SOMEBODY).touch()
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--no-input"]
    offline = ["--no-deps", "--no-index"]
    subprocess.run([*pip, "wheel", *offline, "--no-build-isolation", "-w", folder, source], check=True)
    [wheel] = folder.glob("*.whl")
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages = sysconfig.get_path("purelib", vars={"base": str(environment)})
    (Path(packages) / "ours.pth").write_text(
        f'{sysconfig.get_path("purelib")}\nimport sys; sys.modules["easyocr"] = None\n', encoding="utf-8"
    )
    into = ["--python", str(environment / "bin" / "python")]
    subprocess.run([*pip, *into, "install", *offline, "--ignore-installed", wheel], check=True)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SEXTANT_", "PYTHON", "COV_"))}
    variables = kept | {
        "HOME": str(folder),
        "PYTHONSAFEPATH": "1",
        "SEXTANT_CACHE": str(cache_folder()),
        "SEXTANT_OLLAMA_URL": "http://127.0.0.1:9",
    }
    return Installed(wheel, environment, elsewhere, variables)


@pytest.fixture(scope="session")
def said(installed: Installed, small_documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Said]:
    """Call each command in turn, in the workspace that is used where none is named."""
    folder = tmp_path_factory.mktemp("measured")
    quoted = {"document": "flood.md", "page": 1, "quote": ANSWER}
    gold = {"id": "1", "question": QUESTION, "language": "en", "kind": "identification", "answer": ANSWER}
    lines: dict[str, list[dict[str, Any]]] = {
        "gold.jsonl": [gold | {"passages": [quoted]}],
        "corpus.jsonl": [{"_id": name, "title": "", "text": text} for name, text in (("1", ANSWER), ("2", "Heat"))],
        "queries.jsonl": [{"_id": "1", "text": QUESTION}],
    }
    for name, rows in lines.items():
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\t1\t1\n", encoding="utf-8")
    on_passages = ["--documents", str(small_documents), "--gold", str(folder / "gold.jsonl")]
    calls = {
        "add": ["add", str(small_documents)],
        "list": ["list"],
        "search": ["search", QUESTION],
        "ask": ["ask", QUESTION],
        "doctor": ["doctor"],
        "retrieval": ["eval", "retrieval", str(folder), "--config", "bm25-lucene"],
        "chunking": ["eval", "chunking", "--strategy", "newline", *on_passages],
        "ablation": ["eval", "ablation", "--config", "default", *on_passages],
        "answers": ["eval", "answers", str(folder / "gold.jsonl")],
        "gate": ["eval", "gate", str(folder / "gold.jsonl"), "--accept"],
        "import": ["eval", "own", "import", str(folder / "gold.jsonl")],
        "own": ["eval", "own", "test"],
        "erase": ["erase", "duerre.md"],
        "list again": ["list"],
    }
    given = json.dumps({name: [*words, "--json"] for name, words in calls.items()})
    printed = installed.python("-c", CALLS, given=given).splitlines()
    return {name: Said(*rest) for name, *rest in map(json.loads, printed)}


@contextmanager
def serving(installed: Installed, *words: str) -> Iterator[str]:
    """Yield where `sextant serve` answers."""
    command = [str(installed.environment / "bin" / "sextant"), "serve", "--port", "0", "--json", *words]
    with subprocess.Popen(
        command, cwd=installed.elsewhere, env=installed.variables, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        try:
            said = ""
            for line in process.stdout:
                said += line
                if line == "}\n":
                    break
            yield json.loads(said)["address"]
        finally:
            process.terminate()


def test_a_wheel_holds_the_program_with_what_it_reads_and_nothing_of_anybody(installed: Installed) -> None:
    held = set(zipfile.ZipFile(installed.wheel).namelist())
    paths = (path for name in HELD for path in (ROOT / name).rglob("*") if path.is_file())
    names = {path.relative_to(ROOT).as_posix() for path in paths if "__pycache__" not in path.parts}
    wanted = {
        name
        for name in names
        if not name.startswith((*LEFT_OUT, "data/workspace")) and not name.endswith(("README.md", "secrets.toml"))
    }
    assert {name for name in held if not name.startswith("sextant-")} == wanted | {"app.py"}


def test_every_module_can_be_imported(installed: Installed) -> None:
    installed.python(ROOT / ".ci" / "import_everything.py")


def test_every_command_prints_its_help(said: Mapping[str, Said]) -> None:
    helps = {name: one for name, one in said.items() if name.endswith("--help")}
    assert {"add --help", "eval retrieval --help", "eval own test --help"} <= helps.keys()
    assert not [name for name, one in helps.items() if one.code or "Usage" not in one.printed]


def test_documents_are_added_listed_searched_asked_and_erased(said: Mapping[str, Said]) -> None:
    assert [one["status"] for one in said["add"].json()["documents"]] == ["indexed"] * 3
    assert {one["file"] for one in said["list"].json()["documents"]} == {"flood.md", "caldo.md", "duerre.md"}
    assert ANSWER in json.dumps(said["search"].json())
    assert ANSWER in said["ask"].json()["text"].replace("**", "")
    assert said["erase"].code == 0, said["erase"].printed
    assert {one["file"] for one in said["list again"].json()["documents"]} == {"flood.md", "caldo.md"}


def test_the_reader_that_comes_with_the_package_reads_and_the_doctor_names_it(said: Mapping[str, Said]) -> None:
    for words in ("Not reranked", "not read closely"):
        assert words not in said["ask"].printed
    [found] = [one for one in json.loads(said["doctor"].printed)["checks"] if one["name"] == "Reranker"]
    assert found["found"].startswith("reader")
    assert found["state"] == "good"


def test_rankings_and_passages_are_measured(said: Mapping[str, Said]) -> None:
    assert said["retrieval"].json()["configs"][0]["ndcg@10"] == 1.0
    for verb in ("chunking", "ablation"):
        assert {row["figures"]["recall"]["value"] for row in said[verb].json()["rows"]} == {1.0}


def test_answers_are_measured(said: Mapping[str, Said]) -> None:
    assert [one["failure"] for one in said["answers"].json()["rows"]] == [""]
    assert said["gate"].json()["accepted"] is True
    assert said["import"].json()["added"] == 1
    assert [one["question"] for one in said["own"].json()["questions"]] == [QUESTION]


@pytest.mark.needs("chromium")
def test_the_page_shows_the_samples_in_our_style(installed: Installed, tmp_path: Path, browser: Browser) -> None:
    with (
        serving(installed, "--sample", "--workspace", str(tmp_path / "workspace")) as address,
        browser.new_page() as page,
    ):
        answer = page.goto(address)
        assert answer is not None
        assert answer.status == 200
        expect(page).to_have_title("Ask · Sextant", timeout=60_000)
        # The size that .streamlit/config.toml gives.
        expect(page.locator("h1").first).to_have_css("font-size", "28px", timeout=60_000)
        expect(page.get_by_text("invented").first).to_be_visible(timeout=60_000)
