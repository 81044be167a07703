"""Refusals that readers of several formats share."""

from __future__ import annotations

from pathlib import Path

from ingestion.types import Refusal


def locked(path: Path) -> Refusal:
    """Return the refusal of a file that only opens with a password."""
    return Refusal(
        "encrypted", f"{path.name} asks for a password.", help="Save a copy without a password and add that."
    )


def damaged(
    path: Path, cause: object, what: str = "damaged", help: str = "Download or save it again and add that."
) -> Refusal:
    """Return the refusal of a file that is not as its format has it; `what` names it, as in "a damaged PDF"."""
    return Refusal("damaged", f"{path.name} is {what}: {str(cause).rstrip('. ')}.", help=help)
