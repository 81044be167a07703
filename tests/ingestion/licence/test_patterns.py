from __future__ import annotations

import pytest

from ingestion.licence.check import decide
from ingestion.licence.patterns import read_statements, says_reserved
from ingestion.licence.table import deciding_rule, load_licences
from ingestion.types.licence import LicenceMark, LicenceVerdict


def verdict(text: str) -> LicenceVerdict:
    return decide(read_statements(text, "footer"))


@pytest.mark.parametrize(
    "text",
    [
        "TÜM HAKLARI SAKLIDIR",
        "BONDY BLOG TOUS DROITS RESERVES Mentions légales",
        "Prohibida su reproducción total o parcial sin autorización.",
        "©RIPRODUZIONE RISERVATA",
        "All rights\nreserved.",
        "All rights re\u00adserved.",
        "No part of this publication may be repro-\nduced without permission.",
    ],
)
def test_reserved_rights_are_seen_through_capitals_missing_accents_and_broken_lines(text: str) -> None:
    assert verdict(text).light == "RED"
    assert says_reserved(text)


def test_a_ban_on_selling_limits_a_permission_and_does_not_contradict_it() -> None:
    text = (
        "Reproduction of this publication for educational or other non-commercial purposes is authorized without prior "
        "written permission provided the source is fully acknowledged. Reproduction for resale or other commercial "
        "purposes is prohibited without prior written permission of the copyright holder."
    )
    found = verdict(text)
    assert (found.light, found.restrictions, found.conflict) == ("GREEN", ("NC",), False)


def test_two_licences_that_allow_different_things_are_a_conflict_and_versions_of_one_agree() -> None:
    found = verdict("This work is licensed under CC BY 4.0.\n\nThis work is licensed under CC BY-NC-ND 4.0.")
    assert (found.light, found.conflict) == ("YELLOW", True)
    assert (
        verdict("This work is licensed under CC BY-SA 4.0.\n\nThis work is licensed under CC BY-SA 3.0.").light
        == "GREEN"
    )


def test_a_person_s_word_wins() -> None:
    person = LicenceMark("person", "GREEN", "CC BY-NC 4.0", 0, "asked the ministry", "review")
    found = decide([*read_statements("All rights reserved.", "footer"), person])
    assert (found.light, found.restrictions) == ("GREEN", ("NC",))


def test_every_mark_quotes_its_sentence_and_says_where_it_stood() -> None:
    mark = read_statements("An introduction. This work is licensed under CC BY 4.0. The end.", "page 2")[0]
    assert (mark.quote, mark.place) == ("This work is licensed under CC BY 4.0.", "page 2")


def test_a_notice_in_the_middle_of_a_long_text_is_found() -> None:
    filler = "The river rose by two metres in a night. " * 5000
    assert verdict(filler + "\n\nAlle Rechte vorbehalten.\n\n" + filler).light == "RED"


@pytest.mark.parametrize("place", [0, 200, 1700, 3400, 3600])
@pytest.mark.parametrize(
    ("statement", "light"),
    [
        ("© 2021 Sample Publishing House. All rights reserved.", "RED"),
        ("This report is licensed under a Creative Commons Attribution 4.0 International License.", "GREEN"),
    ],
)
def test_a_statement_is_read_wherever_it_stands_in_a_long_text(statement: str, light: str, place: int) -> None:
    filler = "The dyke is watched by day and by night when the river rises. " * 60
    text = f"{filler[:place]}\n\n{statement}\n\n{filler[place:]}"
    assert light in {mark.light for mark in read_statements(text, "text")}


def test_what_stands_first_and_last_is_read_of_a_text_that_speaks_of_licences_all_the_time() -> None:
    talk = "The licence of each driver is checked, and copyright is explained in the course on rights. " * 3000
    for text in (f"All rights reserved.\n\n{talk}", f"{talk}\n\nAll rights reserved."):
        assert "RED" in {mark.light for mark in read_statements(text, "text")}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("© 2021 Harbour Institute. All rights reserved.", "rights-reserved en.reserved.1"),
        ("The photographs are © J. Doe, all rights reserved.", "rights-in-a-part en.reserved.1"),
        ("Reproduction is authorised provided the source is acknowledged.", "granted en.granted.1"),
        ("This report is licensed under CC BY 4.0.", "work-licensed"),
        ("© 2020 Ministry of Works", "copyright-notice"),
    ],
)
def test_each_mark_names_the_rows_that_decided(text: str, rule: str) -> None:
    assert rule in [mark.rule for mark in read_statements(text, "page")]


@pytest.mark.parametrize("group", load_licences().rules)
def test_the_last_row_of_a_group_takes_what_is_left(group: str) -> None:
    rules = load_licences().rules[group]
    assert not rules[-1].needs
    assert not rules[-1].unless
    assert deciding_rule(group, lambda _: False) in rules
