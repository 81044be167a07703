from __future__ import annotations

import pytest

from ingestion.licence.patterns import read_statements, says_reserved
from ingestion.licence.table import deciding_rule, load_licences
from ingestion.licence.verdict import decide
from ingestion.types import LicenceMark, LicenceVerdict


def verdict(text: str) -> LicenceVerdict:
    return decide(read_statements(text, "footer"))


# Sentences that sound free and are not, or not for this document.
NOT_FREE = """You may not copy this document.
This document may be copied by members only.
Reproduction is authorised only with the prior written consent of the Ministry.
Reproduction is authorised, provided that written permission has been obtained.
Reproduction is hardly ever authorised.
CC BY 4.0 does not apply to this document.
This work is not available under a Creative Commons Attribution 4.0 licence.
Licensed under CC BY 4.0 until 2019; all rights reserved since.
Previously released under CC BY-SA 3.0, now proprietary.
All rights strictly reserved. This work is licensed under CC BY 4.0.
© Crown copyright. Not licensed under the Open Government Licence v3.0.
Our licence: CC BY 4.0. Our rights: all reserved.
Nobody may reproduce this report under CC BY 4.0.
Permission is granted to members to reproduce this publication provided the source is acknowledged.
Reproduction permitted with acknowledgement of source and payment of a fee.
Users may reproduce the report free of charge within their organisation.
This work is in the public domain in the United States but protected elsewhere.
The photographs in this report are licensed under CC BY 2.0.
Cover photo: Jane Doe / Flickr (CC BY 2.0)
Photo by J. Doe. CC BY 2.0
Map data © OpenStreetMap contributors, ODbL
This site's theme is licensed under CC BY 3.0. © 2020 Foo.
Data: Eurostat, CC BY 4.0
Based on Smith et al. (CC BY 4.0).
Our podcasts are licensed under CC BY 4.0.
The World Bank publishes its documents under CC BY 3.0 IGO.
Reuse of treated waste water is permitted provided that the source is monitored.
Riproduzione consentita esclusivamente agli abbonati.
La riproduzione è consentita previo consenso scritto.
Questo sito non è più distribuito con licenza CC BY 4.0.
Se permite la reproducción solo con autorización expresa.
La reproduction est autorisée pour les abonnés.
Reproduction autorisée avec l'accord écrit de l'auteur.
Die Vervielfältigung ist auch mit Quellenangabe nicht gestattet.
Nachdruck nur gegen Quellenangabe und mit Genehmigung gestattet.
Alle Rechte, insbesondere das der Übersetzung und Verbreitung, sind dem Verlag vorbehalten. CC BY 4.0
Dieses Werk ist nicht gemeinfrei.
É permitida a reprodução aos associados, citada a fonte.
Kaynak gösterilse dahi bu yayın çoğaltılamaz.
Gjengivelse er tillatt etter skriftlig avtale.
Overname is toegestaan na schriftelijke toestemming.
Deze website valt niet onder CC BY 4.0.
Material marked CC BY 4.0 may be reproduced; all other material is protected and its reproduction is prohibited.
Some content on this site is licensed under CC BY 4.0.
Selected chapters are available under CC BY 4.0.
The abstract of this article is available under CC BY 4.0.
Comments by users are licensed under CC BY-SA 4.0.
User contributions licensed under cc by-sa 4.0 with attribution required.
Author accepted manuscript may be shared under CC BY-NC-ND 4.0 after an embargo of 12 months.
This article is open access for subscribers; reuse requires a licence from the Copyright Clearance Center.
Click here to license this content under CC BY 4.0.
Submit your work under a CC BY 4.0 licence.
By uploading you agree that your contribution is licensed under CC BY 4.0.
All contributions to this wiki are considered released under CC BY-SA 3.0.
Reproduction of the logo is prohibited. Reproduction of the text is authorised with acknowledgement.
The text may be reproduced with acknowledgement if you have a contract with us.
Free use with attribution requires registration.
May be reproduced with attribution after obtaining approval.
It is illegal to reproduce this document, even if the source is acknowledged.
Reproduction rights reserved. Source must be cited.
Tutti i diritti sono riservati. Uso libero con attribuzione per i partner.
Ogni diritto è riservato; citare la fonte.
Le immagini sono rilasciate con licenza CC BY 4.0; i testi restano di proprietà dell'autore.
I contributi degli utenti sono distribuiti con licenza CC BY-SA 3.0.
È consentita la consultazione, non la riproduzione, dei documenti con citazione della fonte.
Las fotografías de este informe están bajo licencia CC BY 2.0.
Reservados los derechos. Se agradece citar la fuente.
La utilización de los contenidos sin autorización está penada por la ley. Cítese la fuente.
Les photographies de ce rapport sont sous licence CC BY 2.0.
Le contenu de ce site ne peut être reproduit que sur demande. Source à mentionner.
Reproduction soumise à redevance, avec mention de la source.
Toute utilisation est interdite. Données sous Licence Ouverte 2.0.
Die Fotos in diesem Bericht stehen unter CC BY 2.0.
Die Kommentare stehen unter der Lizenz CC BY-SA 3.0.
Vervielfältigungen bedürfen der Genehmigung, die Quelle ist anzugeben.
As fotografias deste relatório estão sob licença CC BY 2.0.
Reprodução sujeita a pagamento, citada a fonte.
Bu rapordaki fotoğraflar CC BY 2.0 lisansı altındadır.
İzin alınmadan kaynak gösterilerek dahi kullanılamaz.
Bildene i denne rapporten er lisensiert under CC BY 2.0.
Innholdet er vernet av åndsverkloven. Kopiering med kildehenvisning krever avtale.
De foto's in dit rapport vallen onder CC BY 2.0.
Op de inhoud rust auteursrecht. Hergebruik met bronvermelding alleen na overleg.
The licence of this document has been revoked; it was CC BY 4.0.
A CC BY 4.0 licence has been requested for this document.
This draft will be released under CC BY 4.0 once approved.
Authors retain copyright under CC BY 4.0 in Frontiers journals.
Public domain is a concept of law.
The trail crosses public domain lands. Documents are available at the office.
All data in the public domain were used in this report.
We used data that are in the public domain.
The report draws on documents in the public domain.
Information already in the public domain is not confidential.""".splitlines()


@pytest.mark.parametrize("text", NOT_FREE)
def test_what_only_sounds_free_is_not_green(text: str) -> None:
    assert verdict(text).light != "GREEN"


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
