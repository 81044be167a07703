from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.web.response import suggested_name


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('attachment; filename="plan.pdf"', "plan.pdf"),
        ("attachment; filename=plan.pdf", "plan.pdf"),
        ("inline; filename=\"a.pdf\"; filename*=UTF-8''D%C3%BCrre.pdf", "Dürre.pdf"),
        ("attachment; filename*=iso-8859-1'en'%A3%20rates.pdf", "£ rates.pdf"),
        ('attachment; filename="=?UTF-8?B?RMO8cnJlLnBkZg==?="', "Dürre.pdf"),
        ('attachment; filename="D%C3%BCrre.pdf"', "Dürre.pdf"),
        ('attachment; filename="100%.pdf"', "100%.pdf"),
        (r'attachment; filename="a \"b\".pdf"', "a _b_.pdf"),
        ('attachment; filename="a;b.pdf"; size=3', "a;b.pdf"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        (r'attachment; filename="C:\\docs\\plan.pdf"', "plan.pdf"),
        ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
        ("attachment; filename*=no-such-charset''a.pdf; filename=b.pdf", "b.pdf"),
        ("attachment", ""),
        ("", ""),
        ('attachment; filename=".."', ""),
    ],
)
def test_the_name_is_decoded_and_safe(disposition: str, name: str) -> None:
    assert suggested_name(disposition) == name


@given(st.text(max_size=200))
def test_any_header_gives_a_safe_name_or_none(text: str) -> None:
    for disposition in (text, f"attachment; filename={text}", f"attachment; filename*=UTF-8''{text}"):
        name = suggested_name(disposition)
        assert "/" not in name
        assert not name.startswith(".")
