"""Data sets as people hand them in, whole and broken."""

from pathlib import Path

import pytest

from rag_engine.errors import InputError
from rag_engine.evaluation.datasets import Dataset, Split, pool_datasets, read_dataset
from tests.rag_engine.evaluation.conftest import QUESTIONS, TEXTS, WriteDataset


def english(_: str) -> str:
    return "en"


def by_first_word(text: str) -> str:
    return "it" if text.startswith("Il") else "en"


def read(folder: Path, split: Split = "all", queries_from: Path | None = None) -> Dataset:
    return read_dataset(folder, split, identify=english, queries_from=queries_from)


def test_a_dataset_has_its_documents_questions_and_grades(write_dataset: WriteDataset) -> None:
    dataset = read(write_dataset())
    assert [document.id for document in dataset.documents] == list(TEXTS)
    assert dataset.documents[0].whole.startswith("Flood plan\n\nResidents")
    assert dataset.documents[3].whole.startswith("After an earthquake")
    assert [query.text for query in dataset.queries] == list(QUESTIONS.values())
    assert dataset.qrels["q2"] == {"heat": 2, "drought": 0}
    assert (dataset.name, dataset.language, dataset.warnings) == ("plans", "en", ())


def test_the_four_columns_of_trec_are_read(write_dataset: WriteDataset) -> None:
    folder = write_dataset()
    (folder / "qrels.tsv").write_text("q1 0 flood 1\nq3 0 drought 2\n")
    assert read(folder).qrels == {"q1": {"flood": 1}, "q3": {"drought": 2}}


def test_a_split_is_read_from_its_own_files_and_all_joins_them(write_dataset: WriteDataset) -> None:
    folder = write_dataset(split="dev", questions={"q1": QUESTIONS["q1"]}, qrels={("q1", "flood"): 1})
    write_dataset(split="heldout", questions={"q2": QUESTIONS["q2"]}, qrels={("q2", "heat"): 1})
    assert [query.id for query in read(folder, "dev").queries] == ["q1"]
    assert [query.id for query in read(folder, "heldout").queries] == ["q2"]
    assert [query.id for query in read(folder, "all").queries] == ["q1", "q2"]


def test_a_dataset_that_is_not_cut_serves_for_any_split(write_dataset: WriteDataset) -> None:
    assert len(read(write_dataset(), "dev").queries) == 3


def test_a_split_that_is_not_there_is_named_with_those_that_are(write_dataset: WriteDataset) -> None:
    with pytest.raises(InputError, match=r"no queries\.heldout\.jsonl, only queries\.dev\.jsonl"):
        read(write_dataset(split="dev"), "heldout")


def test_questions_of_another_dataset_are_asked_with_the_judgements_of_this_one(write_dataset: WriteDataset) -> None:
    english_one = write_dataset("en")
    italian = write_dataset(
        "it", questions={"q1": "Quando lasciano le case?", "q9": "Chi?"}, qrels={("q1", "flood"): 1}
    )
    dataset = read(english_one, queries_from=italian)
    assert [query.text for query in dataset.queries] == ["Quando lasciano le case?"]
    assert dataset.qrels == {"q1": {"flood": 1}}
    assert "1 questions have no relevant document" in dataset.warnings[0]


def test_every_version_of_a_document_is_relevant_in_a_pool(write_dataset: WriteDataset) -> None:
    pool = pool_datasets([read(write_dataset("en")), read(write_dataset("de"))])
    assert len(pool.documents) == 2 * len(TEXTS)
    assert pool.qrels["q1"] == {"en:flood": 1, "de:flood": 1}
    assert len(pool.queries) == 3
    assert len({document.id for document in pool.documents}) == len(pool.documents)


def test_two_folders_of_one_name_stay_apart_in_a_pool(write_dataset: WriteDataset) -> None:
    one = read(write_dataset())
    pool = pool_datasets([one, one])
    assert pool.qrels["q1"] == {"plans1:flood": 1, "plans2:flood": 1}


def test_the_language_is_told_for_each_document_where_they_differ(write_dataset: WriteDataset) -> None:
    texts = {"a": ("", "Il piano caldo."), "b": ("", "The flood plan."), "c": ("", "Il fiume.")}
    folder = write_dataset(texts=texts, qrels={("q1", "a"): 1})
    dataset = read_dataset(folder, "all", identify=by_first_word)
    assert [document.language for document in dataset.documents] == ["it", "en", "it"]
    assert dataset.language == "mixed"


def test_an_empty_text_is_kept_and_said(write_dataset: WriteDataset) -> None:
    dataset = read(write_dataset(texts={**TEXTS, "blank": (" ", "\n")}))
    assert len(dataset.documents) == 5
    assert "1 documents have no text" in dataset.warnings[0]
    assert "blank" in dataset.warnings[0]


def test_questions_that_nobody_judged_are_left_out_and_said(write_dataset: WriteDataset) -> None:
    dataset = read(write_dataset(qrels={("q1", "flood"): 1, ("q2", "heat"): 0}))
    assert [query.id for query in dataset.queries] == ["q1"]
    assert "2 questions" in dataset.warnings[0]


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("corpus.jsonl", None, r"corpus\.jsonl is missing"),
        ("queries.jsonl", None, r"no queries\.dev\.jsonl or queries\.jsonl"),
        ("qrels.tsv", None, r"no qrels\.dev\.tsv or qrels\.tsv"),
        ("corpus.jsonl", "", "has no document"),
        ("corpus.jsonl", '{"_id": "flood", "text": "a"}\n{"_id": ', r"corpus\.jsonl, line 2: not JSON"),
        ("corpus.jsonl", "[" * 100_000, "line 1: not JSON"),
        ("corpus.jsonl", '["flood"]', "line 1: not a JSON object"),
        ("corpus.jsonl", '{"text": "a"}', "line 1: the field '_id' is missing"),
        ("corpus.jsonl", '{"_id": "a", "text": ["b"]}', "'text' is .'b'., not a text"),
        ("corpus.jsonl", '{"_id": "a"}\n\n{"_id": "a"}', "line 3: the id 'a' was given before"),
        ("queries.jsonl", '{"_id": "q1", "text": "x"}\n{"_id": "q1", "text": "y"}', "line 2: the id 'q1' was given"),
        ("queries.jsonl", '{"_id": "q1", "text": "?!"}', "question 'q1' has no word"),
        ("qrels.tsv", "q1\tflood\t1\nq1\tlava\t1", r"qrels\.tsv, line 2: no document has the id 'lava'"),
        ("qrels.tsv", "q7\tflood\t1", "line 1: no question has the id 'q7'"),
        ("qrels.tsv", "q1\tflood\t-1", "line 1: the grade '-1' is not a whole number from 0 up"),
        ("qrels.tsv", "q1\tflood\tyes", "the grade 'yes'"),
        ("qrels.tsv", "q1\tflood\tinf", "the grade 'inf'"),
        ("qrels.tsv", "q1\tflood", "line 1: 2 columns"),
        ("qrels.tsv", "q1\tflood\t1\nq1\tflood\t2", "line 2: 'q1' and 'flood' have grade 2, before 1"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\tflood\t0", "No question of .* has a relevant document"),
    ],
)
def test_what_is_broken_is_named_with_file_line_and_cure(
    write_dataset: WriteDataset, file: str, content: str | None, said: str
) -> None:
    folder = write_dataset()
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said) as raised:
        read(folder, "dev")
    assert raised.value.help


def test_a_file_in_another_encoding_is_named(write_dataset: WriteDataset) -> None:
    folder = write_dataset()
    (folder / "queries.jsonl").write_bytes('{"_id": "q1", "text": "Überschwemmung"}'.encode("latin-1"))
    with pytest.raises(InputError, match=r"queries\.jsonl is not UTF-8"):
        read(folder)


def test_a_hundred_thousand_questions_are_read(write_dataset: WriteDataset) -> None:
    questions = {f"q{number}": f"question {number}" for number in range(100_000)}
    qrels = {(query, "flood"): 1 for query in questions}
    assert len(read(write_dataset(questions=questions, qrels=qrels)).queries) == 100_000


def test_the_real_data_sets_are_read(shared: Path) -> None:
    dataset = read(
        shared / "data" / "benchmarks" / "xquad" / "en", "dev", shared / "data" / "benchmarks" / "xquad" / "es"
    )
    assert (len(dataset.documents), len(dataset.queries)) == (240, 603)
    assert dataset.name == "en asked by es"
