from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rag_engine.backends.model_runtime import Runtime, fastest_precision, first_that_agrees


@pytest.mark.parametrize(
    ("flags", "precision", "for_ordering"),
    [
        ("fpu avx512f avx512_bf16 avx512_vnni", "f32", "int8"),
        ("fpu avx512f avx512_bf16", "f32", "f32"),
        ("fpu avx512f avx512_bf16 amx_bf16 amx_tile amx_int8 avx512_vnni", "bf16", "bf16"),
        ("fpu sse2 avx2", "f32", "f32"),
    ],
)
def test_a_processor_computes_in_the_precision_that_it_has_instructions_for(
    flags: str, precision: str, for_ordering: str, tmp_path: Path
) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\nbogomips\t: 4200.00\n")
    described = tmp_path / "cpuinfo"
    assert (fastest_precision(described), fastest_precision(described, ordering=True)) == (precision, for_ordering)


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
