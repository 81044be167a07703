from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.deduplication.versions import order_versions, version_of


@pytest.mark.parametrize(
    ("title", "label", "work"),
    [
        ("Flood strategy (draft)", "draft", "flood strategy"),
        ("Flood Strategy, Rev. 2", "rev. 2", "flood strategy"),
        ("A/CONF.224/L.2/Rev.1", "rev. 1", "a conf 224 l 2"),
        ("Heat plan v1.2", "version 1.2", "heat plan"),
        ("Guidelines, second edition", "edition 2", "guidelines"),
        ("Water act, as amended", "updated", "water act"),
        ("Piano caldo (bozza) 2021", "draft", "piano caldo"),
        ("Testo consolidato - Codice della protezione civile", "consolidated", "codice della protezione civile"),
        ("Estrategia de inundaciones (borrador 2)", "draft 2", "estrategia de inundaciones"),
        ("Plan de acción, 2.ª edición", "edition 2", "plan de accion"),
        ("Loi climat, version consolidée", "consolidated", "loi climat"),
        ("Guide des risques, 3e édition révisée", "edition 3 revised", "guide des risques"),
        ("Leitfaden Starkregen, 3., überarbeitete Auflage", "edition 3", "leitfaden starkregen"),
        ("Hochwasserplan (Entwurf)", "draft", "hochwasserplan"),
        ("Plano de contingência, versão final", "final", "plano de contingencia"),
        ("Yangın yönetmeliği taslağı", "draft", "yangin yonetmeligi"),
        ("Flomplan, revidert utgave", "revised", "flomplan"),
        ("Overstromingsplan, herziene versie", "revised", "overstromingsplan"),
        ("National adaptation plan 2016", "2016", "national adaptation plan"),
        ("Rural programme 2021-2027", "2021", "rural programme"),
    ],
)
def test_a_title_tells_its_version_and_its_work(title: str, label: str, work: str) -> None:
    version = version_of(title)
    assert version.label == label
    assert version.work_title == work


@pytest.mark.parametrize(
    "title",
    [
        "Regulation (EU) 2021/1119",
        "FCCC/CP/2015/10/Add.1",
        "Decision 1/CP.21",
        "Report, volume 2",
        "Guide de révision des plans",
        "Projet de territoire",
        "Directive 2009/28/EC",
    ],
)
def test_numbers_of_documents_are_no_versions(title: str) -> None:
    assert version_of(title).label == ""


def test_a_file_name_tells_what_the_title_does_not() -> None:
    assert version_of("Flood plan", "flood-plan_draft.pdf").label == "draft"
    assert version_of("Flood plan", "", "https://example.org/2019/05/flood-plan-rev2.pdf").label == "rev. 2"
    assert version_of("Flood plan", "", "https://example.org/2019/05/flood-plan.pdf").label == ""
    assert version_of("Flood plan (final)", "flood-plan_draft.pdf").label == "final"


def test_a_draft_comes_before_the_text_and_its_revisions_after() -> None:
    titles = ["Plan (draft)", "Plan (draft 2)", "Plan", "Plan, final version", "Plan Rev. 1", "Plan Rev. 2", "Plan v10"]
    ranks = [version_of(title).rank for title in titles]
    assert ranks == sorted(ranks)
    assert version_of("Plan v1.10").rank > version_of("Plan v1.9").rank
    assert version_of("Plan, second edition").rank > version_of("Plan, first edition").rank


def test_versions_are_ordered_by_date_and_then_by_rank_whatever_their_order() -> None:
    members = [
        ("old", version_of("Plan Rev. 3"), "2012-05-01"),
        ("draft", version_of("Plan (draft)"), "2019"),
        ("text", version_of("Plan"), "2019"),
        ("new", version_of("Plan 2022"), ""),
    ]
    for order in permutations(members):
        assert order_versions(order) == ["old", "draft", "text", "new"]


def test_without_every_date_the_rank_decides() -> None:
    members = [("b", version_of("Plan Rev. 2"), ""), ("a", version_of("Plan Rev. 1"), "2019-01-01")]
    assert order_versions(members) == ["a", "b"]


@given(st.text(max_size=200))
def test_any_title_has_a_version(title: str) -> None:
    version = version_of(title, title, title)
    assert version.work_title == version.work_title.strip()
