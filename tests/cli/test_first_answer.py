"""The first answer on a machine: the models are made ready without torch."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, pathlib, re, resource, sys
from cli.main import app
try:
    app(["ask", "When do residents near the dyke have to leave?", "--workspace", sys.argv[1]])
except SystemExit as end:
    assert not end.code, end.code
# What getrusage says of a process itself begins with that of the one which started it.
own = int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
peaks = own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
heavy = [name for name in ("torch", "transformers", "sentence_transformers") if name in sys.modules]
print(json.dumps({"peaks": peaks, "heavy": heavy}))
"""


def test_the_first_answer_needs_no_torch_little_memory_and_little_room(small_workspace: Path, tmp_path: Path) -> None:
    # A module that cannot be imported shows that no process imports it, those that make the models ready included.
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    for name in ("torch", "transformers", "sentence_transformers"):
        (blocked / f"{name}.py").write_text(f"raise SystemExit('{name} was imported')\n", encoding="utf-8")
    cache = tmp_path / "cache"
    environment = os.environ | {"SEXTANT_CACHE": str(cache), "PYTHONPATH": str(blocked)}
    asked = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(small_workspace)],
        env=environment,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    assert "4.5 metres" in asked.stdout
    measured = json.loads(asked.stdout.splitlines()[-1])
    assert measured["heavy"] == []
    own, largest_child = measured["peaks"]
    # In KiB; two models are made ready at a time. OpenVINO takes 100 MB more on a processor without AVX512.
    assert own + 2 * largest_child < 2.0e6
    assert sum(file.stat().st_size for file in cache.rglob("*") if file.is_file()) < 0.9e9
