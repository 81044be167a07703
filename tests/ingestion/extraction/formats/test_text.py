from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ingestion.extraction.assemble import DraftBlock, assemble
from ingestion.extraction.formats.text import markdown_blocks, text_blocks

SOURCE = "A cross-border, risk-based plan.\n\nEach cross-\nborder plan is risk-\nbased in a catas-\ntrophe.\n"


@pytest.mark.parametrize("blocks", [text_blocks, markdown_blocks])
def test_a_compound_cut_at_its_hyphen_keeps_it_when_the_document_writes_it_so(
    blocks: Callable[[str], Iterator[DraftBlock]],
) -> None:
    text, *_ = assemble(blocks(SOURCE))
    assert text.split("\n\n")[1] == "Each cross-border plan is risk-based in a catastrophe."
