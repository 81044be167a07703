"""The table of what the reader adds to likeness."""

from benchmarks.answers.readers import row_of
from training.evaluate import WEIGHTS, Figures


def figures(right: float) -> Figures:
    """Return those of a set of two questions, of which the reader gets `right` and likeness none."""
    each = {weight: [right if weight else 0.0] * 2 for weight in WEIGHTS}
    return Figures(first=dict(each), ndcg=dict(each), likeness=([1.0], [2.0]), reading=([2.0], [1.0]))


def test_a_row_has_the_mean_over_its_sets_for_likeness_alone_and_for_weights_of_the_reader() -> None:
    name, *shown = row_of("both", [figures(1.0), figures(0.5)])
    firsts, gains, told = shown[:4], shown[4:8], shown[8:]
    assert name == "both"
    assert firsts == gains == ["0.000", "0.750", "0.750", "0.750"]
    assert told == ["0.00", "1.00"]
