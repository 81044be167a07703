"""Lock file from a report of pip: each package with its version and the hashes of its files.

The report names the one file of each package that suits this machine and this Python. Other machines need other files,
so the hashes of all wheels of the version come from the index that pip asks. A source archive runs code when it is
installed: it is only named if there is no wheel.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version
from pip._internal.models.index import PyPI  # where pip looks unless it is told otherwise

_PYTHONS = (11, 12, 13)
_JSON = {"Accept": "application/vnd.pypi.simple.v1+json"}


def main(report: Path) -> None:
    """Print the lock file."""
    # torch has a separate file (requirements-torch.lock).
    read = [_Item.of(one) for one in json.loads(report.read_text(encoding="utf-8"))["install"]]
    items = sorted((one for one in read if one.name not in ("sextant", "torch")), key=lambda one: one.name.lower())
    with httpx.Client(headers=_JSON, follow_redirects=True, timeout=120.0) as client, ThreadPoolExecutor(4) as pool:
        for item, hashes in zip(items, pool.map(lambda item: item.hashes(client), items), strict=True):
            print(" \\\n    ".join([f"{item.name}=={item.version}", *(f"--hash=sha256:{one}" for one in hashes)]))


class _Item:
    """A package of the report."""

    def __init__(self, name: str, version: str, chosen: str) -> None:
        self.name, self.version, self._chosen = name, version, chosen

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> _Item:
        described = entry["metadata"]
        hashes = entry["download_info"].get("archive_info", {}).get("hashes", {})
        return cls(described["name"], described["version"].partition("+")[0], hashes.get("sha256", ""))

    def hashes(self, client: httpx.Client) -> list[str]:
        """Return the hashes of the version's wheels, or of its source archives where it has none."""
        index = os.environ.get("PIP_INDEX_URL") or PyPI.simple_url
        page = client.get(f"{index.rstrip('/')}/{self.name.lower().replace('_', '-').replace('.', '-')}/")
        files = [one for one in page.raise_for_status().json()["files"] if self._is_mine(one["filename"])]
        wheels = [one for one in files if one["filename"].endswith(".whl") and _installs(one["filename"])]
        found = {one["hashes"]["sha256"] for one in wheels or files} | ({self._chosen} - {""})
        if not found:
            raise SystemExit(f"{self.name} {self.version} has no file with a hash.")
        return sorted(found)

    def _is_mine(self, file: str) -> bool:
        if not file.endswith(".whl"):
            return file.removesuffix(".tar.gz").removesuffix(".zip").rpartition("-")[2] == self.version
        try:
            return parse_wheel_filename(file)[1] == Version(self.version)
        except InvalidWheelFilename:
            return False


def _installs(wheel: str) -> bool:
    """Return whether a Python that Sextant runs on takes a wheel."""
    return any(_takes(tag.interpreter, tag.abi) for tag in parse_wheel_filename(wheel)[3])


def _takes(interpreter: str, abi: str) -> bool:
    return (
        interpreter in ("py3", *(f"py3{minor}" for minor in _PYTHONS))
        or (abi == "abi3" and interpreter.startswith("cp3"))
        or (interpreter in (f"cp3{minor}" for minor in _PYTHONS) and abi in (interpreter, "none"))
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
