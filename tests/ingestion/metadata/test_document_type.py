from __future__ import annotations

import pytest

from ingestion.metadata.quotes import document_text
from ingestion.metadata.rules import guess_types
from tests.ingestion.texts import extracted_from

PROSE = "The river rises in spring. People move their things to the upper floors and wait for the water to go."


def _type(title: str, text: str = PROSE, media_type: str = "application/pdf") -> str:
    return guess_types(title, document_text(extracted_from(text, media_type=media_type), "en"))[0].value


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Guidelines for flood warning", "Guidelines"),
        ("Handbook on the Flood Act", "Guidelines"),
        ("Flood Act", "Law"),
        ("Regulation (EU) 2021/1119 establishing the framework for achieving climate neutrality", "Law"),
        ("Report on the strategy of the ministry", "Report"),
        ("National adaptation strategy", "Framework"),
        ("Piano nazionale di adattamento ai cambiamenti climatici", "Framework"),
        ("Glossary of disaster risk terms", "Glossary"),
        ("Policy brief: heat in cities", "Policy brief"),
        ("Linee guida per i centri storici", "Guidelines"),
        ("Bundes-Klimaschutzgesetz", "Law"),
        ("Afet Yönetimi Stratejisi ve Eylem Planı", "Framework"),
        ("İmar Kanunu", "Law"),
        ("Leitfaden Starkregen", "Guidelines"),
        ("Recomendación sobre la alerta temprana", "Recommendation"),
        ("Lov om kulturminner", "Law"),
        ("Handreiking overstromingsrisico", "Guidelines"),
        ("Relatório de avaliação", "Report"),
        ("Guide d'application de la loi", "Guidelines"),
    ],
)
def test_the_title_gives_the_type_away(title: str, name: str) -> None:
    assert _type(title) == name


@pytest.mark.parametrize(
    "mark", ["Article {}", "Art. {}.", "§ {}", "MADDE {} –", "Artículo {}.", "Artikel {}", "Section {}"]
)
def test_a_text_cut_into_articles_throughout_is_a_law(mark: str) -> None:
    text = "\n\n".join(f"{mark.format(n)} {PROSE}" for n in range(1, 25))
    assert _type("", text) == "Law"


def test_a_treaty_in_the_annex_of_a_report_does_not_make_the_report_a_law() -> None:
    articles = "\n\n".join(f"Article {n}\n\n{PROSE}" for n in range(1, 9))
    text = "# Report of the conference on its third session\n\n" + f"{PROSE}\n\n" * 60 + articles
    assert _type("Report of the conference on its third session", text) == "Report"


def test_a_spreadsheet_is_a_dataset() -> None:
    assert (
        _type("", "Station | Level", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet") == "Dataset"
    )


def test_research_with_abstract_and_references_is_an_academic_paper() -> None:
    cited = "Floods cost lives (Smith, 2001). Levees fail (Jones and Doe, 2010). " * 4
    text = (
        "# Levees and people\n\nJ. Doe, Department of Geography, University of Milltown\n\nAbstract\n\nWe measured.\n\n"
        f"Keywords: levee, flood\n\n{cited}\n\nReferences\n\nSmith, J. 2001. Floods. doi:10.1234/abc"
    )
    assert _type("Levees and people", text) == "Academic paper"


def test_what_nothing_names_is_other() -> None:
    assert _type("The river") == "Other"


def test_verbs_in_prose_are_no_types() -> None:
    assert (
        _type("", "People act, report and guide one another when the water comes, " * 8 + "and they plan.") == "Other"
    )
