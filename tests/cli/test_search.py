"""`sextant search` lists and exports all passages with the words, as the Search page does."""

import csv
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from tests.cli.conftest import fixed
from tests.pages.collection import index_files


def run(workspace: Path, *words: object) -> Result:
    return CliRunner().invoke(app, ["search", *map(str, words), "-w", str(workspace)])


def run_json(workspace: Path, *words: object) -> Any:
    return fixed("passages", run(workspace, *words, "--json").stdout)


def test_passages_are_listed_with_marks_and_counts(small_workspace: Path) -> None:
    reply = run_json(small_workspace, "livelli di allerta", "--sort", "relevance")
    first = reply["passages"][0]
    assert (first["file"], first["all_words"], first["rank"]) == ("caldo.md", True, 1)
    assert {first["text"][start:end] for start, end in first["marks"]} == {"livelli", "allerta", "livello"}
    assert first["text"][slice(*first["sentence"])] == "Il piano prevede tre livelli di allerta."
    assert reply["documents"]["held"] == 3
    assert reply["with_all_words"] == 1
    assert reply["total"] >= len(reply["passages"])


def test_as_many_are_shown_as_are_asked_for_and_all_are_counted(small_workspace: Path) -> None:
    reply = run_json(small_workspace, "plan", "--sort", "date", "-k", "1")
    assert len(reply["passages"]) == 1
    assert reply["total"] > 1


def test_only_the_words_and_a_filter_alone(small_workspace: Path) -> None:
    assert run_json(small_workspace, "Talsperren", "--words-only")["total"] == 1
    listed = run_json(small_workspace, "", "--sort", "date", "-f", "year=2000-2025", "-f", "dated=only")
    assert [one["file"] for one in listed["passages"]] == ["caldo.md", "flood.md"]


def test_what_was_searched_stands_beside_the_results(small_workspace: Path) -> None:
    reply = run_json(small_workspace, 'plan* "livelli di', "--sort", "relevance")
    assert reply["searched"] == (
        "Searched for words that begin with “plan” and “livelli di”. "
        "The quotation mark is not closed, so the phrase goes to the end."
    )
    assert reply["warnings"] == ["The quotation mark is not closed, so the phrase goes to the end."]
    assert reply["words_only"]
    assert not run_json(small_workspace, '"livelli di"', "--near")["words_only"]
    assert reply["searched"] in " ".join(run(small_workspace, 'plan* "livelli di', "--sort", "date").stdout.split())


def test_words_anywhere_in_a_document_are_listed(small_workspace: Path) -> None:
    assert run_json(small_workspace, "Piano livelli", "--anywhere")["anywhere"]
    assert "1 document with all of these words" in run(small_workspace, "caldo livelli", "--anywhere").stdout


@pytest.mark.parametrize("options", [[], ["--words-only"]])
def test_a_search_that_only_leaves_words_out_is_refused(small_workspace: Path, options: list[str]) -> None:
    assert "Nothing is left to search for." in run(small_workspace, "NOT heat", *options).stderr


def test_ranked_passages_leave_out_what_a_question_leaves_out(small_workspace: Path) -> None:
    reply = fixed("search", run(small_workspace, "flood -heat", "--json").stdout)
    assert all("heat" not in hit["text"] for hit in reply["hits"])
    assert "without “heat”" in reply["warnings"][0]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ([], {"new.txt": "2021", "old.txt": "2001", "note.txt": "undated"}),
        (["as_of=1990"], {"note.txt": "undated"}),
        (["as_of=2001"], {"old.txt": "2001", "note.txt": "undated"}),
        (["as_of=2021-05-31"], {"old.txt": "2001", "note.txt": "undated"}),
        (["as_of=2021-06-01", "dated=only"], {"new.txt": "2021", "old.txt": "2001"}),
        (["year=2021"], {"new.txt": "2021", "note.txt": "undated"}),
        (["year=2020-", "dated=only"], {"new.txt": "2021"}),
        (["year=1950"], {"note.txt": "undated"}),
        (["dated=only"], {"new.txt": "2021", "old.txt": "2001"}),
    ],
)
def test_a_day_and_a_year_leave_out_what_is_dated_otherwise_and_keep_what_is_undated(
    dated: Path, filters: list[str], found: dict[str, str]
) -> None:
    given = [part for one in filters for part in ("-f", one)]
    listed = CliRunner().invoke(app, ["list", "-w", str(dated), *given]).stdout.splitlines()[1:]
    assert {line.split("\t")[2]: line.split("\t")[4].removesuffix("-06-01") for line in listed} == found
    hits = json.loads(run(dated, "beach fee", "--json", *given).stdout)["hits"]
    assert {hit["file"]: hit["undated"] for hit in hits} == {file: said == "undated" for file, said in found.items()}
    printed = run(dated, "beach fee", "--words-only", *given).stdout
    assert printed.count("undated") == 1 - ("dated=only" in filters)
    answer = CliRunner().invoke(app, ["ask", "What is the beach fee?", "-w", str(dated), *given]).stdout
    assert ("undated" in answer) == ("note.txt" in answer)
    assert "note.txt" not in answer or "dated=only" not in filters


def test_the_date_of_effect_rules_over_that_of_publication(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    text = "# Beach Regulation\n\nAdopted on 3 May 2021.\n\nThe beach fee is 35 euros.\n\n"
    (files / "regulation.md").write_text(f"{text}This Regulation shall enter into force on 1 January 2023.")
    index_files(tmp_path / "workspace", files)
    for day, found in {"1990": False, "2022-06-01": False, "2023-01-01": True, "2023": True}.items():
        hits = json.loads(run(tmp_path / "workspace", "beach fee", "-f", f"as_of={day}", "--json").stdout)["hits"]
        assert bool(hits) == found, day
    by_year = run(tmp_path / "workspace", "beach fee", "-f", "year=2021", "--json").stdout
    assert json.loads(by_year)["hits"]


def test_another_value_of_dated_is_said(dated: Path) -> None:
    assert "Write dated=only, or leave it out." in run(dated, "fee", "-f", "dated=yes").stderr


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with rules of two dates and an undated note."""
    root = tmp_path_factory.mktemp("dated")
    folder = root / "files"
    folder.mkdir()
    for number, (name, date) in enumerate({"old": "2001", "new": "2021-06-01", "note": ""}.items()):
        text = f"Beach rules {name}\n\nThe beach fee of the {name} rules is {10 + number} euros a year."
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
        line = json.dumps({"file": f"{name}.txt", "title": f"Beach rules {name}", "language": "en", "date": date})
        with (folder / "metadata.jsonl").open("a", encoding="utf-8") as described:
            described.write(f"{line}\n")
    index_files(root / "workspace", folder)
    return root / "workspace"


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_all_passages_are_written_into_a_file(small_workspace: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"found{suffix}"
    reply = run_json(small_workspace, "plan", "--export", path, "-k", "1")
    assert reply["path"] == str(path)
    if suffix == ".csv":
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
        assert rows[0][:3] == ["Rank", "Document", "Authority"]
    else:
        assert openpyxl.load_workbook(path).worksheets[0].max_row == reply["total"] + 1
    assert f"{reply['total']} passages" in run(small_workspace, "plan", "--export", path).stdout


def test_the_filter_that_excludes_everything_is_named(small_workspace: Path) -> None:
    result = run(small_workspace, "plan", "--sort", "relevance", "-f", "language=it", "-f", "country=Ireland")
    assert result.exit_code == 0
    printed = " ".join(result.stdout.split())
    assert "No document matches your filters." in printed
    assert "Country Ireland excludes the only document that would match without it." in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "--sort", "colour"], "no order 'colour'"),
        (["plan", "--export", "found.pdf"], "found.pdf names no format"),
        (["", "--sort", "date"], "nothing to search for"),
        (["plan", "--sort", "date", "-f", "hazard=Volcano"], "Flood, Heatwaves"),
        (["plan", "--export", "/nowhere/found.csv"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_cure(small_workspace: Path, words: list[str], message: str) -> None:
    result = run(small_workspace, *words, "--json")
    assert result.exit_code == 2
    assert message in json.loads(result.stdout)["error"]


def test_an_empty_collection_says_so(tmp_path: Path) -> None:
    assert "The collection is empty" in run(tmp_path, "plan", "--sort", "date").stdout


def test_struck_words_are_listed_on_demand(tmp_path: Path) -> None:
    page = "<html lang='en'><h1>Dykes</h1><p>Owners shall inspect dykes every <del>five</del> two years.</p></html>"
    (tmp_path / "by-law.html").write_text(page, encoding="utf-8")
    workspace = tmp_path / "workspace"
    assert CliRunner().invoke(app, ["add", str(tmp_path / "by-law.html"), "-w", str(workspace)]).exit_code == 0
    assert run_json(workspace, "five years", "--words-only")["struck"] == []
    [struck] = run_json(workspace, "five years", "--struck")["struck"]
    assert (struck["before"], struck["text"], struck["after"]) == (
        "Owners shall inspect dykes every",
        "five",
        " two years.",
    )
    assert "Owners shall inspect dykes every [five] two years." in run(workspace, "five years", "--struck").stdout


VERSION = (
    '<version fecha_vigencia="{day}"><p class="articulo">Artículo {number}. {title}.</p>'
    '<p class="parrafo">{text}</p></version>'
)


@pytest.fixture(scope="module")
def statute(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with a statute of which an article has had three wordings."""
    folder = tmp_path_factory.mktemp("statute")
    (folder / "files").mkdir()
    fees = "".join(
        VERSION.format(day=day, number=2, title="Cuantía", text=f"La tasa anual de las playas es de {fee} euros.")
        for day, fee in (("20100201", 20), ("20160101", 27), ("20230101", 35))
    )
    about = VERSION.format(day="20100101", number=1, title="Objeto", text="Esta ley regula el uso de las playas.")
    head = "<metadatos><titulo>Ley de playas</titulo><fecha_vigencia>20100101</fecha_vigencia></metadatos>"
    blocks = f"<bloque>{about}</bloque><bloque>{fees}</bloque>"
    law = f"<response><data>{head}<texto>{blocks}</texto></data></response>"
    (folder / "files" / "ley.xml").write_text(law, encoding="utf-8")
    index_files(folder / "workspace", folder / "files")
    return folder / "workspace"


@pytest.mark.parametrize("question", ["¿Cuál es la tasa anual de las playas?", "¿Qué dice el artículo 2 de la Ley?"])
@pytest.mark.parametrize(
    ("day", "fee", "told"),
    [
        ("", "35", ""),
        ("2024-01-01", "35", ""),
        ("2022", "27", "redacción vigente del 2016-01-01 al 2022-12-31"),
        ("2012-05-05", "20", "redacción vigente del 2010-02-01 al 2015-12-31"),
    ],
)
def test_the_wording_of_the_day_answers_and_says_when_it_was_in_force(
    statute: Path, question: str, day: str, fee: str, told: str
) -> None:
    asked = ["ask", question, "-w", str(statute), *(["-f", f"as_of={day}"] if day else [])]
    answer = " ".join(CliRunner().invoke(app, asked).stdout.split())
    fees = {one for one in ("20", "27", "35") if f"de {one} euros" in answer.replace("**", "")}
    assert fees == {fee}
    assert told in answer
    assert ("redacción vigente" in answer) == bool(told)


def test_a_statute_does_not_answer_for_a_day_before_it(statute: Path) -> None:
    assert "euros" not in CliRunner().invoke(app, ["ask", "tasa", "-w", str(statute), "-f", "as_of=1990"]).stdout


def test_in_a_short_act_the_former_article_answers_beside_the_ones_that_did_not_change(tmp_path: Path) -> None:
    def article(number: int, text: str, period: str = "") -> str:
        return f"<article{period}><num>Article {number}</num><content><p>{text}</p></content></article>"

    fees = "".join(
        article(1, f"The fee for the use of a harbour is {fee} euros a year.", f' period="#g{n}"')
        for n, fee in ((1, 20), (2, 35))
    )
    groups = (
        '<temporalGroup eId="g1"><timeInterval start="#e1" end="#e2"/></temporalGroup>'
        '<temporalGroup eId="g2"><timeInterval start="#e2"/></temporalGroup>'
    )
    days = '<eventRef eId="e1" date="2001-01-01"/><eventRef eId="e2" date="2015-01-01"/>'
    meta = f"<meta><lifecycle>{days}</lifecycle><temporalData>{groups}</temporalData></meta>"
    body = fees + article(2, "Dogs in the harbour are kept on a lead of 2 metres.")
    space = "http://docs.oasis-open.org/legaldocml/ns/akn/3.0"
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "act.xml").write_text(
        f'<akomaNtoso xmlns="{space}"><act>{meta}<body>{body}</body></act></akomaNtoso>', encoding="utf-8"
    )
    index_files(tmp_path / "workspace", tmp_path / "files")

    def answer(question: str, day: str) -> str:
        asked = ["ask", question, "-w", str(tmp_path / "workspace"), "-f", f"as_of={day}"]
        return CliRunner().invoke(app, asked).stdout.replace("**", "")

    fee, dogs = "What is the fee for the use of a harbour?", "How long is the lead of dogs in the harbour?"
    assert "20 euros" in answer(fee, "2005")
    assert "35 euros" not in answer(fee, "2005")
    assert "35 euros" in answer(fee, "2020")
    assert "20 euros" not in answer(fee, "2020")
    assert "2 metres" in answer(dogs, "2005")


def test_a_consolidated_text_answers_from_the_day_in_its_identifier(tmp_path: Path) -> None:
    page = (
        "<html lang='en'><h1>Regulation (EU) 2016/679 on weirs</h1><p>CELEX: 02016R0679-{day}</p>"
        "<h2>Article 1</h2><p>Weirs are opened for {number} days in May.</p></html>"
    )
    (tmp_path / "files").mkdir()
    for day, number in (("20160504", "five"), ("20210301", "nine")):
        path = tmp_path / "files" / f"{day}.html"
        path.write_text(page.format(day=day, number=number), encoding="utf-8")
    index_files(tmp_path / "workspace", tmp_path / "files")
    for day, number in (("2018-01-01", "five"), ("2022-01-01", "nine")):
        found = run_json(tmp_path / "workspace", "weirs opened", "--sort", "date", "-f", f"as_of={day}")
        assert [f"{number} days" in one["text"] for one in found["passages"]] == [True]
