from __future__ import annotations

import pytest

from ingestion.extraction.layout.hyphenation import join_lines, vocabulary_of


@pytest.mark.parametrize(
    ("first", "second", "whole"),
    [
        ("die Katastrophen-", "hilfe", "die Katastrophenhilfe"),
        ("Katas\u00ad", "trophe", "Katastrophe"),
        # As it is written elsewhere in the document.
        ("an economy-", "wide target", "an economy-wide target"),
        # What stands for the rest of a compound, a name, a dash.
        ("Haus-", "und Hofschutz", "Haus- und Hofschutz"),
        ("Baden-", "Württemberg", "Baden-Württemberg"),
        ("the plan -", "a law", "the plan - a law"),
    ],
)
def test_a_word_cut_at_the_line_end_is_made_whole_and_other_hyphens_stay(first: str, second: str, whole: str) -> None:
    lines = join_lines([(first, None), (second, None)], vocabulary_of(["the economy-wide plan"]))
    assert "".join(line.text + line.joint for line in lines).strip() == whole
