"""The page of measurements, over what is kept with the program and what a workspace measured itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

Start = Callable[..., AppTest]

OWN = """# Ways of chunking on our own documents

| configuration | questions | n | recall |
| --- | --- | --- | --- |
| auto | all | 12 | **0.750** [0.5, 0.9] |

- 2026-11-22; 2 cores.
"""


@pytest.fixture(scope="module")
def page(start: Start, tmp_path_factory: pytest.TempPathFactory) -> AppTest:
    workspace = tmp_path_factory.mktemp("evaluation") / "workspace"
    (workspace / "evaluation").mkdir(parents=True)
    (workspace / "evaluation" / "chunking.md").write_text(OWN, encoding="utf-8")
    return start(workspace).switch_page("pages/evaluation.py").run()


def test_what_the_default_reaches_is_shown_first(page: AppTest) -> None:
    assert not page.exception
    table = page.dataframe[0].value
    assert {"scifact", "legalquad_de"} <= set(table["set"])
    assert "nDCG@10" in table.columns


def test_a_measurement_of_the_workspace_is_chosen_and_shown_without_marks(page: AppTest) -> None:
    [choice] = page.selectbox
    own = next(name for name in choice.options if name.startswith("Ways of chunking on our own documents"))
    assert own.endswith("(this workspace)")
    choice.set_value(choice.options.index(own)).run()
    assert page.dataframe[0].value["recall"].tolist() == ["0.750 [0.5, 0.9]"]
    assert any("2 cores" in caption.value for caption in page.caption)


def test_every_question_is_listed_with_its_passage(page: AppTest) -> None:
    questions = page.dataframe[-1].value
    assert len(questions) == 126
    assert questions["Passage"].str.len().min() > 0
    assert questions["Cross-lingual only"].sum() == 25
