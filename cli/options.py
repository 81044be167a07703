"""Options that many verbs share: the workspace, JSON, who decides and why, filters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Workspace = Annotated[Path | None, typer.Option("--workspace", "-w", help="Folder of the collection.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON (data/contract.schema.json).")]
By = Annotated[str, typer.Option("--by", help="Who decides; the system's user if not given.")]
Note = Annotated[str, typer.Option("--note", help="Why; kept with the decision.")]
Filters = Annotated[list[str] | None, typer.Option("--filter", "-f", help="KEY=VALUE, for example hazard=Flood.")]
