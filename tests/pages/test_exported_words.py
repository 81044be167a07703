"""Words of exports in the language of the page that offers them, also once the page is gone."""

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import load_workbook

from ingestion.dataset.export import export
from ingestion.dataset.knowledge_base import knowledge_base_bytes
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import in_this_language
from rag_engine.conversations.store import Turn
from rag_engine.grounding.knowledge import GroundedEntry
from rag_engine.messages import Message
from rag_engine.takeaway.exported_text import export_answer
from rag_engine.takeaway.formats import to_markdown
from tests.pages.conftest import Speak
from tests.rag_engine.conversations.test_store import CITATION
from tests.rag_engine.takeaway.test_docx import ANSWER


@pytest.fixture
def in_french(speak: Speak, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Have a page speak French until the patch is undone."""
    speak("fr")
    return monkeypatch


def written(warnings: tuple[Message, ...] = ()) -> str:
    citation = replace(CITATION, licence="CC BY-NC 4.0", page=3)
    answer = replace(ANSWER, citations=(citation,), warnings=warnings, generator="extractive")
    turn = Turn("Combien de temps ?", "2026-11-24T10:00", answer, rewritten="Combien de temps un plan vaut-il ?")
    return to_markdown(export_answer(turn, WORDING), WORDING)


@pytest.mark.usefixtures("in_french")
@pytest.mark.parametrize(
    "said",
    [
        "24 nov. 2026, 10:00 UTC",
        "Question posée\u202f: Combien de temps un plan vaut-il ?",
        "Citations uniquement",
        "page 3, CC BY-NC 4.0 (pas d’usage commercial)",
        "Recherche par le sens uniquement\u202f: Le réordonnancement est désactivé.",
    ],
)
def test_an_answer_is_exported_in_the_words_of_the_page(said: str) -> None:
    assert said in written(
        (Message("Searched by meaning only: {error}", error=Message("The reranker is switched off.")),)
    ).replace("\\", "")


def test_a_file_is_written_in_the_language_of_the_page_that_offered_it(in_french: pytest.MonkeyPatch) -> None:
    download: Callable[[], str] = in_this_language(written)
    # It is downloaded by the server, outside of any page.
    in_french.undo()
    assert "Citations uniquement" in download()
    assert "Quotations only" in written()


def test_workbooks_explain_themselves_in_the_words_of_the_page(in_french: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entry = GroundedEntry(
        "1", "own", "digue", "", "fr", (), (), "insufficient_evidence", "", (), (), "extractive", (), "2026-11-26"
    )
    base = load_workbook(BytesIO(knowledge_base_bytes([entry], ".xlsx", WORDING))).worksheets[0]
    assert [cell.value for cell in base[1]][:6] == ["Index", "Entrée", "Pages", "Texte", "Références", "Statut"]
    assert [cell.value for cell in base[2]][5:7] == ["preuves insuffisantes", "citations seules"]

    export(tmp_path / "dataset.xlsx", [], words=WORDING)
    book = load_workbook(tmp_path / "dataset.xlsx")
    about = {row[0].value: row[1].value for row in book["À propos"].rows}
    assert about["Policy Title"] == "Le titre propre du document. Vous pouvez la modifier."
    # What is read back stays as it is.
    in_french.undo()
    export(tmp_path / "english.xlsx", [])
    for sheet in ("Dataset", "Not documents", "Exported"):
        rows = [[cell.value for cell in row] for row in book[sheet].rows]
        assert rows == [[cell.value for cell in row] for row in load_workbook(tmp_path / "english.xlsx")[sheet].rows]
