"""The figures of the house, counted over a small tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Two rooms of the engine that import each other, one of them within a function, and a page that stands on one.
TREE = {
    "app.py": "import pages.ask\n",
    "pages/ask.py": """
        from rag_engine.text.sentences import split
        split("A sentence.")
        """,
    "rag_engine/text/sentences.py": """
        \'\'\'Sentences of a text,

        found by their full stops.
        \'\'\'
        # A comment counts as little as a blank line.

        def split(text: str) -> dict[str, Any]:
            \'\'\'Return the sentences.\'\'\'
            from rag_engine.answer import quote
            return _used_once(quote(text))

        def _used_once(text: str) -> dict[str, Any]:
            return {"one": text}

        def _used_twice(text: str) -> str:
            return text or _used_twice(_used_twice(text))
        """,
    "rag_engine/answer.py": """
        from rag_engine.text.sentences import split

        def quote(text: str) -> str:
            return text
        """,
    "tests/test_sentences.py": "\n# A line of a test counts, whatever it is.\n",
    "tests/harness/kill.py": "kill = True\n" * 9,
}
FIGURES = {
    "code lines": 13,
    "code lines of rag_engine": 10,
    "code lines of ingestion": 0,
    "code lines of pages": 2,
    "code lines of cli": 0,
    "code lines of app.py": 1,
    "lines of tests": 2,
    "circles of rooms": 1,
    "dict[str, Any] across rooms": 1,
    "modules with one importer": 2,
    "one-use helpers": 1,
    "places found": 1,
}
PLACES = """
"split sentences" = "rag_engine/text/sentences.py"
"cite" = "rag_engine/text/sentences.py"
"""


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Lay out the small tree with the script and the budget of its figures."""
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(line.removeprefix(" " * 8) for line in text.split("\n")), encoding="utf-8")
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "count_house.py").write_bytes((ROOT / ".ci" / "count_house.py").read_bytes())
    (tmp_path / ".ci" / "forty_places.toml").write_text(PLACES, encoding="utf-8")
    _budget(tmp_path)
    return tmp_path


def test_each_figure_is_counted(house: Path) -> None:
    ended = _count(house)
    printed = {line[:30].strip(): line[30:40].strip() for line in ended.stdout.splitlines()}
    assert {name: printed[name] for name in FIGURES} == {name: str(figure) for name, figure in FIGURES.items()}
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize(("name", "bound"), [("code lines of pages", 1), ("places found", 2)])
def test_a_figure_beyond_its_budget_is_named(house: Path, name: str, bound: int) -> None:
    _budget(house, **{name: bound})
    ended = _count(house)
    assert f"Beyond the budget: {name}." in ended.stdout
    assert ended.returncode == 1


def test_a_query_that_misses_its_file_is_shown(house: Path) -> None:
    shown = _count(house, "--places").stdout
    assert "cite: rag_engine/text/sentences.py is not among app.py, pages/ask.py, rag_engine/answer.py" in shown
    assert "split sentences" not in shown


def _budget(house: Path, **other: float) -> None:
    rows = {**FIGURES, "syntax nodes a code line": 20, **other}
    text = "\n".join(f'"{name}" = {bound}' for name, bound in rows.items())
    (house / ".ci" / "house_budget.toml").write_text(text, encoding="utf-8")


def _count(house: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ".ci/count_house.py", *options]
    return subprocess.run(command, cwd=house, capture_output=True, text=True, check=False)
