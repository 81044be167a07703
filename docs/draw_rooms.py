"""Draw docs/images/rooms.svg, the rooms of the product and who imports whom, from the imports.

`python docs/draw_rooms.py` writes the picture; with --check it says whether the one that is there is current.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "rooms.svg"
PACKAGES = ("cli", "pages", "ingestion", "rag_engine")
WIDTH, BOX, ROW, EDGE, TOWER = 1240, 26, 58, 16, 600
# Every room may look into these; their arrows would hide the others.
GROUND = {
    "ingestion": (
        "types",
        "config",
        "keyed_locks",
        "patterns",
        "prompts",
        "protocols",
        "file_names",
        "fingerprints",
        "metadata_file",
        "disk_full",
        "workspace",
    ),
    "rag_engine": (
        "types",
        "errors",
        "config",
        "settings",
        "protocols",
        "prompts",
        "workspace",
        "filters",
        "atomic_write",
        "damaged_files",
    ),
}
COLOURS = {"cli": "#e8e3f3", "pages": "#e8e3f3", "ingestion": "#e2efe4", "rag_engine": "#e1ebf5"}

Arrows = Mapping[str, set[str]]


def room_of(module: str) -> str:
    """Return the room of a module: the package for a door, else the package and the folder or file in it."""
    parts = module.split(".")
    return parts[0] if parts[0] in ("cli", "pages") else ".".join(parts[:2])


def arrows() -> dict[str, set[str]]:
    """Return the rooms that each room imports."""
    found: dict[str, set[str]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            own = room_of(path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."))
            if own == package + ".__init__":
                continue
            imported = {room_of(name) for name in _imports(path) if name.split(".")[0] in PACKAGES and "." in name}
            found.setdefault(own, set()).update(imported - {own})
    return {room: {other for other in others if other in found} for room, others in found.items()}


def reduced(found: Arrows) -> dict[str, list[str]]:
    """Return the arrows without those that two others make up."""
    reach = {room: set(others) for room, others in found.items()}
    for through in found:
        for room, others in reach.items():
            if through in others:
                reach[room] = others | reach[through]
    return {
        room: sorted(one for one in others if not any(one in reach[other] for other in others - {one, room}))
        for room, others in found.items()
    }


def layers(package: str) -> list[list[str]]:
    """Return the rooms of each layer of a package from the top, as its import contract orders them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contract = next(one for one in settings["contracts"] if one["id"] in (package, package.removeprefix("rag_")))
    rows = [_row(layer, package) for layer in contract["layers"]]
    ground = [f"{package}.{name}" for name in GROUND[package]]
    return [*filter(None, ([room for room in row if room not in ground] for row in rows)), ground]


def draw() -> str:
    """Return the picture: a tower for each package, the doors above them."""
    found = arrows()
    boxes: dict[str, tuple[float, float, float]] = dict(_placed(["cli", "pages"], 0, WIDTH / 2))
    deepest = 0
    for tower, package in enumerate(("ingestion", "rag_engine")):
        for number, row in enumerate(layers(package), start=1):
            present = [room for room in row if room in found]
            # Rooms that are alone in their layer step aside in turn, so that arrows pass them.
            aside = (number % 3 - 1) * 120 if len(present) == 1 else 0
            boxes |= dict(_placed(present, number, EDGE + TOWER * (tower + 0.5) + aside))
            deepest = max(deepest, number)
    height = EDGE * 2 + ROW * deepest + BOX
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif">',
        '<marker id="tip" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0L6 3L0 6z" fill="#7a8793"/></marker>',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    ground = {f"{package}.{name}" for package, names in GROUND.items() for name in names}
    inside = {
        room: {one for one in others - ground if one.split(".")[0] == room.split(".")[0]}
        for room, others in found.items()
        if room not in ground
    }
    for room, others in reduced(inside).items():
        lines += [_arrow(boxes[room], boxes[other]) for other in others]
    tops = {package: boxes[layers(package)[0][0]] for package in GROUND}
    lines += [_arrow(boxes[door], top) for door in ("cli", "pages") for top in tops.values()]
    lines += [_box(room, box) for room, box in boxes.items()]
    return "\n".join([*lines, "</svg>", ""])


def _row(layer: str, package: str) -> list[str]:
    names = (name.strip(" ()").removeprefix(package + ".") for name in layer.replace("|", ":").split(":"))
    return list(dict.fromkeys(f"{package}.{name.split('.')[0]}" for name in names))


def _placed(row: Sequence[str], number: int, middle: float) -> Iterator[tuple[str, tuple[float, float, float]]]:
    widths = [10 + 6.0 * len(room.partition(".")[2] or room) for room in row]
    gap = min(46.0, (TOWER - EDGE - sum(widths)) / max(1, len(row) - 1))
    left = middle - (sum(widths) + gap * (len(row) - 1)) / 2
    for room, width in zip(row, widths, strict=True):
        yield room, (left, EDGE + ROW * number, width)
        left += width + gap


def _arrow(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    x0, x1 = start[0] + start[2] / 2, end[0] + end[2] / 2
    down = end[1] > start[1]
    y0, y1 = (start[1] + BOX, end[1]) if down else (start[1] + BOX / 2, end[1] + BOX / 2)
    return f'<path d="M{x0:.0f} {y0:.0f}L{x1:.0f} {y1:.0f}" stroke="#b3bdc6" fill="none" marker-end="url(#tip)"/>'


def _box(room: str, box: tuple[float, float, float]) -> str:
    package, _, name = room.partition(".")
    x, y, width = box
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX}" rx="4" fill="{COLOURS[package]}" '
        f'stroke="#7a8793"/><text x="{x + width / 2:.0f}" y="{y + 17:.0f}" font-size="11" text-anchor="middle">'
        f"{escape(name or package)}</text>"
    )


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{one.name}" for one in node.names)


def main() -> int:
    """Write the picture, or check it; return the exit code."""
    picture = draw()
    if "--check" in sys.argv:
        if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == picture:
            return 0
        print(f"{PICTURE.relative_to(ROOT)} is not current: run python docs/draw_rooms.py", file=sys.stderr)
        return 1
    PICTURE.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
