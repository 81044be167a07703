"""A pipe, a folder or a device is refused before it is opened: a pipe never ends."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_engine.answering.bundle import read_bundle
from rag_engine.answering.structured.answer_schema import read_schema
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.questions import read_answer_questions


@pytest.mark.parametrize("read", [read_answer_questions, read_bundle, read_schema])
@pytest.mark.parametrize(
    ("make", "said"),
    [(os.mkfifo, "is a pipe"), (Path.mkdir, "is a folder"), (lambda path: path.symlink_to("/dev/zero"), "is a device")],
)
def test_what_is_read_from_a_path_that_a_person_names_is_a_file(
    tmp_path: Path, read: Callable[[Path], object], make: Callable[[Path], object], said: str
) -> None:
    make(tmp_path / "given.json")
    with pytest.raises(InputError, match=rf"given\.json.*{said}"):
        read(tmp_path / "given.json")
