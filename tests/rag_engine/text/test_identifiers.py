"""Identifiers are recognised in any spacing, join versions of a work, and keep its corrigenda apart."""

import pytest

from rag_engine.text.identifiers import find_identifiers, read_identifier, stated_identifiers, work_place

GDPR = ("32016R0679", "02016R0679-20160504", "http://data.europa.eu/eli/reg/2016/679/oj")


@pytest.mark.parametrize(
    ("written", "kind", "value"),
    [
        ("32016R0679", "CELEX", "32016R0679"),
        ("CELEX: 32016r0679", "CELEX", "32016r0679"),
        ("62019CJ0311", "CELEX", "62019CJ0311"),
        ("BOE-A-2015-10565", "BOE", "BOE-A-2015-10565"),
        ("NOR : JUSC1234567D", "NOR", "JUSC1234567D"),
        ("ECLI:EU:C:2020:559", "ECLI", "ECLI:EU:C:2020:559"),
        ("urn:nir:stato:legge:1941-04-22;633", "URN", "urn:nir:stato:legge:1941-04-22;633"),
        ("/akn/it/act/legge/stato/1941-04-22/633", "Akoma Ntoso", "/akn/it/act/legge/stato/1941-04-22/633"),
        ("/us/usc/t9", "USLM", "/us/usc/t9"),
        ("A/RES/70/1", "UN", "A/RES/70/1"),
        ("A / RES / 70 / 1", "UN", "A/RES/70/1"),
        ("FCCC / CP / 2015 / 10 / Add. 1", "UN", "FCCC/CP/2015/10/Add.1"),
        ("E/CN.4/2005/1", "UN", "E/CN.4/2005/1"),
        ("S/RES/1325 (2000)", "UN", "S/RES/1325 (2000)"),
        ("COM (2020) 123 final", "COM", "COM (2020) 123 final"),
    ],
)
def test_an_identifier_is_read_however_it_is_spaced(written: str, kind: str, value: str) -> None:
    found = read_identifier(written)
    assert found is not None
    assert (found.kind, found.value) == (kind, value)


@pytest.mark.parametrize("text", ["and/or 1", "ISO/IEC 27001", "24/7", "TCP/IP/UDP", "Flood plan", "2016/679", ""])
def test_other_words_are_no_identifier(text: str) -> None:
    assert read_identifier(text) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *((GDPR[0], other) for other in GDPR[1:]),
        ("http://data.europa.eu/eli/reg/2016/679/oj/eng", "http://data.europa.eu/eli/reg/2016/679/2016-05-04"),
        (
            "/akn/it/act/legge/stato/1941-04-22/633/ita@2021-12-14/!main",
            "/akn/it/act/legge/stato/1941-04-22/633/ita@2024-11-15",
        ),
        ("urn:nir:stato:legge:1941-04-22;633", "urn:nir:stato:legge:1941-04-22;633!vig=2021-12-14"),
        ("eli/id/1941/07/16/041U0633/CONSOLIDATED/20211214", "eli/id/1941/07/16/041U0633/ORIGINAL"),
        ("eli/bund/bgbl-1/2025/145", "eli/bund/bgbl-1/2025/145/2025-06-17/1/deu"),
        ("http://data.finlex.fi/eli/sd/2024/123/alkup/fin", "http://data.finlex.fi/eli/sd/2024/123/ajantasa/20250101"),
        ("http://www.legislation.gov.uk/id/ukpga/2018/12", "http://www.legislation.gov.uk/ukpga/2018/12/2020-01-01"),
        ("E/CN.4/2005/1", "E/CN.4/2005/1/Rev.2"),
    ],
)
def test_versions_share_their_work(one: str, other: str) -> None:
    assert work_place([one]).is_version_with(work_place([other]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("32016R0679", "32016R0680"),
        ("32016R0679", "32016L0679"),
        ("FCCC/CP/2015/10", "FCCC/CP/2015/10/Add.1"),
        ("A/RES/70/1", "A/RES/70/10"),
        ("http://www.legislation.gov.uk/ukpga/2018/12", "http://www.legislation.gov.uk/ukpga/2018/12/section/5"),
        ("https://www.boe.es/eli/es/lo/2018/12/05/3/con", "https://www.boe.es/eli/es/lo/2018/12/05/4/con"),
    ],
)
def test_other_works_and_parts_of_a_work_do_not(one: str, other: str) -> None:
    assert not work_place([one]).is_version_with(work_place([other]))


@pytest.mark.parametrize(
    ("corrigendum", "act"),
    [
        ("32016R0679R(02)", "32016R0679"),
        ("http://data.europa.eu/eli/reg/2016/679/corrigendum/2018-05-23/oj", "02016R0679-20160504"),
        ("A/70/1/Corr.1", "A/70/1"),
    ],
)
def test_a_corrigendum_is_no_version_of_what_it_corrects(corrigendum: str, act: str) -> None:
    assert not work_place([corrigendum]).is_version_with(work_place([act]))
    assert work_place([corrigendum]).is_corrigendum_of(work_place([act]))


def test_a_version_has_its_day_or_its_revision() -> None:
    days = [work_place([one]).date for one in ("02016R0679-20160504", "/akn/it/act/1941/633/ita@2021-12-14")]
    assert days == ["2016-05-04", "2021-12-14"]
    assert work_place(["E/CN.4/2005/1/Rev.2"]).revision == 2


def test_articles_of_one_text_are_no_versions_of_each_other() -> None:
    one, other = (["LEGIARTI000006419320", "JUSC1234567D"], ["LEGIARTI000006419321", "JUSC1234567D"])
    assert not work_place(one).is_version_with(work_place(other))


def test_the_head_of_a_document_states_its_own_identifiers_and_cites_others() -> None:
    lines = [
        "02016R0679 — EN — 04.05.2016 — 000.002 — 1",
        "ELI: http://data.europa.eu/eli/reg/2016/679/oj",
        "cve: BOE-A-2018-16673",
        "FCCC/CP/2015/10 Distr.: General",
        "United Nations A/RES/70/1",
        "Having regard to A/RES/70/2,",
        "A/RES/70/3 was adopted in 2015.",
        "JUSC1234567L",
    ]
    assert stated_identifiers(lines) == [
        "02016R0679-20160504", "http://data.europa.eu/eli/reg/2016/679/oj", "BOE-A-2018-16673", "FCCC/CP/2015/10",
        "A/RES/70/1",
    ]  # fmt: skip


def test_identifiers_are_found_in_a_question() -> None:
    found = find_identifiers("How do A / RES / 70 / 1, urn:nir:stato:legge:1941-04-22;633 and 32016R0679 differ?")
    assert [one.identifier.value for one in found] == [
        "A/RES/70/1", "urn:nir:stato:legge:1941-04-22;633", "32016R0679",
    ]  # fmt: skip
