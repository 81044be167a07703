"""Run files that other programs read, and that come back as they were."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.retrieval.run_files import read_run
from rag_engine.errors import InputError
from rag_engine.evaluation.trec_runs import escape, writing_run

IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter("-".__ne__)
RANKINGS = st.dictionaries(IDS, st.dictionaries(IDS, st.floats(allow_nan=False), min_size=1, max_size=4), max_size=4)


def test_a_line_has_six_columns_whatever_the_ids(tmp_path: Path) -> None:
    with writing_run(tmp_path / "runs" / "a.run", "my tag") as run:
        run("q 1", [("doc 50%.pdf", 1.5), ("b", 0.25)])
    assert (
        tmp_path / "runs" / "a.run"
    ).read_text() == "q%201 Q0 doc%2050%25.pdf 1 1.5 my%20tag\nq%201 Q0 b 2 0.25 my%20tag\n"


@given(RANKINGS)
def test_a_run_is_read_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, rankings: dict[str, dict[str, float]]
) -> None:
    path = tmp_path_factory.mktemp("runs") / "one.run"
    with writing_run(path, "tag") as run:
        for query, ranking in rankings.items():
            run(query, list(ranking.items()))
    assert read_run(path) == {query: list(ranking.items()) for query, ranking in rankings.items()}


@given(IDS)
def test_an_escaped_id_has_no_white_space(id: str) -> None:
    assert escape(id).split() == [escape(id)]


def test_a_run_that_was_broken_off_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), writing_run(tmp_path / "a.run", "tag"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_is_none_of_a_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 0.5 tag\nq1 d2\n")
    with pytest.raises(InputError, match=r"a\.run, line 2"):
        read_run(tmp_path / "a.run")
