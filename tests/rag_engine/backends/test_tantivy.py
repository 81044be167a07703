import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_engine.backends.rank_bm25 import PaperSparseIndex
from rag_engine.backends.tantivy import TantivyIndex, check_files, open_sparse_index
from rag_engine.errors import WorkspaceError
from rag_engine.text.analyzer import analyse
from tests.rag_engine.backends.conftest import ROWS, found


def test_a_question_finds_other_forms_of_its_words(index: TantivyIndex) -> None:
    assert found(index, "Which cities are flooding?")[0] == 3
    assert found(index, "deprem", "tr") == [7]


def test_a_question_finds_other_languages_only_by_what_all_languages_share(index: TantivyIndex) -> None:
    assert set(found(index, "What must Bologna do before 2030?")) == {1, 4}
    assert 4 not in found(index, "piano gestione", "en")


def test_a_name_in_the_language_of_the_question_is_not_counted_twice(index: TantivyIndex) -> None:
    assert found(index, "2030", "it").count(4) == 1


def test_without_a_language_words_are_found_everywhere_as_written(index: TantivyIndex) -> None:
    assert found(index, "calore citta", "") == [5]
    assert set(found(index, "2030", "")) == {1, 4}


def test_an_exact_phrase_is_found_in_any_language_and_in_this_order_only(index: TantivyIndex) -> None:
    assert found(index, "rischio ALLUVIONI", "en", exact=True) == [4]
    assert found(index, "alluvioni rischio", "it", exact=True) == []
    assert found(index, "flood plan", exact=True) == []


def test_an_exact_acronym_is_not_the_word_it_spells(index: TantivyIndex) -> None:
    assert set(found(index, "WHO", exact=True)) == {2, 5}
    assert found(index, "who live", exact=True) == [3]


@pytest.mark.parametrize(("asked", "key"), [("2021/1119", 2), ("1119", 2), ("§ 73", 6), ("1/CP.21", 6), ("CP.21", 6)])
def test_a_number_is_found_as_it_is_cited(index: TantivyIndex, asked: str, key: int) -> None:
    language = next(row[2] for row in ROWS if row[0] == key)
    assert found(index, asked, language)[0] == key
    assert found(index, asked, "en", exact=True) == [key]


@pytest.mark.parametrize(
    "query", ["", "   ", "?!", "the of and", '"', "a:b AND (", "stems:*", "[2030 TO *]", "+-&&||", "x" * 70000]
)
@pytest.mark.parametrize("exact", [False, True])
def test_nothing_a_person_types_is_syntax_or_an_error(index: TantivyIndex, query: str, exact: bool) -> None:
    assert isinstance(found(index, query, exact=exact), list)


def test_words_that_stand_for_operators_are_only_words(index: TantivyIndex) -> None:
    assert found(index, "NOT heat") == found(index, "heat")


def test_top_k_is_a_limit_and_may_be_zero(index: TantivyIndex) -> None:
    assert len(index.search("flood city plans", "en", 1)) == 1
    assert index.search("flood", "en", 0) == []


def test_an_empty_filter_stays_empty(index: TantivyIndex) -> None:
    assert found(index, "flood", allowed=[]) == []
    assert found(index, "flood", allowed=[999]) == []


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_filter_removes_documents_and_changes_nothing_else(data: st.DataObject, large: TantivyIndex) -> None:
    allowed = data.draw(st.sets(st.integers(0, 60), max_size=60))
    query = " ".join(data.draw(st.lists(st.sampled_from(["flood", "river", "city", "plan", "1999"]), min_size=1)))
    everything = large.search(query, "en", 1000)
    expected = {key: score for key, score in everything if key // 10 in allowed}
    assert dict(large.search(query, "en", 1000, allowed=allowed)) == expected
    few = large.search(query, "en", 7, allowed=allowed)
    assert [score for _, score in few] == sorted(expected.values(), reverse=True)[:7]
    assert dict(few).items() <= expected.items()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> TantivyIndex:
    """Sixty documents of ten children, of words in different numbers."""
    opened = open_sparse_index(tmp_path_factory.mktemp("large"), writable=True)
    opened.add(
        (
            key,
            key // 10,
            "en",
            "flood " * (key % 7) + "river " * (key % 5) + "city " * (key % 11) + f"plan {1990 + key % 40}",
        )
        for key in range(600)
    )
    opened.commit()
    return opened


def test_a_word_is_as_rare_as_it_is_in_its_own_language(folder: Path) -> None:
    common, rare = "Die Prüfung der Klage", "Der Hochwasserschutz der Gemeinde"
    german = [(key, key, "de", common) for key in range(30)] + [(30, 30, "de", rare)]
    english = [(key, key, "en", "Rivers, floods, heat, storms") for key in range(100, 1100)]
    alone = open_sparse_index(folder / "alone", writable=True)
    alone.add(german)
    alone.commit()
    mixed = open_sparse_index(folder / "mixed", writable=True)
    mixed.add(german + english)
    mixed.commit()
    for word in ("Klage", "Hochwasserschutz"):
        [(_, expected), *_], [(_, score), *_] = alone.search(word, "de", 1), mixed.search(word, "de", 1)
        assert score == pytest.approx(expected, rel=0.05)


def test_a_document_is_gone_after_it_was_deleted(index: TantivyIndex) -> None:
    index.delete_documents([1])
    index.commit()
    assert index.keys() == {3, 4, 5, 6, 7}
    assert found(index, "flood") == [3]


def test_a_document_added_again_takes_the_place_of_the_old_one(index: TantivyIndex) -> None:
    index.delete_documents([2])
    index.add([(3, 2, "en", "Landslides follow.")])
    index.commit()
    assert found(index, "landslide") == [3]
    assert 3 not in found(index, "flooded city")


def test_a_word_too_long_for_the_index_does_not_hide_the_others(index: TantivyIndex) -> None:
    index.add([(8, 9, "en", f"Wildfire {'x' * 100_000} smoke"), (9, 9, "en", "y" * 100_000)])
    index.commit()
    assert found(index, "wildfire smoke") == [8]
    assert found(index, "smoke", exact=True) == [8]
    assert {8, 9} <= index.keys()


def test_nothing_is_seen_before_commit(index: TantivyIndex) -> None:
    index.add([(8, 9, "en", "Wildfire")])
    assert found(index, "wildfire") == []
    index.commit()
    assert found(index, "wildfire") == [8]


def test_a_reader_that_was_open_sees_a_later_commit(index: TantivyIndex, folder: Path) -> None:
    reader = open_sparse_index(folder, writable=False)
    assert found(reader, "wildfire") == []
    index.add([(8, 9, "en", "Wildfire")])
    index.commit()
    assert found(reader, "wildfire") == [8]


def test_another_process_writes_after_commit(index: TantivyIndex, folder: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "from rag_engine.backends.tantivy import open_sparse_index\n"
        "index = open_sparse_index(pathlib.Path(sys.argv[1]), writable=True)\n"
        "index.add([(8, 9, 'en', 'Wildfire')])\n"
        "index.commit()\n"
    )
    subprocess.run([sys.executable, "-c", script, str(folder)], check=True, cwd=Path(__file__).parents[3])
    assert found(index, "wildfire") == [8]


def test_a_second_writer_is_told_to_wait(index: TantivyIndex, folder: Path) -> None:
    index.add([(8, 9, "en", "Wildfire")])
    other = open_sparse_index(folder, writable=True)
    with pytest.raises(WorkspaceError, match="written by another") as error:
        other.add([(9, 10, "en", "Drought")])
    assert error.value.retryable
    index.commit()
    other.add([(9, 10, "en", "Drought")])
    other.commit()
    assert found(index, "drought") == [9]


def test_a_reader_does_not_write(index: TantivyIndex, folder: Path) -> None:
    with pytest.raises(WorkspaceError, match="reading only"):
        open_sparse_index(folder, writable=False).delete_documents([1])


def test_a_missing_index_names_its_cure(folder: Path) -> None:
    with pytest.raises(WorkspaceError, match="sextant rebuild"):
        open_sparse_index(folder, writable=False)


@pytest.mark.parametrize("pattern", ["meta.json", "*.term", "*.idx", "*.fast"])
@pytest.mark.parametrize("writable", [False, True])
def test_a_damaged_index_names_its_cure(index: TantivyIndex, folder: Path, pattern: str, writable: bool) -> None:
    for file in folder.glob(pattern):
        file.write_bytes(b"{")
    with pytest.raises(WorkspaceError, match="sextant rebuild"):
        open_sparse_index(folder, writable=writable)
    with pytest.raises(WorkspaceError, match="sextant rebuild"):
        index.keys()


def test_a_list_of_files_that_is_nested_without_end_is_damaged(index: TantivyIndex, folder: Path) -> None:
    (folder / "meta.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(WorkspaceError, match=r"damaged: meta\.json"):
        check_files(folder)


def test_an_index_that_vanishes_while_open_names_its_cure(index: TantivyIndex, folder: Path) -> None:
    shutil.rmtree(folder)
    with pytest.raises(WorkspaceError, match="sextant rebuild"):
        found(index, "flood")


def test_searches_from_many_threads_agree_while_another_writes(index: TantivyIndex) -> None:
    expected = found(index, "heat plans")
    results: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: results.extend(found(index, "heat plans") for _ in range(50))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for key in range(100, 105):
        index.add([(key, key, "it", "Siccità")])
        index.commit()
    for thread in threads:
        thread.join()
    assert len(results) == 200
    assert all(result == expected for result in results)


def _passages(shared: Path, dataset: str) -> Iterator[tuple[int, str]]:
    with (shared / "data/benchmarks" / dataset / "corpus.jsonl").open(encoding="utf-8-sig") as lines:
        for key, line in enumerate(lines):
            yield key, json.loads(line)["text"]


def test_it_ranks_as_rank_bm25_does_on_the_same_terms(folder: Path, shared: Path) -> None:
    rows = [(key, key, "es", text) for key, text in _passages(shared, "xquad/es")]
    ours = open_sparse_index(folder, writable=True)
    oracle = PaperSparseIndex(analyse)
    for index in (ours, oracle):
        index.add(rows)
        index.commit()
    for question in (
        "¿Cuándo se construyó la universidad de Harvard?",
        "desigualdad del oxígeno en la selva amazónica",
    ):
        expected = oracle.search(question, "es", 20)
        order = [key for key, _ in ours.search(question, "es", 40)]
        # Lucene adds 1 inside the logarithm, caps k1 at 1.2 (Okapi 1.5) and stores lengths in one byte, so only
        # children whose scores lie well apart must stand in the same order.
        for position, (better, high) in enumerate(expected):
            for worse, low in expected[position + 1 :]:
                if low < 0.75 * high:
                    assert order.index(better) < order.index(worse)
