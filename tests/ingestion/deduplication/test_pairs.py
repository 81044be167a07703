"""Copies, versions and separate works among texts that are nearly alike."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from ingestion.config import DeduplicationConfig
from ingestion.deduplication.find_duplicates import relate
from ingestion.deduplication.pairs import find_differences
from ingestion.deduplication.signatures import ComparedSource
from ingestion.types.outcome import Outcome
from tests.ingestion.deduplication.test_find_duplicates import candidate, relation_of

_VERBS = ("keeps", "inspects", "reports", "publishes", "trains", "funds", "alerts", "restores", "records", "reviews")
_THINGS = ("shelters", "sirens", "dykes", "pumps", "plans", "budgets", "volunteers", "bridges", "wells", "registers")
_WHEN = ("each spring", "within two weeks", "before winter", "on request", "after every alert", "without delay")


def _paragraphs(seed: int = 1, count: int = 48) -> list[str]:
    chance = random.Random(seed)

    def sentence() -> str:
        pick = chance.choice
        acts = " and ".join(f"{pick(_VERBS)} {pick(_THINGS)}" for _ in range(2))
        return f"The {pick(_THINGS)} office {acts} {pick(_WHEN)}"

    return [f"§ {n} {sentence()}, and {sentence()}. {sentence()} near {sentence()}." for n in range(1, count + 1)]


def _source(code: str, text: str, title: str = "Civil protection act", **more: str) -> tuple[ComparedSource, str]:
    return candidate(code, text, title, **{"date": "2009-05-04", **more}), text  # type: ignore[arg-type]


def _relate(*sources: tuple[ComparedSource, str]) -> Mapping[str, Outcome]:
    texts = {one.code: text for one, text in sources}
    return relate([one for one, _ in sources], DeduplicationConfig(), None, texts.__getitem__)


def _amended(paragraphs: list[str]) -> list[str]:
    changed = list(paragraphs)
    changed[10] = "§ 11 Every municipality names a civil protection officer. (Amended by Act 17 of 2023.)"
    changed[30] = "§ 31 The fund pays up to 40,000 euros for each damaged dwelling, from 2023 on."
    return changed


@pytest.mark.parametrize(
    ("former", "newer", "since"),
    [
        ("Consolidated text as at 1 January 2018.", "Consolidated text as at 1 July 2023.", "2023-07-01"),
        ("Stand: 12.3.2018", "Stand: 30.6.2023", "2023-06-30"),
        ("Version en vigueur au 3 mai 2018", "Version en vigueur au 4 juin 2023", "2023-06-04"),
        ("Última reforma publicada DOF 21-12-2018", "Última reforma publicada DOF 5-4-2023", "2023-04-05"),
        ("Testo aggiornato al 2 gennaio 2018", "Testo aggiornato al 9 marzo 2023", "2023-03-09"),
        ("", "", "2023"),
    ],
)
def test_a_newer_consolidation_is_a_version_and_no_copy(former: str, newer: str, since: str) -> None:
    law = _paragraphs()
    outcomes = _relate(
        _source("A", "\n".join([former, *law])),
        _source("B", "\n".join([newer, *_amended(law)])),
    )
    assert (outcomes["B"].status, outcomes["A"].status, outcomes["A"].reason) == ("done", "skipped", "superseded")
    assert relation_of(outcomes["A"]).superseded == since


def test_three_consolidations_are_ordered_by_their_dates() -> None:
    law = _paragraphs()
    twice = _amended(law)
    twice[40] = "§ 41 Sirens are tested on the first Thursday of a month."
    outcomes = _relate(
        _source("B", "\n".join(["As at 1 July 2023", *twice])),
        _source("A", "\n".join(["As at 1 May 2021", *_amended(law)]).replace("2023", "2021")),
        _source("C", "\n".join(["As at 1 June 2018", *law])),
    )
    assert relation_of(outcomes["C"]).superseded == "2021-05-01"
    assert relation_of(outcomes["A"]).superseded == "2023-07-01"
    assert outcomes["B"].status == "done"


def test_a_long_act_of_which_one_paragraph_changed_is_a_version_by_its_date() -> None:
    act = _paragraphs(count=300)
    amended = list(act)
    amended[200] = "§ 201 The fund pays half of what a damaged dwelling is worth, and no more than its owner has lost."
    outcomes = _relate(
        _source("A", "\n".join(act), date="2019-05-01"), _source("B", "\n".join(amended), date="2022-09-15")
    )
    assert (outcomes["B"].status, outcomes["A"].reason) == ("done", "superseded")
    assert relation_of(outcomes["A"]).similarity >= 0.98
    assert relation_of(outcomes["A"]).superseded == "2022-09-15"


def test_a_copy_with_a_wrong_date_stays_a_copy() -> None:
    act = "\n".join(_paragraphs(count=100))
    outcomes = _relate(
        _source("A", act, date="2019-05-01"), _source("B", f"{act}\nPrinted by hand.", date="2022-09-15")
    )
    assert [outcomes[code].status for code in "AB"].count("refused") == 1


def test_two_amended_texts_without_any_order_both_answer() -> None:
    law = _paragraphs()
    changed = list(law)
    changed[5] = "§ 6 Dogs are kept out of every shelter at all times, except those that guide their owners."
    outcomes = _relate(_source("A", "\n".join(law), date=""), _source("B", "\n".join(changed), date=""))
    assert [outcomes[code].status for code in "AB"] == ["done", "done"]


def test_plans_of_two_towns_with_one_title_are_two_works() -> None:
    plan = [paragraph.replace("§ ", "The town of Aix: ") if n % 6 == 0 else paragraph
            for n, paragraph in enumerate(_paragraphs())]  # fmt: skip
    text = "\n".join(plan)
    outcomes = _relate(
        _source("A", f"As at 1 May 2021\n{text}", "Municipal emergency plan", date="2021-05-01"),
        _source("B", f"As at 1 May 2022\n{text}".replace("Aix", "Pau"), "Municipal emergency plan", date="2022-05-01"),
    )
    assert [outcomes[code].status for code in "AB"] == ["done", "done"]


@pytest.mark.parametrize("titles", [("Annual report", "Annual report"), ("Jahresbericht 2021", "Jahresbericht 2022")])
def test_annual_reports_with_shared_pages_are_two_works(titles: tuple[str, str]) -> None:
    pages = _paragraphs()
    other = [*pages[:20], *_paragraphs(7, 6), *pages[26:]]
    outcomes = _relate(
        _source("A", "\n".join(pages) + " In 2021 there were 14 floods.", titles[0], date="2022-03-01"),
        _source("B", "\n".join(other) + " In 2022 there were 9 floods.", titles[1], date="2023-03-01"),
    )
    assert [outcomes[code].status for code in "AB"] == ["done", "done"]


_COVER = "This item was downloaded from the repository. " + " ".join(f"Condition {n} of use applies." for n in range(9))


def test_items_behind_one_cover_page_are_told_apart() -> None:
    cover = _COVER * 40
    one, other = _paragraphs(3, 3), _paragraphs(4, 3)
    outcomes = _relate(
        _source("A", "\n".join([cover, *one]), "Repository"), _source("B", "\n".join([cover, *other]), "Repository")
    )
    assert [outcomes[code].status for code in "AB"] == ["done", "done"]


def test_a_copy_with_a_cover_page_loses_to_the_publisher_s_own() -> None:
    body = "\n".join([*_paragraphs(), "Published by the Flood Office, www.floodoffice.org"])
    outcomes = _relate(
        _source("A", f"{_COVER}\n{body}", url="https://mirror.example.net/plan.pdf", date="2024-02-02"),
        _source("B", body, url="https://docs.floodoffice.org/plan.pdf"),
    )
    assert outcomes["B"].status == "done"
    assert relation_of(outcomes["A"]).duplicate_of == "B"


def test_a_copy_of_equal_content_loses_to_the_publisher_s() -> None:
    body = "\n".join([*_paragraphs(), "WHO guidance. WHO, Geneva."])
    outcomes = _relate(
        _source("A", body, url="https://mirror.example.net/plan.pdf"), _source("B", body, url="https://www.who.int/p")
    )
    assert relation_of(outcomes["A"]).duplicate_of == "B"


def test_a_chosen_seed_does_not_lose_to_a_portal_s_child() -> None:
    body = "\n".join([*_paragraphs(), "Published by the Flood Office, www.floodoffice.org"])
    outcomes = _relate(
        _source("A", f"{body}\nAn appendix.", url="https://docs.floodoffice.org/plan.pdf", parent="PORTAL"),
        _source("B", body, url="https://mirror.example.net/plan.pdf"),
    )
    assert outcomes["B"].status == "done"
    assert relation_of(outcomes["A"]).duplicate_of == "B"


def test_misread_letters_and_other_line_ends_are_no_differences() -> None:
    text = "\n".join(_paragraphs())
    misread = text.replace("volunteers", "volun-\nteers").replace("without delay", "with0ut delay", 1)
    found = find_differences(text, misread.replace("with0ut", "withoul"))
    assert (found.one, found.other, found.contradict) == ((), (), False)


def test_a_figure_that_changed_is_a_difference() -> None:
    found = find_differences("The fund pays 500 euros for a house.", "The fund pays 700 euros for a house.")
    assert (found.one, found.other, found.contradict) == (("500",), ("700",), True)


def test_a_passage_that_was_moved_is_no_difference() -> None:
    paragraphs = _paragraphs()
    moved = [*paragraphs[:5], *paragraphs[6:20], paragraphs[5], *paragraphs[20:]]
    assert not find_differences("\n".join(paragraphs), "\n".join(moved)).contradict
