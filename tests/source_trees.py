"""The modules of the product, read and parsed once for all tests that hold rules over the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

PACKAGES = ("rag_engine", "ingestion", "pages", "cli")
SOURCES = (*sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")), ROOT / "app.py")


def name_of(path: Path) -> str:
    """Return the name of a file from the root of the repository."""
    return path.relative_to(ROOT).as_posix()


@cache
def text_of(path: Path) -> str:
    """Return the text of a module."""
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a module."""
    return ast.parse(text_of(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a module, parents before their children."""
    return tuple(ast.walk(tree_of(path)))


def calls_of(path: Path) -> Iterator[ast.Call]:
    """Yield the calls of a module."""
    return (node for node in nodes_of(path) if isinstance(node, ast.Call))


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return the modules that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return frozenset(names)


def packages_of(path: Path) -> set[str]:
    """Return the packages that a module imports."""
    return {name.partition(".")[0] for name in imports_of(path)}
