from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.file_names import download_name, place_for, safe_code, slug_of


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("National Flood Strategy 2022", "national-flood-strategy-2022"),
        ("Straße & Überflutung", "strasse-uberflutung"),
        ("Taşkın Yönetim Planı", "taskin-yonetim-plani"),
        ("Værvarsel for Øst", "vaervarsel-for-ost"),
        ("../../etc/passwd", "etc-passwd"),
        ("", "document"),
        ("洪水", "document"),
        (
            "national strategy for the adaptation to climate change and its many consequences",
            "national-strategy-for-the-adaptation-to-climate-change-and",
        ),
    ],
)
def test_slugs(name: str, slug: str) -> None:
    assert slug_of(name) == slug


def test_the_first_name_with_letters_is_taken() -> None:
    assert slug_of("", "洪水", "plan.final") == "plan-final"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("خطة وطنية للحماية", "خطة-وطنية-للحماية"),
        ("洪水 Plan 2022", "洪水-plan-2022"),
        ("?!", "document"),
    ],
)
def test_a_download_is_called_by_its_title_in_its_own_script(title: str, name: str) -> None:
    assert download_name(title) == name


@given(st.text(max_size=300))
def test_a_download_has_a_short_name_without_folders(name: str) -> None:
    called = download_name(name)
    assert 0 < len(called) <= 60
    assert not set(called) & set('/\\:.*?"<>| ')


@given(st.text(max_size=300))
def test_a_slug_is_short_plain_and_never_empty(name: str) -> None:
    slug = slug_of(name)
    assert 0 < len(slug) <= 60
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@given(st.text(max_size=100))
def test_a_code_is_no_path(code: str) -> None:
    kept = safe_code(code)
    assert kept
    assert not set(kept) & set("/\\:\x00")
    assert ".." not in kept
    assert not kept.startswith(".")
    assert len(kept) <= 70


def test_codes_that_are_changed_stay_apart() -> None:
    assert safe_code("ADM001.3") == "ADM001.3"
    assert safe_code("A/1") != safe_code("A:1") != safe_code("A-1")


def test_the_same_content_comes_to_the_same_name_and_another_to_another(tmp_path: Path) -> None:
    first, second = hashlib.sha256(b"1").hexdigest(), hashlib.sha256(b"2").hexdigest()
    place = place_for(tmp_path, "A1", "plan", "pdf", first)
    place.write_bytes(b"1")
    assert place.name == "A1_plan.pdf"
    assert place_for(tmp_path, "A1", "plan", "pdf", first) == place
    assert place_for(tmp_path, "A1", "plan", "pdf", second).name == f"A1_plan_{second[:8]}.pdf"
    assert [path.name for path in tmp_path.iterdir()] == ["A1_plan.pdf"]


def test_what_lies_in_quarantine_is_never_overwritten_by_another_version(tmp_path: Path) -> None:
    first, second = hashlib.sha256(b"1").hexdigest(), hashlib.sha256(b"2").hexdigest()
    downloads, quarantine = tmp_path / "downloads", tmp_path / "quarantine"
    downloads.mkdir()
    quarantine.mkdir()
    (quarantine / "A1_plan.pdf").write_bytes(b"1")
    assert place_for(downloads, "A1", "plan", "pdf", first).name == "A1_plan.pdf"
    assert place_for(downloads, "A1", "plan", "pdf", second).name == f"A1_plan_{second[:8]}.pdf"
