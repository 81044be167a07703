"""A Streamlit server on this machine, for browsers that measure, test or take pictures."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from rag_engine.config import ROOT

# It ends with whoever started it, also where that one is killed.
_SERVER = (
    "from rag_engine.confinement.parent import end_with_parent; end_with_parent(); "
    "from streamlit.web.cli import main; main()"
)


@contextmanager
def serving(script: Path = ROOT / "app.py", log: Path | None = None, **settings: str) -> Iterator[str]:
    """Yield where a server answers that runs a script, with these variables; what it prints goes to `log`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", _SERVER, "run", str(script), "--server.headless", "true"]
    command += ["--server.address", "127.0.0.1", "--server.port", str(port)]
    with (log or Path(os.devnull)).open("wb") as output:
        environment = os.environ | settings
        server = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=output, stderr=output
        )
        try:
            # The transport tries again, at growing distances, while nothing listens yet.
            with httpx.Client(transport=httpx.HTTPTransport(retries=8), timeout=60.0) as client:
                client.get(f"http://127.0.0.1:{port}/_stcore/health").raise_for_status()
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(20)
            assert server.stdin is not None
            server.stdin.close()
