from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingestion.extraction.assemble import DraftBlock, assemble
from ingestion.extraction.extract import extract
from ingestion.extraction.formats.text import markdown_blocks, text_blocks
from ingestion.file_reading import ExtractionLimits

SOURCE = "A cross-border, risk-based plan.\n\nEach cross-\nborder plan is risk-\nbased in a catas-\ntrophe.\n"


@pytest.mark.parametrize("blocks", [text_blocks, markdown_blocks])
def test_a_compound_cut_at_its_hyphen_keeps_it_when_the_document_writes_it_so(
    blocks: Callable[[str], Iterator[DraftBlock]],
) -> None:
    text, *_ = assemble(blocks(SOURCE))
    assert text.split("\n\n")[1] == "Each cross-border plan is risk-based in a catastrophe."


def test_what_is_before_a_markdown_text_names_it(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("---\ntitle: 'The Plan'\ndate: 2024-05-06\n---\n\n# Scope\n\nH~2~O rises.\n", encoding="utf-8")
    extracted = extract(path, ExtractionLimits(), None)
    assert extracted.title == "The Plan"
    assert extracted.text == "title: 'The Plan'\ndate: 2024-05-06\n\nScope\n\nH2O rises."
