"""What running text says of its licence: each statement is weighed with the whole sentence that it stands in.

A sentence frees a document only if it names a licence or grants reproduction, is about the document (and not about a
photograph, a theme or licences in general), and holds neither a negation nor a condition that takes it back. What
reserves rights needs less: it is better to ask a person than to free what is not free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingestion.licence.names import ALL_RIGHTS, UNSTATED, NamedLicence, names_in, with_restrictions
from ingestion.licence.table import load_licences, tidy_text
from ingestion.types import LicenceMark, Light
from rag_engine.text.folding import fold_in_place

AUTHORISED = "Reproduction authorised"
RESERVED = "Reproduction reserved"
COMMERCIAL = "Commercial use reserved"
NOTICE = "Copyright notice"
UNCLEAR = "Unclear permission"

# On the paper's scale 20 decides.
STRONG, PLAIN, WEAK = 25.0, 20.0, 10.0

_LONGEST = 1000
_WINDOW = 500
_MOST = 60_000
_LONGEST_SPAN = 6_000
_QUOTE = 300
_SENTENCE = re.compile(r"\n+|(?<=[.!?;。])(?<!\W[^\W\d_]\.)[\"'”»)\]]*\s+|\s*[|•·♦]\s*|\s+-{2,}\s+|\s{2,}")
_KEYS = re.compile(
    r"licen[cs]|lizenz|lisans|lisens|licent|licenz|copyright|©|\bcc[ -]?(?:by|0|zero)|creative|reserv|riserv|vorbehalt|"
    r"forbehold|voorbehoud|zastrze|chronion|sakli|mahfuz|reproduc|reproduz|riprod|reutili|riutilizz|re-?us|"
    r"nachdruck|vervielf|urheber|gemeinfrei|amtliche|domaine? public|public domain|dominio pub|pubblico dominio|"
    r"auteursrecht|telif|cogalt|opphavsrett|gjengi|gjenbruk|kop[iy]|overname|overgenomen|hergebruik|verveelvoud|"
    r"publieke? domein|2011/833|permission|permiss|autori[sz]|consent|toestemming|tillat|samtykke|genehmig|zustimm|"
    r"\bizin|\bizn|alinti|iktibas|\bogl\b|iodl|nlod|etalab|dl-de|\bby-n|cop(?:y|ia|ie)|weiterverw|weitergabe|"
    r"verwertung|wiedergabe|confidential|intern|hizmete ozel|\btdm\b|data mining|ettertrykk|i det fri|distrib|"
    r"freely|\bfrei|\bvrij|fritt|librement|liberamente|libremente|livremente|serbest|yeniden|odbl|pddl|gpl\b|"
    r"geschutzt|\bquote|citat|diffusion|divulga|difusion|verbreitung|explotacion|rettighet|rechten|rechte\b"
)
_USE = re.compile(
    r"reproduc|reproduz|re-?us|cop(?:y|ied|ia|ie)|re-?print|republish|redistribut|riprodu|riutiliz|diffusion|vervielf|"
    r"nachdruck|weiterverwend|wiedergabe|weitergabe|verbreit|reutili|reutiliz|kopya|kopier|cogalt|alinti|iktibas|"
    r"yayimlan|kullanil|gjengi|gjenbruk|ettertrykk|hergebruik|verveelv|overname|overgenomen|quot|cited|gereproduceerd"
)
_COPYING = re.compile(
    r"reproduc|reproduz|riprodu|nachdruck|vervielf|republi|re-?print|copying|copia|ettertrykk|gjengi|kopier|overname|"
    r"verveelv|cogalt|kopya|yayimla|reutili|riutiliz|re-?use|weiterverwend|gjenbruk|hergebruik"
)
_RIGHTS = re.compile(r"©|copyright|urheberrecht|diritt[oi] d'autore|derechos de autor|droits? d'auteur|direitos autora|"
                     r"direitos de autor|telif|opphavsrett|auteursrecht|\(c\) ?\d{4}")  # fmt: skip
_NOTICE = re.compile(
    r"©|\(c\) ?(?=\d{4})|copyright(?! infring| law)|diritti d'autore|urheberrechtlich geschutzt|"
    r"prawa autorskie"
)
# "even", "including", "in whole or in part": then a ban is not one of commercial use alone.
_AT_ALL = re.compile(
    r"(?<!\w)(?:includ\w+|even|whether|otherwise|any (?:form|means|purpose|reproduc|use|part)|no part|in whole|anche|"
    r"incluso|inclus\w*|meme|y compris|auch|sowie|einschliesslich|jegliche|dahil|herhangi|hicbir|ook|ogsa|tambem|"
    r"tambien|non-?commercial (?:or|and)|commercial (?:or|and) non|aucune|nessuna|ninguna|nenhuma|"
    r"kein teil|ingen del|niets)"
)
_OTHER_NC = re.compile(
    r"(?:or|and|und|oder|et|ou|e|o|y|og|eller|en|of|ve|veya) (?:\w+ )?(?:other|andere\w*|autres|altri|altre|otros|"
    r"outros|andre|diger) ?(?:\w+ )?(?:non|not|nicht|no|nao|ikke|niet|ticari olma)"
)
_TOPIC = re.compile(
    r"(?<!\w)(?:waste ?water|water|sludge|waste|effluent|acqu[ae]|rifiuti|reflue|aguas?|residuos|eaux?|dechets|"
    r"wasser\w*|abwasser|abfall\w*|residuos|agua|su(?:yun|larin)?|atik\w*|vann|avfall|water|afval\w*|species|breeding)"
    r"(?!\w)"
)
_OPUS = re.compile(
    r"(?<!\w)(?:obras?|text\w*|document\w*|publica\w+|œuvre|oeuvre|oper[ae]\b|werk\w*|content\w*|conteudo|contenu|works?\b|"
    r"reports?|rapport|eser\w*|verk\w*|innhold|inhalt\w*|dataset|data|gesetz\w*|teks\w*|tekst\w*|informe|relatorio|"
    r"belge\w*|yayin\w*|metin\w*|rapor\w*|documento|licen\w+|site|website)"
)
_LAND = re.compile(
    r"(?:public domain|dominio publico|domaine public|pubblico dominio|demanio)[ ,]{1,2}(?:lands?|hidraulic|maritim|"
    r"terrestre|forestal|municipal|estatal|portuari|radioelectric|fluvial|routier|communal|de l'etat|hydrauliqu|"
    r"ferroviaire|"
    r"hidric|marittim|idric|vial|universitaire|skiable)|\bland\b|(?:ley|loi|lei) (?:del|du|do)|kamu malin|tombe"
)
_LABEL = re.compile(
    r"(?:licen[cs]\w*|licenz\w*|licenca|licencia|lizenz\w*|lisans\w*|lisens\w*|licentie|rights|copyright|"
    r"©(?: \d[\d\s-]{0,20})?)[\s:\"'(/-]{1,4}(?:licen[cs]\w*|lizenz)?[\s:]{0,3}$"
)
# "But acknowledgement is requested" takes nothing back.
_BUT = re.compile(
    r"(?<!\w)(?:but|however|elsewhere|pero|mais|aber|jedoch|ancak|ama|maar|ma|mas|men)(?!\w)"
    r"(?! (?:acknowledg|please|credit|the source|must acknowledg|with|reference|attribution|a reference|citation)\w*)"
)
_JOINED = re.compile(r",|&|/|(?<!\w)(?:and|und|e|y|et|ve|og|en|or|sowie)(?!\w)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SOMEWHERE = re.compile(r" (?:only )?(?:in|within|nei|negli|en|aux|in den|nos) (?!accordance|line|terms)\w+")
_FRAMED = re.compile("[\"“„«»”']")


def read_statements(text: str, place: str) -> list[LicenceMark]:
    """What the text says of its licence, in order, each mark with its sentence; [] when it says nothing.

    Of a long text only the surroundings of words that licences are made of are read.
    """
    marks: list[LicenceMark] = []
    for piece in _pieces(text):
        before = ""
        for sentence in _sentences(piece):
            marks += [mark for mark in _read(sentence, before, place) if mark not in marks]
            before = sentence
    return marks


def says_reserved(text: str) -> bool:
    """Whether anything in the text reserves rights."""
    return any(mark.light == "RED" for mark in read_statements(text, ""))


def _pieces(text: str) -> Iterator[str]:
    """The text, or of a long one the windows around its licence words, up to a bound."""
    if len(text) <= 2 * _WINDOW:
        yield tidy_text(text)
        return
    # Notices stand at the beginning and the end; what is too much is left out in the middle.
    read = 0
    for low, high in _from_both_ends(_spans(text)):
        if read > _MOST:
            return
        cut = text[low:high]
        # A window begins with a whole sentence where there is one: half a sentence may lack its "not".
        begins = re.search(r"[.!?\n]\s", cut[:_WINDOW]) if low else None
        cut = cut[begins.end() :] if begins else cut
        read += len(cut)
        yield tidy_text(cut)


def _spans(text: str) -> list[tuple[int, int]]:
    """The surroundings of licence words, those that touch joined, none longer than a bound."""
    spans: list[tuple[int, int]] = []
    for match in _KEYS.finditer(fold_in_place(text)):
        low, high = max(0, match.start() - _WINDOW), min(len(text), match.end() + _WINDOW)
        if spans and low <= spans[-1][1] and high - spans[-1][0] <= _LONGEST_SPAN:
            spans[-1] = spans[-1][0], high
        else:
            spans.append((low, high))
    return spans


def _from_both_ends(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The first, the last, the second, the last but one ..."""
    for step in range((len(spans) + 1) // 2):
        yield spans[step]
        if len(spans) - 1 - step > step:
            yield spans[-1 - step]


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        stripped = sentence.strip() if sentence else ""
        # Overlapping cuts, so that no statement is halved without being read whole once.
        for start in range(0, max(1, len(stripped) - 200), _LONGEST - 300):
            if piece := stripped[start : start + _LONGEST]:
                yield piece


def _read(sentence: str, before: str, place: str) -> Iterator[LicenceMark]:
    folded = fold_in_place(sentence)
    if not _KEYS.search(folded):
        return
    words = load_licences().phrases
    plain = _blank(words["neutral"], folded)
    names = names_in(sentence)
    # "Photo by J. Doe. CC BY 2.0": the credit began one sentence earlier.
    credited = bool(words["part"].search(fold_in_place(before[-_QUOTE:]))) and len(folded) < 80
    has_work, has_part = bool(words["work"].search(folded)), bool(words["part"].search(plain)) or credited

    def mark(light: Light, licence: str, score: float) -> LicenceMark:
        return LicenceMark("pattern", light, licence, score, sentence[:_QUOTE], place)

    reserves = list(_reserving(folded, plain, has_work, has_part, bool(names)))
    for light, licence, score in reserves:
        yield mark(light, licence, score)
    if any(licence == RESERVED for _, licence, _ in reserves):
        yield from (mark("YELLOW", one.name, 0.0) for one in names)
        return
    for one in names:
        yield mark(*_named(one, names, folded, plain, has_work, has_part))
    if all(one.name == UNSTATED or one.name.startswith("EU reuse") for one in names):
        rule = next((one.name for one in names if one.name != UNSTATED), AUTHORISED)
        for light, licence, score in _granting(folded, plain, has_work, has_part):
            yield mark(light, rule if licence == AUTHORISED else licence, score)
    if not names and not reserves and (_NOTICE.search(folded) or words["some"].search(folded)):
        yield mark("YELLOW", NOTICE, 0.0)
    elif not reserves and words["request"].search(folded) and _USE.search(folded):
        yield mark("YELLOW", UNCLEAR, 0.0)


def _reserving(
    folded: str, plain: str, has_work: bool, has_part: bool, named: bool
) -> Iterator[tuple[Light, str, float]]:
    """What the sentence reserves: everything, reproduction, or commercial use alone."""
    words = load_licences().phrases
    without_some = _blank(words["some"], folded)
    if found := words["reserved"].search(without_some):
        # A photographer's rights, or a phrase that is talked about, do not decide, but stand against a GREEN.
        near = folded[max(0, found.start() - 60) : found.start()]
        aside = (words["part"].search(near) and not has_work) or _in_quotes(folded, found)
        yield "RED", ALL_RIGHTS, WEAK if aside else STRONG
    # Each ban is read with what stands around it alone: one that is excused does not excuse the next.
    hits = [(match, True) for match in words["forbidden"].finditer(folded)]
    if _USE.search(folded):
        hits += [(match, False) for match in words["consent"].finditer(plain)]
    bound = 0
    for found, is_ban in sorted(hits, key=lambda hit: hit[0].start()):
        near = folded[max(bound, found.start() - 140) : found.end()]
        bound = found.end()
        yield from _banning(found, is_ban, near + folded[bound : bound + 60], near, folded, has_work, has_part, named)


def _banning(
    found: re.Match[str], is_ban: bool, around: str, near: str, folded: str, has_work: bool, has_part: bool, named: bool
) -> Iterator[tuple[Light, str, float]]:
    """What one ban, or one demand for permission, comes to."""
    words = load_licences().phrases
    # "Reprints only with the publisher's permission": a short statement that copying opens is about the document.
    opens = len(near) < 160 and bool(_COPYING.search(near[:60]))
    short = opens or len(folded) < _QUOTE or bool(_RIGHTS.search(folded))
    about = has_work or bool(_RIGHTS.search(folded)) or (is_ban and bool(_USE.search(found.group())))
    if not (about or opens) or _TOPIC.search(found.group()):
        return
    if words["beyond"].search(near) and (named or words["licensed"].search(folded) or has_work):
        yield "YELLOW", UNCLEAR, 0.0
    elif words["third"].search(near) and (words["part"].search(near) or not is_ban):
        yield "YELLOW", "Third-party material excepted", 0.0
    elif _commercial_only(around):
        yield "YELLOW", with_restrictions(COMMERCIAL, ("NC",)), 0.0
    elif short or (is_ban and _COPYING.search(found.group())):
        yield "RED", RESERVED, WEAK if has_part and not has_work else STRONG


def _in_quotes(folded: str, found: re.Match[str]) -> bool:
    """Whether the phrase stands in quotation marks: then it is talked about."""
    before, after = folded[max(0, found.start() - 3) : found.start()], folded[found.end() : found.end() + 3]
    return bool(_FRAMED.search(before) and _FRAMED.search(after))


def _commercial_only(folded: str) -> bool:
    words = load_licences().phrases
    general = _blank(words["noncommercial"], folded)
    return bool(words["commercial"].search(general)) and not _AT_ALL.search(folded)


def _named(
    one: NamedLicence, names: Sequence[NamedLicence], folded: str, plain: str, has_work: bool, has_part: bool
) -> tuple[Light, str, float]:
    """What it means that the sentence names this licence."""
    words = load_licences().phrases
    if one.name == UNSTATED:
        return "YELLOW", UNSTATED, WEAK
    bare = plain
    for other in names:
        bare = bare[: other.start] + " " * (other.end - other.start) + bare[other.end :]
    around = bare[max(0, one.start - 160) : one.end + 120]
    before = folded[: one.start]
    if any(
        words[kind].search(text) for kind, text in (("hypothetical", bare), ("negation", around), ("consent", around))
    ):
        return "YELLOW", one.name, 0.0
    if has_part and not has_work:
        return "YELLOW", one.name, 0.0
    if words["part"].search(plain[max(0, one.start - 60) : one.end + 40]) and not _whole_work(plain):
        return "YELLOW", one.name, 0.0
    if _BUT.search(bare[one.end :]) or (has_part and not _whole_work(plain)):
        return "YELLOW", one.name, 0.0
    licensed = words["licensed"].search(bare)
    if (licensed and has_work) or (_LABEL.search(before) and len(before) < 400):
        return "GREEN", one.name, STRONG
    # Nothing but the licence and the words one puts around it: a badge, a line of its own.
    alone = not {word for word in _WORD.findall(bare) if word not in load_licences().around}
    if alone:
        return "GREEN", one.name, STRONG if licensed else PLAIN
    if (has_work and len(bare.strip()) <= 60) or _RIGHTS.search(folded[max(0, one.start - 60) : one.end + 30]):
        return "GREEN", one.name, PLAIN
    return "YELLOW", one.name, 0.0


def _whole_work(plain: str) -> bool:
    """Whether the sentence is about all of the document although it names a part: "the text and photographs"."""
    words = load_licences().phrases
    work, part = words["work"].search(plain), words["part"].search(plain)
    return bool(work and part and work.end() <= part.start() and _JOINED.search(plain[work.end() : part.start()]))


def _granting(folded: str, plain: str, has_work: bool, has_part: bool) -> Iterator[tuple[Light, str, float]]:
    """What the sentence permits: reproduction, or that it is in the public domain."""
    words = load_licences().phrases
    if found := words["public_domain"].search(folded):
        if _LAND.search(folded) or not (_OPUS.search(folded) or len(folded) < 60):
            return
        clean = plain[: found.start()] + " " * len(found.group()) + plain[found.end() :]
        doubtful = words["negation"].search(clean) or words["hypothetical"].search(folded) or _BUT.search(clean)
        doubtful = doubtful or _SOMEWHERE.match(clean[found.end() :])
        aside = (has_part and not has_work) or not (has_work or len(folded) < 90)
        yield ("YELLOW", UNCLEAR, 0.0) if doubtful or aside else ("GREEN", "Public domain", STRONG)
        return
    found = words["granted"].search(plain)
    if not found or _TOPIC.search(folded) or not (has_work or words["credit"].search(folded)):
        return
    if not (_USE.search(folded) or words["credit"].search(folded)):
        return
    restrictions = [kind for kind, key in (("NC", "noncommercial"), ("ND", "unmodified")) if words[key].search(folded)]
    limited = words["purpose"].search(folded) and not _OTHER_NC.search(folded)
    doubtful = words["negation"].search(plain) or words["consent"].search(plain) or words["hypothetical"].search(plain)
    if limited or doubtful or (has_part and not _whole_work(plain)) or _BUT.search(plain[found.end() :]):
        yield "YELLOW", with_restrictions(UNCLEAR, restrictions), 0.0
    else:
        yield "GREEN", with_restrictions(AUTHORISED, restrictions), STRONG


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: " " * len(match.group()), text)
