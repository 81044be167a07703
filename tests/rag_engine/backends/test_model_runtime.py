import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag_engine.backends.model_runtime import Runtime, fastest_precision, first_that_agrees, open_openvino


@pytest.mark.parametrize(
    ("maker", "flags", "precision", "for_ordering"),
    [
        ("GenuineIntel", "fpu avx512f avx512_bf16 avx512_vnni", "f32", "int8"),
        ("GenuineIntel", "fpu avx512f avx512_bf16", "f32", "f32"),
        ("GenuineIntel", "fpu avx512f avx512_bf16 amx_bf16 amx_tile amx_int8 avx512_vnni", "bf16", "bf16"),
        ("AuthenticAMD", "fpu avx512f avx512_bf16 avx512_vnni", "bf16", "bf16"),
        ("AuthenticAMD", "fpu avx512f avx512_vnni", "f32", "int8"),
        ("AuthenticAMD", "fpu sse2 avx2", "f32", "f32"),
    ],
)
def test_a_processor_computes_in_the_precision_that_it_has_instructions_for(
    maker: str, flags: str, precision: str, for_ordering: str, tmp_path: Path
) -> None:
    described = f"processor\t: 0\nvendor_id\t: {maker}\nflags\t\t: {flags}\nbogomips\t: 4200.00\n"
    (tmp_path / "cpuinfo").write_text(described)
    file = tmp_path / "cpuinfo"
    assert (fastest_precision(file), fastest_precision(file, ordering=True)) == (precision, for_ordering)


def test_a_processor_that_is_not_described_computes_in_single_precision(tmp_path: Path) -> None:
    assert fastest_precision(tmp_path / "absent") == "f32"


def test_a_runtime_that_agreed_is_compared_on_one_text_until_something_of_it_changes(tmp_path: Path) -> None:
    graph = tmp_path / "model.onnx"
    graph.write_bytes(b"weights")
    opened = Runtime("onnx", lambda _: np.zeros((1, 1), dtype=np.float32))

    def compared(*, agree: bool = True) -> int | None:
        counts: list[int | None] = []

        def agrees(model: Runtime, count: int | None) -> bool:
            counts.append(count)
            return agree

        found = first_that_agrees("onnx", tmp_path, {"onnx": lambda: opened}, lambda runtime: runtime, agrees, [])
        assert (found is not None) == agree
        return counts[0]

    assert compared(agree=False) is None
    assert compared() is None
    assert compared() == 1
    graph.write_bytes(b"other weights")
    assert compared() is None
    assert compared() == 1


_OPENED_AT_ONCE = """
import sys, threading
from pathlib import Path
import numpy as np
import openvino
from rag_engine.backends.model_runtime import open_openvino

together, sums = threading.Barrier(6), []

def compute():
    runtime = open_openvino(Path(sys.argv[1]), "f32")
    together.wait()
    sums.append(float(runtime.compute({"input_ids": np.ones((1, 2), dtype=np.int64)}).sum()))

threads = [threading.Thread(target=compute) for _ in range(6)]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(sums)
"""


def test_models_that_are_opened_at_once_do_not_wait_for_each_other(tmp_path: Path) -> None:
    from openvino import Model, Type, opset13, save_model

    ids = opset13.parameter([-1, -1], Type.i64, "input_ids")
    ids.output(0).get_tensor().set_names({"input_ids"})
    file = tmp_path / "model.xml"
    save_model(Model([opset13.convert(ids, "f32")], [ids]), file)
    open_openvino(file, "f32")

    # They did in one of three processes.
    for _ in range(6):
        command = [sys.executable, "-c", _OPENED_AT_ONCE, str(file)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert ended.stdout.strip() == str([2.0] * 6)
