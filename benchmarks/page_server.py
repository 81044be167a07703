"""A Streamlit server on this machine, for browsers that measure, test or take pictures."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from cli.serve.servers import free_port
from rag_engine.config import ROOT
from rag_engine.waiting import rest

# Seconds that servers rest after each element, where the environment has them: what a slow machine shows of a page
# before the rest is there is seen then, and clicked.
_SLOW = "SLOW_PAGES"
# It ends with whoever started it, also where that one is killed.
_BEGINNING = "from rag_engine.confinement.parent import end_with_parent; end_with_parent(); "
_SLOWING = "from benchmarks.page_server import rest_after_elements; rest_after_elements(); "
_SERVER = "from streamlit.web.cli import main; main()"


def rest_after_elements() -> None:
    """Have the Streamlit server of this process rest after each element that it sends."""
    seconds, send = float(os.environ[_SLOW]), ScriptRunContext.enqueue

    def send_slowly(context: ScriptRunContext, message: ForwardMsg) -> None:
        send(context, message)
        rest(seconds)

    ScriptRunContext.enqueue = send_slowly


@contextmanager
def serving(script: Path = ROOT / "app.py", log: Path | None = None, **settings: str) -> Iterator[str]:
    """Yield where a server answers that runs a script, with these variables; what it prints goes to `log`."""
    environment = os.environ | settings
    code = _BEGINNING + (_SLOWING if _SLOW in environment else "") + _SERVER
    command = [sys.executable, "-c", code, "run", str(script), "--server.headless", "true"]
    with free_port() as port, (log or Path(os.devnull)).open("wb") as output:
        command += ["--server.address", "127.0.0.1", "--server.port", str(port)]
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
