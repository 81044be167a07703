"""Short documents in several languages, each about one plan of one place, for the portal's files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """A document: its language, its title, the day it was adopted as it prints it, and its paragraphs."""

    language: str
    title: str
    dated: str
    paragraphs: tuple[str, ...]

    @property
    def plain(self) -> str:
        return "\n\n".join((self.title, self.dated, *self.paragraphs))


FLOOD = Text(
    "en",
    "Flood risk management plan for the Vale of Arden",
    "Adopted on 14 March 2019",
    (
        "This flood risk management plan of the Arden River Authority in Ireland sets out how floods on the river "
        "Arden are prevented, forecast and fought. It covers the towns of Milltown, Bridgeford and Lower Arden.",
        "The River Authority publishes flood hazard maps every six years and reviews them after every flood. The maps "
        "show the depth of water in a flood that occurs once in a hundred years.",
        "Residents within 300 metres of the dyke leave their homes when the gauge at Milltown passes 4.5 metres. The "
        "mayor orders the evacuation and the fire service carries it out.",
        "Museums and archives move their collections to the upper floors twelve hours before the forecast peak.",
    ),
)
FLOOD_REVISED = Text(
    "en",
    "Flood risk management plan for the Vale of Arden (revised)",
    "Adopted on 2 June 2022",
    (
        *FLOOD.paragraphs[:2],
        "Residents within 500 metres of the dyke leave their homes when the gauge at Milltown passes 4.2 metres. The "
        "mayor orders the evacuation and the fire service carries it out.",
        FLOOD.paragraphs[3],
    ),
)
FLOOD_FR = Text(
    "fr",
    "Plan de gestion des risques d'inondation de la vallée d'Arden",
    "Adopté le 2 juin 2022",
    (
        "Ce plan de gestion des risques d'inondation de l'Autorité du fleuve Arden en Irlande expose comment les "
        "inondations du fleuve Arden sont prévenues, prévues et combattues. Il couvre les villes de Milltown, "
        "Bridgeford et Lower Arden.",
        "L'Autorité du fleuve publie des cartes des zones inondables tous les six ans et les révise après chaque "
        "inondation. Les cartes montrent la hauteur d'eau d'une inondation qui survient une fois en cent ans.",
        "Les habitants à moins de 500 mètres de la digue quittent leur logement quand l'échelle de Milltown dépasse "
        "4,2 mètres. Le maire ordonne l'évacuation et les pompiers l'exécutent.",
        "Les musées et les archives déplacent leurs collections aux étages supérieurs douze heures avant le pic prévu.",
    ),
)
HEAT = Text(
    "it",
    "Piano regionale per le ondate di calore",
    "Approvato il 3 maggio 2021",
    (
        "Il piano della Regione Esempio in Italia prevede tre livelli di allerta per le ondate di calore. Il livello "
        "rosso scatta quando la temperatura percepita supera i 38 gradi per tre giorni consecutivi.",
        "L'azienda sanitaria chiama ogni giorno le persone anziane che vivono sole e apre i centri climatizzati dalle "
        "ore 9 alle ore 21. I comuni distribuiscono acqua nelle piazze e nelle stazioni.",
        "Le ondate di calore sono più frequenti a causa dei cambiamenti climatici. La Regione valuta il piano ogni "
        "anno e pubblica una relazione entro il mese di novembre.",
    ),
)
DROUGHT = Text(
    "de",
    "Dürreplan des Musterlandes",
    "Beschlossen am 11. Februar 2020",
    (
        "Der Dürreplan des Musterlandes in Deutschland regelt den Umgang mit Trockenheit und Hitzewellen. Bei einem "
        "Füllstand der Talsperren unter 40 Prozent gilt Stufe 2.",
        "Die Wasserbehörde untersagt dann die Bewässerung von Rasenflächen zwischen 8 und 20 Uhr. Für Betriebe der "
        "Landwirtschaft gelten Ausnahmen nach Art. 7 Abs. 2.",
        "Die Gemeinden berichten jeden Monat über den Verbrauch. Das Land veröffentlicht die Berichte und überprüft "
        "den Plan alle drei Jahre, weil der Klimawandel die Trockenheit verstärkt.",
    ),
)
FIRE = Text(
    "es",
    "Plan de prevención de incendios forestales de la comarca de Olmo",
    "Aprobado el 20 de abril de 2018",
    (
        "El plan de prevención de incendios forestales de la comarca de Olmo en España establece las medidas para "
        "evitar los incendios y combatirlos. Entre junio y septiembre se prohíbe el fuego en los montes.",
        "Los ayuntamientos limpian las franjas de 25 metros alrededor de los pueblos antes del 31 de mayo. Las "
        "brigadas vigilan desde seis torres y avisan al centro de coordinación en diez minutos.",
        "La población recibe cada año información sobre la evacuación. Los vecinos mayores tienen un contacto propio.",
    ),
)
QUAKE = Text(
    "tr",
    "Deprem hazırlık planı",
    "Kabul tarihi: 17 Ağustos 2017",
    (
        "Bu deprem hazırlık planı Türkiye'de Örnek ilinde deprem öncesinde ve sonrasında yapılacak işleri düzenler. "
        "Belediye her yıl binaları denetler ve riskli yapıları bildirir.",
        "Okullar yılda iki kez tatbikat yapar. Toplanma alanları mahallelere duyurulur ve her alanda su ile çadır "
        "bulunur.",
        "Deprem sonrasında il müdürlüğü iki saat içinde hasar tespitini başlatır ve sonuçları halka açıklar.",
    ),
)
SLIDE = Text(
    "pt",
    "Plano municipal de deslizamentos de terra",
    "Aprovado em 9 de outubro de 2016",
    (
        "O plano municipal de deslizamentos de terra do município de Exemplo, no Brasil, define as áreas de risco e as "
        "medidas de proteção. A defesa civil mede a chuva em doze estações.",
        "Quando a chuva passa de 80 milímetros em um dia, a sirene toca e as famílias vão para os abrigos. A "
        "prefeitura oferece transporte às pessoas com deficiência.",
        "As encostas são inspecionadas duas vezes por ano e o resultado é publicado no portal da prefeitura.",
    ),
)
STORM = Text(
    "no",
    "Beredskapsplan for storm og stormflo",
    "Vedtatt 5. september 2015",
    (
        "Beredskapsplanen for Eksempel kommune i Norge beskriver hva som skal gjøres før, under og etter en storm. "
        "Kommunen varsler innbyggerne når det er meldt vind over 25 meter per sekund.",
        "Havnevesenet stenger kaiene ved stormflo, og brannvesenet holder veiene åpne. Skolene er tilfluktssteder.",
        "Planen øves hvert år i oktober og revideres hvert fjerde år sammen med fylket.",
    ),
)
HERITAGE = Text(
    "fr",
    "Stratégie pour la protection du patrimoine culturel face aux catastrophes",
    "Adoptée le 8 novembre 2020",
    (
        "La stratégie de la région Exemple en France protège le patrimoine culturel contre les inondations, les "
        "incendies et les séismes. Elle concerne les musées, les archives, les bibliothèques et les monuments.",
        "Chaque musée tient un plan de sauvegarde des œuvres et l'exerce une fois par an avec les pompiers. La mémoire "
        "des catastrophes passées est recueillie auprès des habitants et transmise dans les écoles.",
        "La région finance la moitié des travaux de protection et publie un bilan tous les deux ans.",
    ),
)
TEXTS = (FLOOD, HEAT, DROUGHT, FIRE, QUAKE, SLIDE, STORM, HERITAGE)


def about(topic: str) -> Text:
    """Return a plan in English about the topic, so that no two documents say the same."""
    return Text(
        "en",
        f"Action plan on {topic}",
        "Adopted on 7 July 2014",
        (
            f"This action plan on {topic} was prepared by the Sample Agency of Canada with the people who know {topic} "
            "best. It says who does what, by when, and with which money.",
            f"Every municipality names a person who answers for {topic}. The agency trains these people twice a year "
            f"and lends them the equipment that {topic} asks for.",
            f"The agency measures how far {topic} has come by four figures, publishes them each spring, and revises "
            f"the plan when two of the four fall short. Citizens may comment on {topic} at any time.",
            f"Schools, hospitals and care homes have plans of their own for {topic}; the agency reads each of them and "
            "answers within thirty days.",
        ),
    )
