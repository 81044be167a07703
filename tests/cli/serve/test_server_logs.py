"""The log of the servers of `sextant serve`, which people read on a terminal."""

import re
import subprocess
import sys
from pathlib import Path

import httpx

from cli.serve.protection import LOOPBACK
from cli.serve.servers import PAGE_COMMAND, free_port
from tests.conftest import ROOT
from tests.harness.page_visitor import visiting

# It renames the window of a terminal and colours its words, in each of the ways that there are.
TITLE = "Dike \x1b]0;owned\x07\x1b[31mreport\x9b31m of Køge"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def test_the_error_of_a_page_is_logged_whole_but_for_what_a_terminal_would_obey(tmp_path: Path) -> None:
    page, log = tmp_path / "page.py", tmp_path / "log"
    script = f"import sys\ntitle = {TITLE!r}\nprint(title)\nraise ValueError(title + chr(10) + 'Its end')\n"
    page.write_text(script, encoding="utf-8")
    with free_port() as port, log.open("wb") as output:
        command = [*PAGE_COMMAND, str(page), "--server.headless", "true", "--server.port", str(port)]
        server = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)
        try:
            with httpx.Client(transport=httpx.HTTPTransport(retries=8), timeout=60) as client:
                client.get(f"http://{LOOPBACK}:{port}/_stcore/health").raise_for_status()
            with visiting(f"http://{LOOPBACK}:{port}") as visitor:
                assert visitor.wait(lambda: "Its end" in log.read_text("utf-8"), 60)
        finally:
            server.terminate()
            server.wait(60)
    logged = log.read_text("utf-8")
    assert logged.count("Dike ]0;owned[31mreport31m of Køge") == 2
    assert "Traceback" in logged
    assert not OBEYED.findall(logged)


def test_a_process_whose_output_is_a_log_keeps_every_line_of_every_thread() -> None:
    program = (
        "import sys, threading, warnings; from rag_engine.text.control_characters import print_plainly; print_plainly()"
        "\nwrite = lambda number: [sys.stdout.write(f'{number} \\x1b[1mline {n}\\n') for n in range(500)]"
        "\nthreads = [threading.Thread(target=write, args=(number,)) for number in range(4)]"
        "\n[one.start() for one in threads]; [one.join() for one in threads]"
        "\nthreading.Thread(target=lambda: 1 / len(''), name='th\\x1b[1mread').start()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert sorted(lines) == sorted(f"{number} [1mline {n}" for number in range(4) for n in range(500))
    assert "ZeroDivisionError" in done.stderr
    assert not OBEYED.findall(done.stderr)
