"""The title that is printed at a document's head, told from letterheads, references, dates and running text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingestion.extraction.assemble import tidy
from rag_engine.types import Block

LONGEST_TITLE = 450
_LONGEST_LINE = 300
_FRONT = 80
_SIZELESS_FRONT = 25
_PROSE = 200
_LONGEST_ALONE = 100

_LETTERHEAD = re.compile(
    r"(?:the )?(?:(?:united nations|nations unies|naciones unidas|vereinte nationen|nações unidas|nazioni unite)$|"
    r"european (?:union|commission|parliament)|official journal|journal officiel|diário oficial|diario oficial|"
    r"gazzetta ufficiale|boletín oficial|bundesgesetzblatt|resm[iî] gazete|federal register|staatsblad|lovdata|"
    r"rep[úu]blica|republic of|repubblica|république|republik|bundesrepublik|kingdom of|koninkrijk|reino de|royaume|"
    r"t\.\s?c\.|türkiye cumhuriyeti|presid[êe]ncia d|presidencia d|présidence d|presidenza d|prime minister|"
    r"secretaria|secretaría|secretariat|subchefia|casa civil|câmara|senado|congreso|parlament|bundestag|bundesrat|"
    r"minist[eéè]r|bundesminist|innenminist|(?:u\.\s?s\. )?departments? of|departamento|dipartimento|département|"
    r"general assembly|security council|economic and social council|executive office|office (?:of|for)|bureau of|"
    r"(?:federal|national|european|environment(?:al)?|environment protection) [\w ]{0,40}"
    r"(?:administration|agency|authority|office|board|service|council|institute)$|"
    r"[\w, ]{3,60} (?:commission|bakanlığı|genel müdürlüğü|başkanlığı|kurulu|directoraat|direktorat|agency)$|"
    r"préfecture|préfet|mairie|regione|regione autonoma|provincia|comune di|ayuntamiento|junta de|gobierno de|"
    r"governo d|freistaat|landesamt|stadt |gemeente|kommune|"
    r"framework convention on climate change$|convención marco sobre el cambio climático$|"
    r"convention-cadre sur les changements climatiques$|"
    r"conference of the parties|conferencia de las partes|conférence des parties)",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(
    r"(?:consolidated |draft |final |annual |national |interim |summary |special |joint )?"
    r"(?:reports? (?:of|on|to)|law|act|regulation|directive|decision|decree|order|ordinance|resolution|agreement|"
    r"convention on|protocol|guid(?:e|elines|ance)|handbook|manual|strateg|plan|framework for|policy|action plan|code|"
    r"informe|ley|real decreto|decreto|orden|resolución|reglamento|directiva|guía|manual|estrategia|"
    r"rapport|loi|décret|arrêté|ordonnance|circulaire|instruction|règlement|stratégie|"
    r"bericht|gesetz|grundgesetz|verordnung|verwaltungsvorschrift|richtlinie|leitfaden|bekanntmachung|erlass|satzung|"
    r"[\w-]{4,40}(?:gesetz|verordnung|richtlinie|vorschrift|strategie|konzept)\b|"
    r"legge|decreto|costituzione|regolamento|direttiva|linee guida|piano|rapporto|relazione|"
    r"lei|constituição|decreto-lei|portaria|instrução|regulamento|relatório|plano|diretrizes|"
    r"wet|besluit|regeling|rapport|handreiking|lov om|forskrift|veileder|stortingsmelding)\b",
    re.IGNORECASE,
)
# A ministry's or country's name with one of these in it is the name of a document.
_WORK = re.compile(
    r"\b(?:plan[oı]?|piano|strateg\w+|estrat[eé]gia|stratégie|reports?|rapport|informe|relatório|bericht|raporu|law|act|"
    r"gesetz|ley|loi|legge|lei|kanunu|guid(?:e|elines)|handbook|policy|programm?e?|programa|roadmap|profile|review)\b",
    re.IGNORECASE,
)
_LAW_AT_END = re.compile(
    r"(?:kanunu?|yönetmeli[kğ]i?|tüzü[kğ]ü?|tebliği?|genelgesi?|planı|raporu|rehberi|kılavuzu|"
    r"act|law|code|constitution|gesetz|verordnung|regulations|guidelines)\W{0,2}(?:\(.{1,80}\))?$",
    re.IGNORECASE,
)
_CONTENTS = re.compile(
    r"(?:table of )?contents|inhalt(?:sverzeichnis|sübersicht)?|sommaire|table des matières|índice|indice|sumário|"
    r"sommario|içindekiler|inhoud(?:sopgave)?|innhold(?:sfortegnelse)?|summary of contents",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\W{0,2}(?:\d+ (?:CFR|U\.?S\.?C)\b|release no|docket|rin \d|case no|ref\b|az\.|aktenzeichen|distr\b|original:|"
    r"ge\.\d|isbn|issn|doi\b|http|www\.|vol\b|no\.? ?\d|page\b|seite\b|agency:|action:|summary:|dates?:|"
    r"conformed to|reissued|texto compilado|mensagem de veto|vigência|stand:|ausgabe:|version\b|kanun numarası|"
    r"table \d|figure \d|fig\. ?\d|tableau \d|tabelle \d|abbildung \d|tabella \d|tabela \d|tablo \d|tabel \d|"
    r"proposed rules|rules and regulations|for immediate release|press release|context sidebar|skip to|zurück zu)",
    re.IGNORECASE,
)
_ADDITION = re.compile(
    r"(?:addendum|corrigendum|revision \d|revised|adición|corrección|additif|rectificatif|"
    r"part (?:one|two|three|four|[ivx\d]+)|(?:primera|segunda|tercera|cuarta) parte|"
    r"(?:première|deuxième|troisième) partie|teil [ivx\d]+)\b",
    re.IGNORECASE,
)
_MONTHED = re.compile(
    r"(?:\w{3,12}day,? )?[\w.º]{1,5}?\.?,? ?(?:de |of )?[^\W\d_]{3,12}\.?,? (?:de |\d{1,2}(?:st|th)?,? )?\d{4}$"
)
# "Adopted on 7 July 2014": when something was done to the document, and not what it is called.
_DATED = re.compile(
    r"(?:adopted|approved|published|issued|revised|updated|date[dn]?|adopt[ée]e?|approuv[ée]e?|publi[ée]e?|approvat[oa]|"
    r"adottat[oa]|pubblicat[oa]|aprobad[oa]|adoptad[oa]|publicad[oa]|aprovad[oa]|beschlossen|veröffentlicht|verabschiedet|"
    r"stand|vedtatt|kabul tarihi|vastgesteld)\b.{0,50}\d{4}\.?$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\w@\w|https?://|\bwww\.")
_WORD = re.compile(r"[^\W\d_]{3,}")
_HANGING = re.compile(
    r"(?:\b(?:of|the|for|on|in|to|and|or|with|by|de|del|la|el|los|y|para|des|du|les|le|et|sur|pour|dans|à|der|die|das|"
    r"des|und|für|über|von|zur|zum|im|della|delle|dei|di|e|il|per|sul|da|do|das|dos|em|sobre|ve|ile|için|van|het|voor|"
    r"en|og|om)|[,:–-])$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PrintedTitle:
    """A title as it is printed, its lines joined, with the place where it begins; `strength` ranks it."""

    text: str
    start: int
    page: int
    strength: float


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    block: Block
    number: int


def printed_titles(text: str, blocks: Sequence[Block]) -> list[PrintedTitle]:
    """Return possible titles on the first page that has text, the likeliest first; none where running text begins."""
    front = _front(text, blocks)
    sized = any(piece.block.font_size for piece in front)
    found = _by_size(front, _body_size(blocks)) if sized else _by_order(front)
    return sorted(found, key=lambda title: -title.strength)


def is_furniture(line: str) -> bool:
    """Return whether a line names a body, a reference or a day, and not a document."""
    return bool(
        (_LETTERHEAD.match(line) and len(line) < 110 and not _WORK.search(line) and not _LAW_AT_END.search(line))
        or _REFERENCE.match(line)
        or _MONTHED.fullmatch(line)
        or (len(line) < 80 and _DATED.match(line))
        or _CONTENTS.fullmatch(line.strip(" .:"))
        or line.startswith(("* [", "+ [", "- ["))
        or "](#" in line
        or _ADDRESS.search(line)
        or len(_WORD.findall(line)) == 0
    )


def _front(text: str, blocks: Sequence[Block]) -> list[_Piece]:
    """Return the blocks of the title's page, up to the table of contents."""
    pieces: list[_Piece] = []
    for number, block in enumerate(blocks[:2_000]):
        line = tidy(text[block.start : min(block.end, block.start + 2 * LONGEST_TITLE)])
        if block.page != blocks[0].page or len(pieces) >= _FRONT:
            break
        if _CONTENTS.fullmatch(line.strip(" .:")) and pieces:
            # A letterhead in a margin is read after the contents and is none the better for it.
            break
        if line.startswith(("* [", "+ [", "- [")):
            continue
        pieces.append(_Piece(line.lstrip("#").lstrip() if line.startswith("#") else line, block, number))
    return pieces


def _body_size(blocks: Sequence[Block]) -> float:
    """Return the size in which most of the text is set, by characters; 0 where there are only headings."""
    weight: dict[float, int] = {}
    for block in blocks[:1_000]:
        if block.font_size and block.kind != "heading":
            weight[block.font_size] = weight.get(block.font_size, 0) + block.end - block.start
    return max(weight, key=lambda size: weight[size], default=0.0)


def _by_size(front: Sequence[_Piece], body: float) -> list[PrintedTitle]:
    """Return groups of lines of one size, rated by size, words and place."""
    groups: list[list[_Piece]] = []
    for piece in front:
        above = groups[-1][-1] if groups and groups[-1] else None
        hanging = above is not None and bool(_HANGING.search(above.text)) and piece.block.kind == "heading"
        if not _may_be_title(piece, body, hanging):
            groups.append([])
        elif above is not None and _belongs(above, piece, body):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    largest = max((group[0].block.font_size or 0.0 for group in groups if group), default=0.0)
    titles = []
    for at, group in enumerate(groups):
        if group and not _ADDITION.match(group[0].text):
            joined = _joined(group)
            strength = _rated(joined, group, largest, body)
            if strength > 0:
                more = _additions(groups[at + 1 :])
                titles.append(_printed(group, ". ".join([joined.rstrip(". "), *more]), strength))
    return titles


def _may_be_title(piece: _Piece, body: float, hanging: bool) -> bool:
    """Return whether a line stands out and names no body; below a line that is left hanging it may name one."""
    size = piece.block.font_size or 0.0
    prominent = piece.block.kind == "heading" or (piece.block.kind == "text" and size >= 1.1 * body > 0)
    continues = _ADDITION.match(piece.text) or (piece.text.isupper() and len(piece.text) < 120)
    return (
        piece.block.kind in ("heading", "text")
        and len(piece.text) <= _LONGEST_LINE
        and bool(prominent or continues or (_DOCUMENT.match(piece.text) and len(piece.text) < 160))
        and (hanging or not is_furniture(piece.text))
    )


def _belongs(above: _Piece, piece: _Piece, body: float) -> bool:
    """Return whether a line goes on with the title above it."""
    size, upper = piece.block.font_size or 0.0, above.block.font_size or 0.0
    if abs(size - upper) > 0.6 or piece.number != above.number + 1 or _ADDITION.match(piece.text):
        return False
    if piece.text[:1].islower() or _HANGING.search(above.text):
        return True
    return (size >= 1.15 * body or (above.text.isupper() and piece.text.isupper())) and not above.text.endswith(".")


def _joined(group: Sequence[_Piece]) -> str:
    return " ".join(piece.text for piece in group)


def _rated(joined: str, group: Sequence[_Piece], largest: float, body: float) -> float:
    words = len(_WORD.findall(joined))
    size = group[0].block.font_size or 0.0
    strength = 2.0 * size / largest if largest else 0.0
    strength += 0.8 if size >= 1.15 * body else 0.0
    strength += 0.6 if group[0].block.kind == "heading" else 0.0
    strength += 1.5 if _DOCUMENT.match(joined) or _LAW_AT_END.search(joined) else 0.0
    strength -= 0.03 * group[0].number
    if words < 2:
        # One short word is a logo or a number unless nothing on the page is larger.
        strength -= 0.5 if len(joined) >= 10 or size == largest > 1.3 * body else 1.5
    strength -= 1.0 if joined.endswith((".", ";")) and len(joined) > 120 else 0.0
    return strength if words else 0.0


def _additions(after: Sequence[Sequence[_Piece]]) -> list[str]:
    """Return the continuation of a report's title below it: Addendum, Part two."""
    more = []
    for group in after:
        if not group or not _ADDITION.match(group[0].text):
            break
        more.append(_joined(group))
    return more


def _printed(group: Sequence[_Piece], joined: str, strength: float) -> PrintedTitle:
    return PrintedTitle(joined[:LONGEST_TITLE], group[0].block.start, group[0].block.page, strength)


def _by_order(front: Sequence[_Piece]) -> list[PrintedTitle]:
    """Without sizes: the first heading, or the lines that stand alone above the first paragraph."""
    opening: list[_Piece] = []
    for piece in front[:_SIZELESS_FRONT]:
        if len(piece.text) > _PROSE and piece.block.kind == "text" and not _DOCUMENT.match(piece.text):
            break
        opening.append(piece)
    headings = [piece for piece in opening if piece.block.kind == "heading" and not is_furniture(piece.text)]
    titles = [
        replace(_printed([piece], piece.text, 3.0 - 0.1 * rank), strength=3.0 - 0.1 * rank)
        for rank, piece in enumerate(headings)
        if len(_WORD.findall(piece.text)) > 1
    ]
    if titles:
        return titles
    group: list[_Piece] = []
    for piece in opening:
        closed = piece.block.kind != "text" or is_furniture(piece.text)
        if group and piece.text[:1].islower() and _DOCUMENT.match(group[0].text):
            if len(_joined([*group, piece])) > LONGEST_TITLE:
                break
            group.append(piece)
        elif closed or piece.text.endswith((".", ";", ":")) or len(piece.text) > _LONGEST_ALONE:
            if group:
                break
        elif len(_joined([*group, piece])) <= _PROSE:
            group.append(piece)
        elif group:
            break
        else:
            group = [piece]
    joined = _joined(group)
    if len(_WORD.findall(joined)) < 2:
        return []
    return [_printed(group, joined, 2.0 + (1.0 if _DOCUMENT.match(joined) else 0.0))]
