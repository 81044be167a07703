from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.extraction.cleaning import _patterns, clean
from rag_engine.types.document import Block, BlockKind, ExtractedText

SENTENCE = "Every town keeps a plan for floods and droughts."


def extracted(*blocks: str, kind: BlockKind = "text") -> ExtractedText:
    text = "\n\n".join(blocks)
    placed, start = [], 0
    for block in blocks:
        placed.append(Block(start, start + len(block), 1, kind))
        start += len(block) + 2
    return ExtractedText(text, 1, (), tuple(placed), "text/plain")


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "Skip to main content"),
        ("en", "This website uses cookies to ensure you get the best experience."),
        ("en", "© European Union, 1995-2024. All rights reserved."),
        ("en", "Share this page on Facebook and elsewhere"),
        ("de", "Alle Rechte vorbehalten. Nachdruck verboten."),
        ("de", "Jetzt unseren Newsletter abonnieren"),
        ("fr", "Aller au contenu principal"),
        ("fr", "Tous droits réservés - République française"),
        ("it", "Questo sito utilizza i cookie per migliorare i servizi."),
        ("it", "Iscriviti alla nostra newsletter settimanale"),
        ("es", "Todos los derechos reservados 2021"),
        ("es", "Última actualización: 12 de marzo de 2020"),
        ("pt", "Saltar para o conteúdo principal"),
        ("pt", "Política de privacidade e segurança"),
        ("tr", "Tüm hakları saklıdır. 2019"),
        ("tr", "Ana içeriğe geç ve oku"),
        ("no", "Hopp til hovedinnhold nå"),
        ("no", "Alle rettigheter reservert 2020"),
        ("ro", "Toate drepturile sunt rezervate"),
        ("ro", "Utilizăm module cookie pentru a îmbunătăți serviciile"),
        ("", "Zurück zum Seitenanfang"),
    ],
)
def test_what_stands_on_every_page_goes_and_the_sentence_stays(language: str, line: str) -> None:
    assert clean(extracted(line, SENTENCE), language) == SENTENCE


def test_a_law_about_cookies_rights_and_newsletters_is_not_boilerplate() -> None:
    said = (
        "Member States shall ensure that the storing of cookies is only allowed with consent.",
        "The provider reserves all rights that Article 5 does not grant to the user of the service.",
        "Skip to the next step when the siren is not heard within ten minutes of the alarm.",
        "Die Verwaltung kann einen Newsletter herausgeben, wenn die Bürger es verlangen.",
        "Page 12 of the annex lists the rivers that have flooded since the year 1950.",
    )
    for language in ("en", "de", ""):
        assert len(clean(extracted(*said), language).split("\n\n")) == len(said)


def test_short_lines_go_and_short_headings_and_rows_of_tables_stay() -> None:
    assert clean(extracted("Menu entry", SENTENCE), "en") == SENTENCE
    assert clean(extracted("Rivers", kind="heading"), "en") == "Rivers"
    assert clean(extracted("River | Level\nPo | 12", kind="table"), "en") == "River | Level\nPo | 12"


def test_letters_are_made_plain_and_addresses_masked() -> None:
    line = "The ﬁrst  Ｐｌａｎ\u00ad\u200b of 10\u00a0km² is at https://a.org/x, ask jane@a.org."
    assert clean(extracted(line), "en") == "The first Plan of 10 km2 is at [link], ask [email]."


def test_the_analysts_text_stays_as_it_is() -> None:
    original = extracted("Skip to main content", "See https://a.org about the ﬁrst plan.")
    before = original.text
    clean(original, "en")
    assert original.text == before


def test_there_are_patterns_in_nine_languages_and_each_can_be_read() -> None:
    assert set(_patterns()) == {"any", "en", "de", "fr", "it", "es", "pt", "tr", "no", "ro"}
    patterns = [pattern for listed in _patterns().values() for pattern in listed]
    assert len(patterns) >= 100
    for pattern in patterns:
        assert re.compile(pattern).fullmatch(SENTENCE) is None


pieces = st.sampled_from(
    ["a@b.cd", "https://x.yz", "www.", "]", "[link]", " ", "\u00ad", "e\u0301", "ﬁ", "½", "\u00a8", "©", "2020", "word",
     "\u200b", "Skip to content", "all rights reserved", "\ufeff", "\u1100\u1161", "%", "@", ".", "x", "\u00a0", "http://"]
)  # fmt: skip


@given(st.lists(st.lists(pieces | st.text(max_size=8), max_size=12).map("".join), max_size=5), st.booleans())
def test_cleaning_what_is_clean_changes_nothing(lines: list[str], headings: bool) -> None:
    kind: BlockKind = "heading" if headings else "text"
    blocks = [" ".join(line.split()) for line in lines if line.split()]
    once = clean(extracted(*blocks, kind=kind), "en")
    again = clean(extracted(*once.split("\n\n"), kind=kind), "en") if once else clean(extracted(), "en")
    assert again == once
