"""A small data set on disk, as people hand them in."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

TEXTS = {
    "flood": (
        "Flood plan",
        "Residents within 300 metres of the dyke leave their homes when the gauge passes 4.5 metres.",
    ),
    "heat": (
        "Heat plan",
        "The red level begins when the felt temperature is above 38 degrees for three days in a row.",
    ),
    "drought": ("Drought plan", "Below 40 percent of the reservoirs the watering of lawns is forbidden by day."),
    "quake": ("", "After an earthquake engineers look at every school before the children may go back into it."),
}
QUESTIONS = {
    "q1": "When do residents near the dyke leave their homes?",
    "q2": "From which temperature is it the red level?",
    "q3": "When is the watering of lawns forbidden?",
}
QRELS = {("q1", "flood"): 1, ("q2", "heat"): 2, ("q2", "drought"): 0, ("q3", "drought"): 1}

WriteDataset = Callable[..., Path]


@pytest.fixture
def write_dataset(tmp_path: Path) -> WriteDataset:
    """Write a data set and gives its folder."""

    def write(
        name: str = "plans",
        *,
        texts: Mapping[str, tuple[str, str]] = TEXTS,
        questions: Mapping[str, str] = QUESTIONS,
        qrels: Mapping[tuple[str, str], int] = QRELS,
        split: str = "",
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        corpus = [{"_id": id, "title": title, "text": text} for id, (title, text) in texts.items()]
        asked = [{"_id": id, "text": text} for id, text in questions.items()]
        cut = f".{split}" if split else ""
        _write_lines(folder / "corpus.jsonl", corpus)
        _write_lines(folder / f"queries{cut}.jsonl", asked)
        judged = [f"{query}\t{document}\t{grade}" for (query, document), grade in qrels.items()]
        (folder / f"qrels{cut}.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]), encoding="utf-8")
        return folder

    return write


def _write_lines(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
