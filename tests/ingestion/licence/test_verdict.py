from __future__ import annotations

from ingestion.licence.check import decide
from ingestion.types import LicenceMark, Light


def mark(light: Light, licence: str, score: float) -> LicenceMark:
    return LicenceMark("pattern", light, licence, score, f"{licence} {score}", "footer")


def test_nothing_is_unclear() -> None:
    assert decide([]).light == "YELLOW"


def test_twenty_points_make_green_and_fewer_do_not() -> None:
    assert decide([mark("GREEN", "CC BY 4.0", 20)]).light == "GREEN"
    assert decide([mark("GREEN", "CC BY 4.0", 15)]).light == "YELLOW"


def test_however_much_speaks_for_it_one_reservation_makes_a_conflict() -> None:
    found = decide([mark("GREEN", "CC BY 4.0", 30), mark("GREEN", "CC BY 4.0", 25), mark("RED", "Reserved", 10)])
    assert (found.light, found.conflict) == ("YELLOW", True)


def test_versions_of_one_licence_agree() -> None:
    assert decide([mark("GREEN", "CC BY-SA 4.0", 25), mark("GREEN", "CC BY-SA 3.0", 25)]).light == "GREEN"


def test_a_person_s_word_wins() -> None:
    person = LicenceMark("person", "GREEN", "CC BY-NC 4.0", 0, "asked the ministry", "review")
    found = decide([mark("RED", "All rights reserved", 25), person])
    assert (found.light, found.restrictions) == ("GREEN", ("NC",))
