"""Command that opens Sextant in the browser."""

from __future__ import annotations

import signal
import threading
from dataclasses import asdict
from typing import Annotated

import typer

from cli.terminal import AsJson, Workspace, engine_of, out, print_json, warn
from rag_engine.config import DATA

app = typer.Typer()


@app.command()
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 takes a free one.")] = 8501,
    sample: Annotated[
        bool, typer.Option("--sample", help="Put the sample collection into an empty workspace.")
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Open Sextant in the browser, on this machine alone, until Ctrl-C."""
    from cli.serve.servers import serving
    from ingestion.operations.desk import open_desk
    from ingestion.operations.documents import add_sample

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with engine_of(workspace, as_json) as engine, serving(engine, port) as servers:
        filling = sample and add_sample(open_desk(engine), DATA / "sample" / "documents")
        if as_json:
            print_json(asdict(servers.here))
        else:
            if filling:
                out.print("The sample collection is being indexed; the page shows how far it is.")
            if servers.waits_for:
                warn((f"{servers.waits_for} Questions are answered; what the page shall add waits until then.",))
            out.print(f"Sextant is at {servers.here.address}  (Ctrl-C ends it)", markup=False)
        servers.watch(stop)
