"""Probe of the confinement: a confined process that tries to reach forbidden things.

It is confined like a process that draws pages.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from rag_engine.confinement.confine import Confinement, Reach, child_environment, confine, unprivileged_user
from rag_engine.types.finding import Finding

_SECONDS = 30


@dataclass(frozen=True, slots=True)
class ProbedConfinement:
    """Outcome of the probe: the rights given up, and the forbidden things it still reached.

    `reached` is in words for a person.
    """

    given_up: Confinement
    reached: tuple[str, ...]


def probe_confinement(*, landlock: bool = True) -> ProbedConfinement:
    """Confine a process on this machine, with or without Landlock, and return what it still reached."""
    with tempfile.TemporaryDirectory(prefix="sextant-probe-") as folder, socket.socket() as listening:
        # Anybody may write there: only the confinement is in the way.
        Path(folder).chmod(0o777)
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        reach = Reach(user=unprivileged_user()).to_argument()
        asked = [reach, str(int(landlock)), str(listening.getsockname()[1]), folder]
        done = subprocess.run(
            [sys.executable, "-P", "-s", "-m", "rag_engine.confinement.probe", *asked],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_SECONDS,
            env=child_environment(),
        )
    answer = json.loads(done.stdout)
    return ProbedConfinement(Confinement(**answer["given_up"]), tuple(answer["reached"]))


def main() -> None:
    """Confine this process, try everything, and print the outcome."""
    given_up = confine(Reach.from_argument(sys.argv[1]), landlock=sys.argv[2] == "1")
    port, folder = int(sys.argv[3]), sys.argv[4]
    attempts: dict[str, Callable[[], object]] = {
        "files of the system": lambda: Path("/etc/passwd").read_bytes(),
        "the environment of the program that started it": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
        "folders to write in": lambda: Path(folder, "written").touch(),
        "the network": lambda: socket.create_connection(("127.0.0.1", port), timeout=5).close(),
        "other programs": lambda: subprocess.run([sys.executable, "-c", ""], check=True, timeout=10),
    }
    reached = [name for name, attempt in attempts.items() if _succeeds(attempt)]
    sys.stdout.write(json.dumps({"given_up": asdict(given_up), "reached": reached}))


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, subprocess.SubprocessError):
        return False
    return True


if __name__ == "__main__":
    main()


def check() -> Finding:
    """Say what a process cannot reach that opens foreign files, by trying."""
    probed = probe_confinement()
    given_up = probed.given_up
    who = "as root without its rights" if given_up.user == 0 else f"as user {given_up.user}"
    if not probed.reached:
        found = f"what reads and draws files, {who}, reaches no other file, no network and none of our variables"
        return Finding("Sandbox", "good", f"{found} (Landlock {given_up.files} and seccomp)")
    missing = " and ".join(
        name for name, held in (("Landlock", given_up.files > 0), ("seccomp", given_up.calls)) if not held
    )
    found = f"what reads and draws files, {who}, could still reach {', '.join(probed.reached)}; not here: {missing}"
    remedy = "Add files of strangers on Linux 5.13 or later with Landlock (/sys/kernel/security/lsm names it)."
    return Finding("Sandbox", "note", found, remedy)
