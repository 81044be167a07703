"""A cell reads as a spreadsheet shows it."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingestion.extraction.number_format import Value, format_value

ACCOUNTING = '_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-'
DAY, AFTERNOON = datetime.datetime(2026, 3, 1), datetime.datetime(2026, 3, 1, 14, 5, 9)
DURATION = datetime.timedelta(hours=30, minutes=15, seconds=3)
# fmt: off
NUMBERS = [
    (0.6530359342, "0%", "65%"), (0.6530359342, "0.00%", "65.30%"), (0.65, "0 %", "65 %"), (65.3, '0" %"', "65 %"),
    (5, "0\\%", "5%"), (1234567.891, "#,##0.00", "1,234,567.89"), (1234567, '0.0,,"M"', "1.2M"),
    (1234567, "#,##0,", "1,235"), (1234567, '0.0,,\\ "million"', "1.2 million"), (1234567, "# ##0", "1234 567"),
    (42, "00000", "00042"), (123456789, "000-00-0000", "123-45-6789"), (41123456, "0000 000 000", "0041 123 456"),
    (0.5, "0", "1"), (2.675, "0.00", "2.68"), (0.5, "#.##", ".5"), (5, "0.##", "5"), (12.5, '0.0"°C"', "12.5°C"),
    (12345678, "0.00E+00", "1.23E+07"), (12345678, "##0.0E+0", "12.3E+6"), (0.00012, "0.0E+00", "1.2E-04"),
    (1.5, "# ?/?", "1 1/2"), (0.25, "?/?", "1/4"), (2, "# ?/?", "2"), (0.5, "# ?/4", "2/4"),
    (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"), (1234.5, "#,##0.00\\ [$₺-41F]", "1,234.50 ₺"),
    (65.30359342, "General", "65.30359342"), (0.1 + 0.2, "General", "0.3"), (12.0, "General", "12"),
    (True, "0", "TRUE"), (4006381333931, "General", "4006381333931"), (-5, 'General" m"', "-5 m"), (12, "@", "12"),
]
SECTIONS = [
    (-5, "0", "-5"), (-0.3, "0", "0"), (-5, "0;(0)", "(5)"), (-1234.5, "#,##0.00_);[Red](#,##0.00)", "(1,234.50)"),
    (1234.5, ACCOUNTING, "1,234.50 €"), (-1234.5, ACCOUNTING, "-1,234.50 €"), (0, ACCOUNTING, "- €"),
    (0, '0;-0;"none"', "none"), (0, "0;-0;;@", ""), (5, ";;;", ""), (-5, "▲0;▼0", "▼5"), (5, "+0;-0;0", "+5"),
    (1500, '[>=1000]0.0,"k";0', "1.5k"), (500, '[>=1000]0.0,"k";0', "500"), (-5, "[<0](0);0", "(5)"),
]
TEXTS = [
    ("007", "0", "007"), ("1e5", "General", "1e5"), ("a", "@", "a"), ("a", '0;0;0;"<"@">"', "<a>"), (None, "0", ""),
]
DATES = [
    (DAY, "dd.mm.yyyy", "01.03.2026"), (DAY, "d mmmm yyyy", "1 March 2026"),
    (DAY, "[$-407]d. mmmm yyyy", "1. März 2026"),
    (DAY, "mm-dd-yy", "2026-03-01"), (DAY, "mmm-yy", "Mar-26"), (DAY, "yyyy", "2026"), (DAY, "General", "2026-03-01"),
    (DAY, "dddd", "Sunday"), (datetime.datetime(1848, 3, 15), "dd/mm/yyyy", "15/03/1848"),
    (AFTERNOON, "h:mm AM/PM", "2:05 PM"), (AFTERNOON, "yyyy-mm-dd hh:mm", "2026-03-01 14:05"),
    (AFTERNOON.time(), "h:mm:ss", "14:05:09"), (DURATION, "[h]:mm", "30:15"), (DURATION, "[h]:mm:ss", "30:15:03"),
    (datetime.timedelta(minutes=90), "[mm]:ss", "90:00"), (datetime.timedelta(hours=-1), "[h]:mm", "-1:00"),
]
# fmt: on


@pytest.mark.parametrize(("value", "code", "shown"), [*NUMBERS, *SECTIONS, *TEXTS, *DATES])
def test_a_value_is_shown_as_its_format_says(value: Value, code: str, shown: str) -> None:
    assert format_value(value, code) == shown


@given(
    st.text(st.sampled_from(' #0?.,%/E+-;@"[]<>=$_*ymdhs\\AP:1'), max_size=30),
    st.one_of(st.floats(), st.integers(), st.datetimes(), st.times(), st.timedeltas(), st.booleans()),
)
@example("0.00", 1e300)
@example("?/?", float("inf"))
def test_no_format_stops_the_reading(code: str, value: Value) -> None:
    assert isinstance(format_value(value, code), str)


@given(st.text(st.sampled_from(' #0?.,%/E+-"[]<>=$_*ymdhs:1'), max_size=30))
def test_no_format_without_a_part_for_texts_changes_a_text(code: str) -> None:
    assert format_value("Kelm", code) == "Kelm"
