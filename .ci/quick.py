"""Loop of an edit: check what changed since main and run its tests, in about 30 seconds."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("rag_engine", "ingestion", "pages", "cli")
SECONDS = 15.0


class Budget:
    """Stops a test run when its seconds are over."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def pytest_runtest_logfinish(self) -> None:
        """Let no further test begin when the time is over."""
        if time.monotonic() > self._end:
            pytest.exit(f"{SECONDS:g} seconds of tests have passed; `make test` runs the others.", returncode=0)


def changed_files() -> list[str]:
    """Return the Python files that differ from main, in the last commit where nothing does."""
    for base in ("main", "HEAD~1"):
        different = _git("diff", "--name-only", "--diff-filter=d", base, "--", "*.py")
        different += _git("ls-files", "--others", "--exclude-standard", "--", "*.py")
        if different:
            break
    return sorted(set(different))


def tests_of(changed: Iterable[str]) -> list[str]:
    """Return the test files for changed files, nearest first.

    Their own tests come before tests that import them, and these before tests of their importers.
    """
    modules = {module_of(name) for name in changed if name.startswith(PACKAGES)}
    tests = {name: imports_of(name) for name in _git("ls-files", "tests/*.py") if Path(name).name.startswith("test_")}
    product = {name: imports_of(name) for name in _git("ls-files", *(f"{package}/*.py" for package in PACKAGES))}
    importers = {module_of(name) for name, imported in product.items() if imported & modules}
    wanted = [name for name in changed if name in tests]
    wanted += [name for module in sorted(modules) for name in tests if mirrors(name, module)]
    wanted += [name for name, imported in tests.items() if imported & modules]
    wanted += [name for module in sorted(importers) for name in tests if mirrors(name, module)]
    return list(dict.fromkeys(wanted))


def module_of(name: str) -> str:
    """Return the module of a file: rag_engine/text/sentences.py is rag_engine.text.sentences."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def mirrors(test: str, module: str) -> bool:
    """Return whether a test file is named after a module, as test_runs.py and test_runs_again.py are."""
    folder, _, name = f"tests.{module}".replace(".", "/").rpartition("/")
    return test.startswith((f"{folder}/test_{name}.py", f"{folder}/test_{name}_"))


def imports_of(name: str) -> set[str]:
    """Return the modules that a file imports anywhere in it."""
    return set(_imports(ast.parse((ROOT / name).read_text(encoding="utf-8"))))


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _git(*words: str) -> list[str]:
    found = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.splitlines()


def main() -> int:
    """Run the checks and the tests; return the exit code."""
    changed = changed_files()
    if not changed:
        print("Nothing has changed since main.")
        return 0
    tools = Path(sys.executable).parent
    for command in (["ruff", "check", *changed], ["ruff", "format", "--check", *changed], ["mypy"]):
        if code := subprocess.run([tools / command[0], *command[1:]], cwd=ROOT, check=False).returncode:
            return code
    tests = tests_of(changed)
    print(f"{len(changed)} changed files, {len(tests)} test files", flush=True)
    return pytest.main(["-x", "-m", "not long", *tests], plugins=[Budget(SECONDS)]) if tests else 0


if __name__ == "__main__":
    sys.exit(main())
