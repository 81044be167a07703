"""The modules that a question with quotations loads: nothing heavy, since starting takes the time."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

# Each takes from a tenth of a second to several seconds to import, and none of them quotes.
NOT_NEEDED = {
    "PIL", "chromadb", "ingestion", "onnx", "onnxruntime", "openai", "pages", "pandas", "playwright", "prompt_toolkit",
    "pypdfium2", "scipy", "sentence_transformers", "sklearn", "streamlit", "torch", "transformers",
}  # fmt: skip
SCRIPT = """
import json, sys
from cli.main import app
try:
    app(["ask", "When do residents near the dyke have to leave?", "-w", sys.argv[1]])
except SystemExit:
    pass
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_asking_for_quotations_imports_nothing_that_only_others_need(small_workspace: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SEXTANT_OLLAMA_URL": "http://127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(small_workspace)],
        cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    printed = done.stdout.splitlines()
    assert any("4.5 metres" in line for line in printed), done.stderr
    assert NOT_NEEDED.intersection(json.loads(printed[-1])) == set()
