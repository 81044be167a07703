"""The table of what reads takes the real documents' figures from the committed tables."""

from benchmarks.answers.readers import rows_of
from training.evaluate import WEIGHTS, Figures


def figures(right: float) -> Figures:
    """Return those of a set of two questions, of which the reader gets `right` and likeness none."""
    each = {weight: [right if weight else 0.0] * 2 for weight in WEIGHTS}
    return Figures(first=dict(each), inside=dict(each), ndcg=dict(each))


def test_each_that_reads_has_a_row_and_likeness_stands_where_the_cross_encoder_does_not_know_the_language() -> None:
    english = figures(1.0)
    english.crossed["first"], english.crossed["ndcg"] = [0.5, 0.5], [0.25, 0.25]
    found = {"within a language": [english, figures(0.5)], "across languages": [figures(0.5)]}
    likeness, crossed, read = rows_of(found, quoted_by=0.3, ranked_by=0.2)
    assert likeness[1:3] == ["0.00, 0.000", "0.00, 0.000"]
    assert crossed[1:3] == ["0.25, 0.125", "0.00, 0.000"]
    assert read[1:3] == ["0.75, 0.750", "0.50, 0.500"]
    for row in (likeness, crossed, read):
        assert row[3].count(" of ") == 2
        assert len(row[4].split(", ")) == 3
