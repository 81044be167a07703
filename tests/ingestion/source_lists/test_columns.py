from __future__ import annotations

import pytest

from ingestion.source_lists.columns import SourceColumns, find_columns
from ingestion.spreadsheets.row import Row


def _rows(*rows: str) -> list[Row]:
    return [Row("S", number, tuple(row.split("|"))) for number, row in enumerate(rows, 1)]


@pytest.mark.parametrize(
    "header",
    [
        "Code|URL|Title|Authority|Notes|Licence",
        "document_code|Web address|Document name|Issuing authority|COMMENTS|License",
        "Codice|Indirizzo web|Titolo|Ente emittente|Note|Licenza",
        "Código|Enlace|Título|Autoridad emisora|Observaciones|Licencia",
        "Identifiant|Lien|Intitulé|Autorité|Remarques|Licence",
        "Kennung|Webadresse|Bezeichnung|Behörde|Bemerkungen|Lizenz",
        "Código|Ligação|Título|Órgão|Observações|Licença",
        "Kod|Bağlantı adresi|Başlık|Kurum|Açıklama|Lisans",
        "Kode|Lenke|Tittel|Myndighet|Merknad|Lisens",
        "Documentcode|Koppeling|Naam|Instantie|Opmerking|Licentie",
        "Doc. ID|Link to the document|Policy title|Name of the authority|Notes / remarks|Licence terms",
        "Code|Web adress|Titel|Authoritiy|Note|Licence",
    ],
)
def test_columns_are_known_by_their_names_in_many_languages(header: str) -> None:
    found = find_columns(_rows(header, "A1|https://a.org/x|A plan|EEA|none|CC BY"))
    assert found.urls == (1,)
    assert (found.code, found.title, found.authority, found.notes, found.licence) == (0, 2, 3, 4, 5)


def test_the_header_is_found_below_titles_that_use_the_same_words() -> None:
    rows = _rows("List of links and sources 2024", "Made by the authority", "Name|Link", "A plan|https://a.org")
    assert find_columns(rows) == SourceColumns((1,), title=0, header=3, names=("Name", "Link"))


def test_source_is_an_address_or_an_authority_by_what_stands_below_it() -> None:
    assert find_columns(_rows("Title|Source", "Plan|https://a.org")).urls == (1,)
    both = find_columns(_rows("Title|Source|URL", "Plan|EEA|https://a.org"))
    assert (both.authority, both.urls) == (1, (2,))


def test_a_link_to_the_licence_or_the_authority_is_no_seed() -> None:
    found = find_columns(_rows("URL|Licence link|Authority website", "https://a.org|https://cc.org|https://eea.org"))
    assert (found.urls, found.licence) == ((0,), 1)


def test_without_a_header_the_columns_with_addresses_count() -> None:
    found = find_columns(_rows("A plan|https://a.org|2020", "Another|https://b.org|2021"))
    assert (found.urls, found.header) == ((1,), 0)


def test_several_address_columns_are_all_kept() -> None:
    assert find_columns(_rows("Name|URL (English)|URL (Italian)", "Plan|https://a.org|https://b.org")).urls == (1, 2)
