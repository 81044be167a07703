"""Sentences end where a reader would end them, in seven languages, and their offsets are exact."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.text.sentences import LONGEST_SENTENCE, sentence_spans

# A double bar stands where a sentence ends; taking the bars out gives the text.
BOUNDARIES = {
    "en": [
        "The Union shall act under Art. 5 of Regulation (EU) 2021/1119. ‖It entered into force on 29 July 2021.",
        "See Reg. (EU) 2018/1999 and Dir. 2007/60/EC. ‖Both apply.",
        "The U.S. Government joined in Jan. 2021. ‖It had left the U.S. ‖The delay was costly.",
        "Smith v. Jones was decided on appeal, cf. Brown vs. Board. ‖The court agreed.",
        "Hazards, e.g. Floods and i.e. Storms, are listed in para. 12. ‖Others are not.",
        "Wildfires, heatwaves, etc. are covered. ‖Floods, storms, etc. ‖Other hazards are in Annex A. ‖Members decide.",
        "Losses grew by approx. 3.5 per cent (see Fig. 2). ‖That is more than in 2019. ‖Nobody expected it.",
        "Dr. J. R. Smith and Prof. Lee et al. (2019) disagree. ‖“We do not.” ‖They wrote it twice.",
        "He asked: “Is it safe?” ‖Nobody answered! ‖Then the dam broke.",
        "5.2.1. Scope of the plan. ‖5.2.2. Definitions used here.",
        "The measures are:\n‖(a) early warning;\n‖(b) evacuation; and\n‖(c) shelter.",
        "Priorities:\n‖• Governance of risk\n‖• Understanding of risk\n‖• Investment",
        "Adopted by decision No. 4, pp. 12-14. ‖(The text is annexed.) ‖Parties may comment.",
        "The plan … was revised... ‖It was not published. ‖“[...] The rest is known.”",
        "The Parties took note of the report.12 ‖The Board met at 5 p.m. on Friday.",
        "The limit is 1.5 °C. ‖2050 is the target year. ‖Is it enough?",
        "The rule applies under Article\n(2) of the Act and in section\n5.2.1 Scope included.",
        "III. Examinations and [Docket No. FAA-2020-0686; FR Doc. 2020-17221] follow. ‖IV. Courses.",
        "The U.N. Secretary-General spoke. ‖Mr. A. Guterres repeated: act now.",
    ],
    "it": [
        "Si applica l'art. 5 del D.Lgs. 1/2018. ‖Il Sindaco adotta il piano.",
        "La legge n. 225 del 1992, cfr. L. n. 100/2012, è abrogata. ‖Restano salvi gli effetti.",
        "Vedi G.U. n. 17 del 22 gennaio. ‖L'articolo è stato modificato.",
        "Ai sensi dell'art. 360 c.p.c. ‖Il ricorso è respinto.",
        "Il Sig. Rossi e la Dott.ssa Bianchi hanno firmato. ‖Nessuno ha obiettato.",
        "Gli artt. 2 e 3 valgono (v. pag. 12). ‖Tutti i Comuni sono obbligati.",
        "Incendi, frane, ecc. sono rischi naturali. ‖Le alluvioni pure.",
        "Il D.P.C.M. 27 febbraio 2004 definisce le allerte, p. es. Quella arancione. ‖Essa è diffusa.",
        "Come previsto dalla lett. b), co. 3, sez. II. ‖La Regione provvede.",
        "Il Prof. G. Grandori disse: «La prevenzione costa meno.» ‖Nessuno ascoltò.",
        "I soggetti sono:\n‖a) lo Stato;\n‖b) le Regioni;\n‖c) i Comuni.",
        "L’aumento è stato del 3,5% nel 2019. ‖2020 e 2021 sono stati peggiori.",
        "È vero? ‖Sì! ‖Così è deciso.",
        "1. La protezione civile è un servizio nazionale. ‖2. Le componenti sono elencate di seguito.",
        "Il Reg. (UE) 2021/1119 e la Dir. 2007/60/CE sono citati. ‖Non sono allegati.",
        "L'art. 3 della l. cost. 23 gennaio 2001, n. 2, e la L.cost. 8 ottobre 2019 valgono. ‖Nient'altro.",
        "– Prima fase\n‖– Seconda fase\n‖– Terza fase",
        "Lo prevede il Titolo II. ‖Le funzioni del Presidente seguono. ‖Esso rappresenta l'unità nazionale.",
    ],
    "fr": [
        "Selon l'art. 3, al. 2, le maire agit. ‖Le préfet l'assiste.",
        "M. Dupont et Mme Durand ont signé. ‖MM. Petit et Roux s'abstiennent.",
        "Les aléas (p. ex. Inondations) sont cartographiés. ‖L’État finance.",
        "En vertu de l’article L.131-1 du code, le SCoT est compatible. ‖Il est révisé.",
        "Voir p. 12 et chap. IV. ‖Les annexes sont jointes.",
        "Le Dr. Martin, cf. Rapport 2019, le confirme. ‖Personne ne le nie.",
        "« Il faut agir. » ‖La salle applaudit.",
        "Qui décide ? ‖Le conseil ! ‖Et il vote.",
        "Les crues, séismes, etc. sont couverts. ‖Les autres non.",
        "Le J.O. du 3 mars le publie. ‖L'arrêté suit.",
        "Les objectifs sont :\n‖- éviter ;\n‖- réduire ;\n‖- compenser.",
        "a) Définitions ;\n‖b) Principes ;\n‖c) Mesures.",
        "La hausse est de 1.5 degré… ‖Elle continue.",
        "La loi no. 2004-811 du 13 août 2004 s'applique. ‖C'est la règle.",
        "3.2.1. Le plan communal. ‖3.2.2. Le plan départemental.",
        "Le règl. (UE) 2021/1119 a été adopté en 2021. ‖Il vise 2050.",
        "J.-P. Martin et A. B. Leroy ont écrit ce guide. ‖On le lit encore.",
    ],
    "es": [
        "Se aplica el art. 5 de la Ley 17/2015. ‖El Estado coopera.",
        "Véase el núm. 12, pág. 34. ‖La norma sigue vigente.",
        "El Sr. Pérez y la Sra. Gómez firmaron. ‖Nadie se opuso.",
        "Publicado en el B.O.E. núm. 164 de 10 de julio. ‖Entró en vigor en 2016.",
        "Los riesgos, p. ej. Inundaciones, se evalúan. ‖Además se publican.",
        "Los EE. UU. Firmantes del acuerdo pagan. ‖Cuba no es de EE. UU. ‖La isla tampoco paga.",
        "El art. 3.º dispone otra cosa. ‖Se deroga el apdo. 2 del art. 4.º ‖Los demás quedan.",
        "¿Quién decide? ‖¡El Consejo! ‖Así consta.",
        "«Hay que actuar.» ‖La sala aplaudió.",
        "Incendios, sequías, etc. son frecuentes. ‖Los sismos no.",
        "El R.D. 407/1992 lo regula, cfr. Anexo II. ‖El Gobierno lo desarrolla.",
        "Las partes son:\n‖a) el Estado;\n‖b) las comunidades;\n‖c) los municipios.",
        "21. \nInvita al Órgano a que informe. ‖22. \nPide a la secretaría que elabore un manual.",
        "Subió un 3,5 % en 2019. ‖2020 fue peor.",
        "El Dr. J. L. García, Prof. de la U.N.A.M., lo dijo. ‖Ud. lo sabe.",
        "El Reg. (UE) 2021/1119, cap. II, es claro. ‖No admite dudas.",
        "• Alerta temprana\n‖• Evacuación\n‖• Refugio",
    ],
    "de": [
        "Nach Art. 20a GG i. V. m. § 5 Abs. 2 Nr. 3 ZSKG gilt dies. ‖Der Bund handelt.",
        "Die Sitzung fand am 3. Mai 2021 statt. ‖Das Protokoll folgt.",
        "Im 19. Jahrhundert, z. B. Anno 1872, gab es Sturmfluten. ‖Sie kosteten Leben.",
        "Die Länder bzw. Gemeinden zahlen, vgl. S. 12 f. der Begründung. ‖Das ist neu.",
        "Fußnote: Eingef. durch Art. 1 Nr. 2 G v. 28.6.1993 I 1002. ‖Die Fassung gilt.",
        "Hr. Müller und Dr. Weiß (Bd. 3, Rn. 7) sind dafür. ‖Fr. Schmidt nicht.",
        "Das gilt für Feuerwehren, Rettungsdienste usw. ‖Die Kosten trägt das Land.",
        "Die EU-VO Nr. 2021/1119 ist bindend, d. h. Sie gilt unmittelbar.",
        "Siehe Absatz 3. ‖Artikel 5 bleibt unberührt. ‖Er ist älter.",
        "Die Zahl stieg auf 12. ‖Die Kommission war überrascht. ‖Warum?",
        "„Wir müssen handeln.“ ‖Der Saal schwieg.",
        "Gem. BGBl. I S. 2350 ist das ZSKG i. d. R. Landessache. ‖Es wurde 2009 geändert.",
        "Zuständig sind:\n‖1. die Länder,\n‖2. die Kreise,\n‖3. die Gemeinden.",
        "Der Wert betrug 3,5 Mio. Euro im Jahr 2019. ‖2020 sank er.",
        "Prof. Dr. H.-J. Papier und A. B. Meier widersprachen... ‖Niemand folgte ihnen.",
        "Am Montag, dem\n3. Mai, tagte der Rat unter Nummer\n(2) Satz 1. ‖Er vertagte sich.",
        "Das gilt ggf. Auch für Anlagen (s. Abb. 4). ‖Ausnahmen regelt Anl. IV. ‖Weitere gibt es nicht.",
        "– Vorsorge\n‖– Abwehr\n‖– Wiederaufbau",
    ],
    "pt": [
        "Nos termos do art. 18 desta Lei, cabe recurso. ‖O prazo é de dez dias.",
        "Art. 10. O legítimo interesse poderá fundamentar o tratamento. ‖Não se aplica ao inc. II.",
        "§ 1º Quando o tratamento for necessário, avisa-se. ‖§ 2º O controlador deverá adotar medidas.",
        "O art. 3º. ‖A lei entra em vigor hoje.",
        "O Sr. Silva e a Dra. Costa assinaram. ‖Ninguém se opôs.",
        "Publicado no D.O.U. de 15.8.2018. ‖Foi retificado depois.",
        "Riscos, p. ex. Inundações, são avaliados. ‖Os resultados são públicos.",
        "Ver pág. 12, cap. IV. ‖As tabelas estão em anexo.",
        "Secas, incêndios, etc. são comuns. ‖Os sismos não.",
        "Quem decide? ‖O Conselho! ‖Assim foi.",
        "«É preciso agir.» ‖A sala aplaudiu.",
        "I - apoio às atividades; e\n‖II - proteção do titular.",
        "São princípios:\n‖a) finalidade;\n‖b) adequação;\n‖c) necessidade.",
        "Subiu 3,5% em 2019. ‖2020 foi pior.",
        "O Dec. n. 7.257, de 4 de agosto de 2010, dispõe o contrário. ‖Ele foi revogado.",
        "O Prof. J. A. Souza, cf. Relatório 3, concorda... ‖Mas nem todos.",
        "O Reg. (UE) 2021/1119 é claro. ‖Não há dúvida. ‖V. Exa. decidirá.",
    ],
    "tr": [
        "5510 sayılı Kanunun 3. maddesi uygulanır. ‖Bu hüküm kesindir.",
        "Bkz. Madde 5, s. 12. ‖Ayrıca ek tabloya bakılır.",
        "Afetler 19. yüzyılda da görülmüştür. ‖Ancak kayıt azdır.",
        "2. Bölüm riskleri anlatır. ‖Her ilçe için plan vardır.",
        "(Değişik: 13/4/1983-2814/5 md.) Kat malikine belge verilir. ‖Bunun süresi bir aydır.",
        "Dr. Ayşe Yılmaz ve Prof. Dr. M. Kaya imzaladı. ‖Kimse karşı çıkmadı.",
        "Deprem, sel vb. afetler kapsamdadır. ‖Yangınlar da öyledir.",
        "T.C. Anayasası md. 56 çevreyi korur. ‖Devlet bunu sağlar.",
        "R.G. 18.12.1983, No. 18255 sayılı karar yürürlüktedir. ‖Değişiklik yoktur.",
        "Av. Demir sordu: “Kim sorumlu?” ‖Belediye!",
        "634 s. Kat Mülkiyeti Kanunu geçerlidir. ‖Yönetici seçilir.",
        "Oran %3,5 arttı. ‖2020 daha kötüydü.",
        "Yükümlüler:\n‖a) Bakanlık;\n‖b) valilikler;\n‖c) belediyeler.",
        "• Hazırlık\n‖• Müdahale\n‖• İyileştirme",
        "II. Dünya Savaşı sonrasında yasa değişti. ‖Bir daha değişmedi.",
        "Yılmaz vd. (2019) aynı görüştedir... ‖İtiraz eden olmadı.",
        "MADDE 5. Kat mülkiyeti resmi senetle kurulur. ‖MADDE 6. Senet tapuda düzenlenir.",
        "3. Mayıs ayı toplantısı yapıldı. ‖Örn. Ankara katıldı. ‖İzmir katılmadı.",
    ],
}
# Of the languages of law that analysts meet less often: what stops no sentence, and what does.
CITATIONS = {
    "pl": "Zgodnie z art. 5 ust. 2 pkt 3 ustawy z 3 marca 2020 r. o wodach organ wydaje zgodę. ‖Opłata wynosi 40 zł.",
    "cs": "Podle § 4 odst. 2 písm. b) zákona č. 100/2001 Sb. o vlivech se vydá povolení. ‖Platí od 3. května 2020.",
    "sk": "Podľa čl. 5 ods. 2 písm. a) zákona č. 24/2006 Z. z. o vplyvoch sa vydá povolenie. ‖Pokuta je 40 eur.",
    "hr": "Prema čl. 5. st. 2. zakona o vodama (NN br. 66/19) izdaje se dozvola. ‖Rok teče od 3. svibnja 2020. godine.",
    "hu": "A vízről szóló 1995. évi LVII. törvény 5. § (2) bek. a) pontja szerint engedély kell. ‖A díj 40 forint.",
    "el": "Σύμφωνα με το άρθ. 5 παρ. 2 περ. β του ν. 4330/2015 εκδίδεται άδεια. ‖Βλ. σελ. 3.",
    "bg": "Съгласно чл. 5, ал. 2, т. 3 от закона (обн., ДВ, бр. 15 от 2020 г.) се издава акт. ‖Срокът е една година.",
    "ru": "Согласно ст. 5 п. 2 ч. 3 закона от 3 мая 2020 г. № 40 дается право. ‖Штраф составляет 40 тыс. рублей.",
    "uk": "Згідно зі ст. 5 п. 2 ч. 3 закону від 3 травня 2020 р. № 40 видається дозвіл. ‖Строк один рік.",
    "nl": "Volgens art. 5, eerste lid, jo. art. 7 van de wet (Stb. 2020, nr. 15) volgt straf. ‖De boete is 40 euro.",
    "ro": "Potrivit art. 5 alin. (2) lit. a) din Legea nr. 107/1996 se emite avizul. ‖Amenda este de 40 de lei.",
}
EXAMPLES = [(language, marked) for language, texts in BOUNDARIES.items() for marked in texts]

ALPHABETS = st.sampled_from(
    ["aB. ", "дЖ. \n", "字。、\n ", "नि। ", "عر؟ .\n", "ab;,\n", "1.2) (\n", "•|-\r\n a", "\f\u2029\u00a0x. "]
)
TEXTS = ALPHABETS.flatmap(lambda letters: st.text(alphabet=letters, max_size=400)) | st.text(max_size=200)


def sentences(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, language)]


@pytest.mark.parametrize(("language", "marked"), [*EXAMPLES, *CITATIONS.items()])
def test_sentences_end_where_a_reader_ends_them(language: str, marked: str) -> None:
    expected = [part.strip() for part in marked.split("‖")]
    assert sentences(marked.replace("‖", ""), language) == expected


@pytest.mark.parametrize("language", BOUNDARIES)
def test_every_language_has_at_least_fifteen_tricky_examples(language: str) -> None:
    assert len(set(BOUNDARIES[language])) >= 15


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        pytest.param("nl", "Zie art. 5 van de wet. Dr. Jansen, cfr. Bijlage 2, stemt in.",
                     ["Zie art. 5 van de wet.", "Dr. Jansen, cfr. Bijlage 2, stemt in."],
                     id="a language without rules borrows those of the others"),
        pytest.param("de-AT", "Am 3. Mai tagte der Rat. Er vertagte sich.",
                     ["Am 3. Mai tagte der Rat.", "Er vertagte sich."],
                     id="a regional language code is read as its language"),
        pytest.param("ja", "洪水は危険です。避難してください！急いで。",
                     ["洪水は危険です。", "避難してください！", "急いで。"],
                     id="a script without spaces is split at its own stops"),
        pytest.param("hi", "हम तैयार हैं। आप भी हैं।", ["हम तैयार हैं।", "आप भी हैं।"],
                     id="a script without capitals is split at its own stops"),
        pytest.param("ar", "هل أنت مستعد؟ نعم. نحن هنا.", ["هل أنت مستعد؟", "نعم.", "نحن هنا."],
                     id="Arabic is split at its own question mark"),
        pytest.param("en", "Chapter II\n \nGeneral provisions\r\n\r\nEverybody is covered",
                     ["Chapter II", "General provisions", "Everybody is covered"],
                     id="a paragraph without a full stop still ends at its blank line"),
        pytest.param("en", "Measures:\r\n(a) warn;\r\n(b) move.\r\nThe end.",
                     ["Measures:", "(a) warn;", "(b) move.", "The end."],
                     id="Windows line ends leave no trace in sentences"),
        pytest.param("fr", "Il s'agit de :\n- \n« centres urbains »,\n- \n« petites villes ».",
                     ["Il s'agit de :", "- \n« centres urbains »,", "- \n« petites villes »."],
                     id="a bullet on its own line belongs to its text"),
        pytest.param("en", "| Hazard | Level |\n| --- | --- |\n| Flood | High. |",
                     ["| Hazard | Level |", "| --- | --- |\n| Flood | High. |"],
                     id="table rows are sentences of their own"),
        pytest.param("en", "1 Scope ........ 3\n2 Definitions ........ 12",
                     ["1 Scope ........ 3", "2 Definitions ........ 12"],
                     id="contents entries are sentences of their own"),
        pytest.param("en", " \n\t\r\n\u00a0\f ", [], id="white space alone holds no sentence"),
        pytest.param("en", "", [], id="no text holds no sentence"),
    ],
)  # fmt: skip
def test_sentences_end_also_by_script_and_layout(language: str, text: str, expected: list[str]) -> None:
    assert sentences(text, language) == expected


def test_a_long_list_in_one_sentence_is_cut_at_its_semicolons() -> None:
    item = "the authority responsible for civil protection shall keep its plan under review"
    pieces = sentences("; ".join([item] * 20) + ".")
    assert len(pieces) > 2
    assert all(len(piece) <= 600 and piece[-1] in ";." for piece in pieces)


def test_a_long_table_is_cut_at_its_line_ends() -> None:
    table = "\n".join(f"Region {n}, north 12,5 34,0" for n in range(100))
    assert all(piece.startswith("Region") and piece.endswith("34,0") for piece in sentences(table))


@given(TEXTS, st.sampled_from([*BOUNDARIES, "ja", ""]))
def test_spans_cover_all_but_white_space_in_order_and_cross_no_blank_line(text: str, language: str) -> None:
    spans = sentence_spans(text, language)
    covered = 0
    for start, end in spans:
        assert covered <= start < end
        assert not text[covered:start].strip()
        assert text[start:end] == text[start:end].strip()
        assert not re.search(r"\n[^\S\n]*\n", text[start:end])
        covered = end
    assert not text[covered:].strip()


@given(st.text(alphabet="ab ,;.\n字", max_size=30), st.integers(1, 400))
def test_no_span_is_longer_than_the_bound(text: str, times: int) -> None:
    assert all(end - start <= LONGEST_SENTENCE for start, end in sentence_spans(text * times, "en"))


def test_a_leader_of_any_length_and_spacing_ends_a_contents_entry() -> None:
    for leader in ("....", " . . . . . ", "." * 300, "  ....... "):
        assert len(sentences(f"1 Scope{leader}3\n2 Definitions{leader}xii\nThe text")) == 3


DOTTED_LINE = "." * 8000 + "\n"
SPACED_LINE = ". " * 4000 + "x\n"


@pytest.mark.parametrize(
    "unit",
    [".", ". ", "a.", "\n", " ", "(", "«", "x", "1.\n", '."', "- ", "; ", "a.\n\n", "…»", DOTTED_LINE, SPACED_LINE],
    ids=lambda unit: repr(unit[:6]),
)
def test_time_grows_with_length_and_no_faster(unit: str) -> None:
    started = time.process_time()
    sentence_spans(unit * (400_000 // len(unit)), "de")
    assert time.process_time() - started < 5
