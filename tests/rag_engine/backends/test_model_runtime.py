from __future__ import annotations

from pathlib import Path

import pytest

from rag_engine.backends.model_runtime import fastest_precision


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
