"""Count what the house is measured by, and hold each figure against its budget.

    python .ci/count_house.py [--places]

The budget is `.ci/house_budget.toml`; `--places` also prints the queries of `.ci/forty_places.toml` that do not find
their file, and what they find instead. Code lines are those without blanks, comments and docstrings.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUDGET, PLACES = "house_budget.toml", "forty_places.toml"
PACKAGES = ("rag_engine", "ingestion", "pages", "cli")
LEFT_OUT = ("tests/harness/", "tests/e2e/")
# A private helper of at most SMALL lines, signature and docstring included, is read faster where it is used.
SMALL, FIRST = 4, 3
UNTYPED = "dict[str, Any]"
# Figures of which more is better.
AT_LEAST = {"places found"}

Graph = Mapping[str, set[str]]
Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class SourceFile:
    """A file of the product, walked once."""

    path: str
    code: int
    nodes: int
    # How often a name is read, and the modules that may be imported, by their full names.
    used: Counter[str] = field(default_factory=Counter)
    imported: set[str] = field(default_factory=set)
    # Private helpers of the module that are small enough to be inlined.
    helpers: list[str] = field(default_factory=list)
    untyped: int = 0

    @property
    def module(self) -> str:
        """The module: rag_engine/text/sentences.py is rag_engine.text.sentences."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def room(self) -> str:
        """The package and the folder or file in it, so that a phase counts to its folder."""
        return ".".join(self.module.split(".")[:2])


def figures_of(root: Path) -> dict[str, float]:
    """Return the figures of a tree by their names."""
    files = [read_source(root, path) for path in product_files(root)]
    code = Counter[str]()
    for file in files:
        code[file.path.partition("/")[0]] += file.code
    imports = imports_of(files)
    importers = Counter(chain.from_iterable(imports.values()))
    rooms = {file.module: file.room for file in files}
    between: defaultdict[str, set[str]] = defaultdict(set)
    for module, imported in imports.items():
        between[rooms[module]] |= {rooms[name] for name in imported}
    shared = {name for module, imported in imports.items() for name in imported if rooms[name] != rooms[module]}
    return {
        "code lines": sum(code.values()),
        **{f"code lines of {name}": code[name] for name in (*PACKAGES, "app.py")},
        "lines of tests": sum(len(_lines(path)) for path in test_files(root)),
        "syntax nodes a code line": round(sum(file.nodes for file in files) / sum(code.values()), 2),
        "circles of rooms": len(circles(between)),
        f"{UNTYPED} across rooms": sum(file.untyped for file in files if file.module in shared),
        "modules with one importer": sum(importers[file.module] == 1 for file in files),
        "one-use helpers": sum(file.used[name] == 1 for file in files for name in file.helpers),
        "places found": len(places_of(root)) - len(missed_places(root)),
    }


def product_files(root: Path) -> list[str]:
    """Return the paths of the product's files."""
    paths = [path for package in PACKAGES for path in (root / package).rglob("*.py")]
    return sorted(path.relative_to(root).as_posix() for path in (*paths, *root.glob("app.py")))


def test_files(root: Path) -> list[Path]:
    """Return the files of the tests, without those that only whole runs take."""
    tests = (root / "tests").rglob("*.py")
    return [path for path in tests if not path.relative_to(root).as_posix().startswith(LEFT_OUT)]


def read_source(root: Path, path: str) -> SourceFile:
    """Return what is counted of a file."""
    text = (root / path).read_text(encoding="utf-8")
    tree = ast.parse(text)
    file = SourceFile(path, 0, 0, helpers=list(_small_helpers(tree.body)))
    file.untyped = sum(UNTYPED in ast.unparse(one) for one in _public_annotations(tree.body))
    prose: set[int] = set()
    for node in ast.walk(tree):
        file.nodes += 1
        if isinstance(node, ast.Name):
            file.used[node.id] += 1
        elif isinstance(node, ast.Attribute):
            file.used[node.attr] += 1
        elif isinstance(node, ast.Import):
            file.imported.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            file.imported.update((node.module, *(f"{node.module}.{name.name}" for name in node.names)))
        elif isinstance(node, ast.Module | ast.ClassDef | Definition):
            prose.update(_docstring_lines(node))
    lines = enumerate(text.splitlines(), start=1)
    file.code = sum(number not in prose and line.strip()[:1] not in ("", "#") for number, line in lines)
    return file


def imports_of(files: Sequence[SourceFile]) -> dict[str, set[str]]:
    """Return the modules of ours that each module imports anywhere in it.

    An import of a module out of a package counts for the module, not for the package.
    """
    known = {file.module for file in files}
    found = {}
    for file in files:
        parents = {name.rpartition(".")[0] for name in file.imported if name in known}
        whole = {name for name in file.imported & known if name not in parents}
        found[file.module] = whole - {file.module}
    return found


def circles(graph: Graph) -> list[list[str]]:
    """Return groups of two or more rooms that reach each other (Tarjan 1972), each in order of names."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_rooms: list[str] = []
    found: list[list[str]] = []

    def visit(room: str) -> None:
        order[room] = lowest[room] = len(order)
        open_rooms.append(room)
        for other in sorted(graph.get(room, ())):
            if other not in order:
                visit(other)
                lowest[room] = min(lowest[room], lowest[other])
            elif other in open_rooms:
                lowest[room] = min(lowest[room], order[other])
        if lowest[room] == order[room]:
            place = open_rooms.index(room)
            found.append(sorted(open_rooms[place:]))
            del open_rooms[place:]

    for room in sorted(graph):
        if room not in order:
            visit(room)
    return [circle for circle in found if len(circle) > 1]


def places_of(root: Path) -> dict[str, str]:
    """Return the queries with the file that each is to find."""
    path = root / ".ci" / PLACES
    return dict(tomllib.loads(path.read_text(encoding="utf-8")))


def missed_places(root: Path) -> dict[str, list[str]]:
    """Return the queries that do not find their file, each with the first files that it finds."""
    paths = product_files(root)
    found = {query: first_files(query, paths) for query in places_of(root)}
    return {query: found[query] for query, path in places_of(root).items() if path not in found[query]}


def first_files(query: str, paths: Sequence[str]) -> list[str]:
    """Return the files that a query finds: most of its words in the path first, then the shortest path."""
    words = query.split()

    def place(path: str) -> tuple[int, int, str]:
        present = re.split("[^a-z0-9]+", path.lower())
        return -sum(word in present for word in words), len(path), path

    return sorted(paths, key=place)[:FIRST]


def table_of(figures: Mapping[str, float], budget: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Return the lines of the table, and the names of the figures that exceed their budget."""
    beyond = [name for name, figure in figures.items() if _exceeds(name, figure, budget[name])]
    rows = [("figure", "today", "budget", "")]
    for name, figure in figures.items():
        bound = f"at least {budget[name]:,}" if name in AT_LEAST else f"{budget[name]:,}"
        rows.append((name, f"{figure:,}", bound, "exceeds its budget" if name in beyond else ""))
    return [f"{name:<30}{today:>10}{bound:>14}  {said}".rstrip() for name, today, bound, said in rows], beyond


def read_budget(root: Path, names: Sequence[str]) -> dict[str, float]:
    """Return the budget of each figure; ValueError names what the file lacks or has too much."""
    path = root / ".ci" / BUDGET
    budget = tomllib.loads(path.read_text(encoding="utf-8"))
    if different := budget.keys() ^ set(names):
        raise ValueError(f"{path}: one row for each figure that is counted; these differ: {sorted(different)}.")
    return budget


def _exceeds(name: str, figure: float, bound: float) -> bool:
    return figure < bound if name in AT_LEAST else figure > bound


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _small_helpers(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names of private functions of few lines, undecorated."""
    for node in body:
        if isinstance(node, Definition) and node.name.startswith("_") and not node.decorator_list:
            yield from [node.name] if _last(node) - node.lineno < SMALL else []


def _docstring_lines(node: ast.Module | ast.ClassDef | Definition) -> range:
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return range(first.lineno, _last(first) + 1)
    return range(0)


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _public_annotations(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """Yield the types of the parameters, returns and fields that other modules may see."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public_annotations(node.body)
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation
        elif isinstance(node, Definition) and not (node.name.startswith("_") and node.name != "__init__"):
            given = chain(node.args.posonlyargs, node.args.args, node.args.kwonlyargs)
            yield from (one.annotation for one in given if one.annotation)
            yield from [node.returns] if node.returns else []


def main() -> int:
    """Print the table; return 1 where a figure exceeds its budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", action="store_true", help="also print the queries that miss their file")
    arguments = parser.parse_args()
    figures = figures_of(ROOT)
    lines, beyond = table_of(figures, read_budget(ROOT, list(figures)))
    print("\n".join(lines))
    if arguments.places:
        for query, found in missed_places(ROOT).items():
            print(f"{query}: {places_of(ROOT)[query]} is not among {', '.join(found)}")
    if beyond:
        print(f"Beyond the budget: {', '.join(beyond)}. Less of it, or a higher row in .ci/{BUDGET} with its reason.")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
