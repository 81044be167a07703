"""The words by which indexes and glossaries are told, in the languages that we read."""

from __future__ import annotations

import re

from rag_engine.text.folding import fold

# Titles of an index; those that are also titles of a table of contents say nothing of where they stand.
INDEX_TITLES = frozenset(
    """
    index|subject index|index of subjects|general index|author index|name index|index of names|index of terms
    |indice|indice analitico|indice alfabetico|indice generale|indice dei nomi|indice tematico|indice delle materie
    |indice analitico e dei nomi|indice de materias|indice de terminos|indice remissivo|indice onomastico
    |indice de nombres|indice de nomes|register|sachregister|stichwortverzeichnis|sachverzeichnis|namenregister
    |personenregister|schlagwortverzeichnis|stichwortregister|index alphabetique|index thematique|index des notions
    |index des matieres|index des noms|dizin|alfabetik dizin|kavram dizini|konu dizini|ad dizini
    """.replace("\n", "").replace("    ", "").split("|")
)  # fmt: skip

GLOSSARY_TITLES = frozenset(
    """
    glossary|glossary of terms|definitions|terms and definitions|definition of terms|glossary and abbreviations
    |abbreviations|acronyms|list of abbreviations|abbreviations and acronyms|acronyms and abbreviations|glossario
    |definizioni|termini e definizioni|sigle|abbreviazioni|acronimi|glosario|definiciones|terminos y definiciones
    |siglas|abreviaturas|glossar|begriffe|begriffsbestimmungen|definitionen|begriffserklarungen|abkurzungen
    |abkurzungsverzeichnis|glossaire|lexique|definitions et sigles|sigles|abreviations|sigles et abreviations
    |definicoes|termos e definicoes|siglas e abreviaturas|sozluk|tanimlar|terimler sozlugu|kisaltmalar|terimler
    """.replace("\n", "").replace("    ", "").split("|")
)  # fmt: skip

# What the columns of an index table are called.
COLUMNS: dict[str, frozenset[str]] = {
    role: frozenset(names.split())
    for role, names in {
        "term": """
            term terms entry entries keyword keywords concept subject label heading word termine termini voce lemma
            concetto termino terminos concepto begriff stichwort schlagwort terme termes entree notion termo termos
            verbete terim kavram madde""",
        "subterm": "subterm subentry subheading id sottovoce subtermino unterbegriff sousentree subtermo",
        "page": """
            page pages pp p pdf_page pdf_pages pdfpage pdfpages pagina pagine paginas pag pagg seite seiten s sayfa
            sayfalar""",
        "printed": "printed_page printed_pages printed",
        "file": """
            file filename file_name document source documento fonte archivo fichero datei dokument quelle fichier
            arquivo ficheiro dosya belge""",
        "see": "see see_also seealso related vedi vease siehe voir ver veja bkz",
        "definition": """
            definition meaning explanation description definizione significato descrizione definicion significado
            descripcion bedeutung erklarung erlauterung beschreibung signification definicao descricao tanim anlam
            aciklama""",
    }.items()
}

_ALSO = (
    r"see\s+also(?:\s+under)?|see\s+under|vedi\s+anche|si\s+veda\s+anche|v\.\s*anche|véan?se\s+también|ver\s+también"
    r"|siehe\s+auch|s\.\s?a\.|s\.\s+auch|voir\s+aussi|ver\s+também|veja\s+também|vide\s+também|ayrıca\s+bkz\.?"
    r"|ayrıca\s+bakınız|bkz\.\s+ayrıca"
)
_SEE = r"see|si\s+veda|vedi|véan?se|siehe|voir|vide|veja|ver|bkz\.?|bakınız"
# What sends the reader to another entry: behind a sign or in brackets, at the start, or between words.
SEE = re.compile(
    rf"(?P<before>^|[,.;:(\[–—]\s*|\s+)(?P<cue>{_ALSO}|{_SEE})\s*:?\s+(?P<targets>[^()\[\]]+?)\s*[)\]]?\s*\.?$",
    re.IGNORECASE,
)
SEE_IN_BRACKETS = re.compile(rf"[(\[](?:{_ALSO}|{_SEE})\s*:?\s+(?P<targets>[^()\[\]]+)[)\]]", re.IGNORECASE)
ENDS_IN_SEE = re.compile(rf"(?:^|[\s,.;(\[])(?:{_ALSO}|{_SEE})$", re.IGNORECASE)
CONTINUED = re.compile(
    r"\s*[(\[](?:cont\.?|contd\.?|cont['’]d|continued|segue|continua|cont\.|forts\.?|fortsetzung|suite|continuaci[oó]n"
    r"|continuação|devam[ıi]?)[)\]]",
    re.IGNORECASE,
)
# What introduces an article of definitions.
DEFINES = re.compile(
    r"for\s+the\s+purposes?\s+of|following\s+definitions|im\s+sinne\s+(?:dieses|dieser|des|der)|ai\s+fini\s+(?:del|della|dell['’]|di)"
    r"|si\s+intende|a\s+(?:los\s+)?efectos\s+de|se\s+entender[áa]|se\s+entiende|au\s+sens\s+d|on\s+entend\s+par|aux\s+fins\s+d"
    r"|para\s+(?:os\s+)?(?:fins|efeitos)\s+d|considera-se|entende-se|geçen|uygulanmasında",
    re.IGNORECASE,
)


def folded(text: str) -> str:
    """Return the words of a title without case, accents, numbers and signs."""
    return " ".join(re.sub(r"[\W\d]+", " ", fold(text)).split())


def is_index_title(text: str) -> bool:
    """Return whether a line is the title of an index, or its running head with a page number."""
    return len(text) < 60 and folded(text) in INDEX_TITLES


def is_glossary_title(text: str) -> bool:
    """Return whether a line is the title of a glossary, a list of definitions or of abbreviations."""
    return len(text) < 60 and folded(text) in GLOSSARY_TITLES
