"""The date from which an act has effect, stated in its words or in its XML."""

from pathlib import Path

import pytest

from ingestion.extraction.date_of_effect import stated_effect
from ingestion.extraction.properties import read_properties
from tests.ingestion.extraction.formats.law.test_law_xml import AKN, akn, boe, clml, formex, legi


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("This Regulation shall enter into force on 1 July 2021.", "2021-07-01"),
        ("These Beach Regulations come into force on 1st February 2024.", "2024-02-01"),
        ("Entry into force: 1 March 2021\n\nThe fee is 5 euros.", "2021-03-01"),
        ("Dieses Gesetz tritt am 1. Januar 2022 in Kraft.", "2022-01-01"),
        ("Dieses Gesetz tritt am 31. Dezember 2023 außer Kraft.", ""),
        ("Le présent décret entre en vigueur le 1er juillet 2021.", "2021-07-01"),
        ("La presente legge entra in vigore il 1° gennaio 2022.", "2022-01-01"),
        ("La presente ley entrará en vigor el 1 de enero de 2022.", "2022-01-01"),
        ("A presente lei entra em vigor em 1 de janeiro de 2022.", "2022-01-01"),
        ("Bu Yönetmelik 1 Ocak 2022 tarihinde yürürlüğe girer.", "2022-01-01"),
        ("The Convention entered into force on 21 March 1994.", ""),
        ("This Act shall enter into force on the twentieth day after its publication.", ""),
        ("This Act entered into force on 1 May 1999.", ""),
    ],
)
def test_an_act_states_from_when_it_has_effect(text: str, effect: str) -> None:
    assert stated_effect(text, "2015") == effect


EVENT = '<lifecycle><eventRef eId="e1" date="{}" refersTo="{}"/></lifecycle>'
SPACE = 'xmlns:ukm="http://www.legislation.gov.uk/namespaces/metadata"'
COMES = (
    f'<ukm:Metadata {SPACE}><ukm:ComingIntoForce><ukm:DateTime Date="2024-02-01"/></ukm:ComingIntoForce></ukm:Metadata>'
)


@pytest.mark.parametrize(
    ("law", "effect"),
    [
        (boe("").replace("</titulo>", "</titulo><fecha_vigencia>20100101</fecha_vigencia>"), "2010-01-01"),
        (boe('<bloque><version fecha_vigencia="20040123"><p>Uno.</p></version></bloque>'), "2004-01-23"),
        (legi("<p>Oui.</p>"), "2001-01-01"),
        (akn("<body/>", EVENT.format("2015-06-01", "inkrafttreten")), "2015-06-01"),
        (akn("<body/>", EVENT.format("1001-01-01", "inkrafttreten")), ""),
        (akn("<body/>", EVENT.format("2015-06-01", "ausfertigung")), ""),
        (akn("<body/>", '<x><FRBRdate date="2015-06-01" name="entryIntoForce"/></x>'), "2015-06-01"),
        (formex("").replace("<BIB.", '<INFO.CONSLEG START.DATE="20240101"/><BIB.', 1), "2024-01-01"),
        (clml("").replace("<Legislation", '<Legislation RestrictStartDate="2015-04-01"'), "2015-04-01"),
        (clml("", COMES), "2024-02-01"),
        (f'<akomaNtoso xmlns="{AKN}"><act><body/></act></akomaNtoso>', ""),
    ],
)
def test_a_law_as_xml_states_from_when_it_has_effect(tmp_path: Path, law: str, effect: str) -> None:
    (tmp_path / "law.xml").write_text(law, encoding="utf-8")
    assert read_properties(tmp_path / "law.xml").in_force == effect
