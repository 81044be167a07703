"""The folder that holds Sextant: a checkout, or the packages of an installed wheel.

Both are arranged alike.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
# People keep their files in a checkout, by default their workspace; they do not search between packages.
IS_CHECKOUT = (ROOT / "pyproject.toml").is_file()


@cache
def sextant_version() -> str:
    """Return the version of the installed program."""
    from importlib.metadata import version

    return version("sextant")
