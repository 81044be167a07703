"""Command that opens Sextant in the browser."""

from __future__ import annotations

import signal
import threading
from dataclasses import asdict
from typing import Annotated

import typer

from cli.options import AsJson, Workspace
from cli.serve.protection import LOOPBACK, check_protected
from cli.terminal import engine_of, errors_end, out, print_json

app = typer.Typer()


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen at; beyond this machine people must log in.")] = LOOPBACK,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 takes a free one.")] = 8501,
    sample: Annotated[bool, typer.Option("--sample", help="Put the invented samples into an empty workspace.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Open Sextant in the browser until Ctrl-C: on this machine, or with --host for people who log in."""
    from cli.serve.servers import serving
    from ingestion.acts.context import local_person, open_context
    from ingestion.acts.documents import add_sample, resume_erasures
    from ingestion.jobs.uploads import remove_previews
    from ingestion.status.invented_samples import SAMPLES

    with errors_end(as_json):
        exposure = check_protected(host)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with engine_of(workspace, as_json) as engine, serving(engine, port, exposure) as page:
        remove_previews(engine.config.workspace)
        resume_erasures(open_context(engine, local_person()))
        filling = sample and add_sample(open_context(engine, local_person()), SAMPLES)
        if as_json:
            here = asdict(page.here)
            print_json({name: here[name] for name in ("process", "address", "since")})
        else:
            if filling:
                out.print("The invented samples are being indexed; the page shows how far they are.")
            address = exposure.address or page.here.address
            out.print(f"Sextant is at {address}  (Ctrl-C ends it)", markup=False)
            if exposure.address:
                out.print(f"It listens at {exposure.host}; this machine reaches it at {page.here.address}.")
        page.watch(stop)
