"""Quality score of a text, and the thresholds that it must reach."""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ingestion.config import QualityConfig
from ingestion.types.outcome import Outcome, OutcomeReason
from ingestion.types.source import Extraction, ListedSource, Quality
from rag_engine.config import DATA, ChunkSizes
from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.text.folding import fold, fold_title
from rag_engine.text.letter_pairs import is_made_of, usual_pairs
from rag_engine.text.stop_words import stopwords
from rag_engine.types.document import ExtractedText

# The types whose pages a reader counts; sheets and formats without pages are measured in characters.
_PAGED = ("pdf", "presentation", "powerpoint")
_PAGE_CHARACTERS = 1_800
_KEY_TERMS = 15
# Between a page's own title and the name of its site.
_SITE = re.compile(r"\s+[|–—·»-]\s+|\s*[|»]\s*|\s+::\s+")
_LONGEST_TITLE = 500
_LONGEST_SITE_NAME = 8
# A single word ("Privacy") may be the first of a real title, so less may stand beside it.
_LONGEST_BESIDE_ONE_WORD = 5
_LONGEST_REMAINDER = 3
# 1., 1.2.3, IV., A), § 5, Chapter 2: what is written before the name of a section.
_SECTION_NUMBER = re.compile(
    r"^(?:(?:chapter|part|capitolo|titolo|capitulo|titulo|chapitre|titre|kapitel|abschnitt|teil|bolum|kisim|hoofdstuk|"
    r"deel|kapittel|del) )?(?:[\d. /-]{1,12}|[ivxl]{1,6}\b|[a-h]\b) ?"
)
_LONGEST_HEADING = 120
_FEWEST_ARTICLES = 3
_WORD = re.compile(r"[^\W\d_]{3,30}")
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u9fff]")
_MASKED = re.compile(r"[\[<{](?:URL|E?-?MAIL)[\]>}]", re.IGNORECASE)
# For length, chunks, sections and cleaning: at most 50, 20, 15 and 15.
Points = tuple[float, float, float, float]
# What is between blanks, without the signs around it; its parts between hyphens, apostrophes, points and strokes.
_TOKEN = re.compile(r"\S+")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_LETTERS = re.compile(r"[^\W\d_]+")
_JOINTS = re.compile(r"[-‐‑–'’./&]")
# A word in capitals up to this length may be an acronym, which follows no rule: it counts half.
_ACRONYM = 5
_ENOUGH_LETTERS = 60
_LONGEST_WORD = 100
# Running text has a function word of three letters or more in every four to eight words, a form in every twelve.
_USUAL_SHARE = 0.08
_ENOUGH_WORDS = 80
# A sample from all over the text tells as much as the whole of it.
_SAMPLE = 200_000
_PIECES = 20


@dataclass(frozen=True, slots=True)
class _Tables:
    """data/quality.toml, ready to use."""

    whole: frozenset[str]
    start: tuple[str, ...]
    sections: Mapping[str, str]
    articles: re.Pattern[str]


def judge_quality(
    source: ListedSource, extraction: Extraction, extracted: ExtractedText, cleaned: str, config: QualityConfig
) -> Outcome:
    """Done or refused, with the score and its parts as evidence either way.

    The title is judged first, as it tells more than the size of a page that is no document. Sizes in bytes only say
    something of files with pages; where there are none, pages are estimated at 1,800 characters each.
    """
    quality = measure_quality(extraction, extracted, cleaned, published=config.published_score)
    reason, message = _refusal(source, extraction, quality, config) or ("", NO_MESSAGE)
    return Outcome("refused" if reason else "done", reason, message, quality)


def measure_quality(
    extraction: Extraction, extracted: ExtractedText, cleaned: str, *, published: bool = False
) -> Quality:
    """Return the score of a text, from 0 to 100, and its parts.

    By the formula that was published, or by ours.
    """
    found = find_sections(extracted)
    whole = len(extracted.text)
    reduction = 1 - min(len(cleaned), whole) / whole if whole else 1.0
    parts = published_points if published else our_points
    length, chunks, sections, cleaning = parts(len(cleaned), len(found), reduction)
    score = round(length + chunks + sections + cleaning, 1)
    legible = readability(extracted.text, extraction.language) if extraction.ocr_pages > 0 else 1.0
    terms = key_terms(cleaned or extracted.text, extraction.language)
    return Quality(score, length, chunks, sections, cleaning, legible, found, terms)


def published_points(characters: int, sections: int, reduction: float) -> Points:
    """Return the points of Buriasco 2026, section 4.5.5, for cleaned characters and the share removed.

    Not said there: how many points a chunk of a thousand characters brings (here one), and what more than 40% removed
    bring (here none).
    """
    steps = ((50_000, 40.0), (1_999, 50.0), (999, 30.0))
    length = next((points for beyond, points in steps if characters > beyond), 20.0)
    by_sections = 15.0 if sections >= 3 else 7.0 if sections else 0.0
    cleaning = 5.0 if reduction < 0.1 else 15.0 if reduction <= 0.4 else 0.0
    return length, min(20.0, float(math.ceil(characters / 1_000))), by_sections, cleaning


def our_points(characters: int, sections: int, reduction: float) -> Points:
    """Return the points of our formula, without steps and fair to long or clean texts.

    By the published formula an empty text has 20 points. A law of 60,000 characters has ten fewer than a leaflet of
    2,000. A text that needed no cleaning has ten fewer than one with a tenth of furniture. Length: 25 points for each
    tenfold above 500 characters, so 50 from 50,000. Chunks: one for each child that it would be cut into. Sections:
    three for each kind. Cleaning: 15 where a tenth or less was removed, falling to 0 at six tenths.

    >>> our_points(characters=5_000, sections=2, reduction=0.1)
    (25.0, 5.0, 6.0, 15.0)
    """
    length = min(50.0, 25.0 * math.log10(characters / 500)) if characters > 500 else 0.0
    cleaning = 15.0 * min(1.0, max(0.0, (0.6 - reduction) / 0.5))
    chunking = ChunkSizes()
    # Children that the text is cut into, with the usual overlap.
    chunks = math.ceil(characters / (chunking.child_size - chunking.child_overlap))
    return round(length, 1), min(20.0, float(chunks)), min(15.0, 3.0 * sections), round(cleaning, 1)


def refused_title(title: str) -> str:
    """Return the entry of the blacklist that a title is, or "".

    A document that only begins like one is not refused.

    >>> refused_title("Privacy Policy | Environment Agency"), refused_title("Privacy in the age of disasters")
    ('privacy policy', '')
    """
    tables = _tables()
    plain = _plain(title)
    if plain in tables.whole:
        return plain
    for entry in tables.start:
        if plain.startswith(f"{entry} ") and len(plain[len(entry) :].split()) <= _LONGEST_REMAINDER:
            return entry
    parts = [part for part in map(_plain, _SITE.split(title[:_LONGEST_TITLE])) if part]
    for part in {parts[0], parts[-1]} if len(parts) > 1 else ():
        beside = sum(len(other.split()) for other in parts) - len(part.split())
        most = _LONGEST_SITE_NAME if " " in part else _LONGEST_BESIDE_ONE_WORD
        if part in tables.whole and beside <= most:
            return part
    return ""


def find_sections(extracted: ExtractedText) -> tuple[str, ...]:
    """Return English names of the kinds of sections that have a heading, in reading order.

    In nine languages.

    A heading is a block that is marked as one, or a short block alone. "articles" are numbered ones.
    """
    tables = _tables()
    found: dict[str, None] = {}
    articles = 0
    for block in extracted.blocks:
        first = extracted.text[block.start : min(block.end, block.start + _LONGEST_HEADING)].split("\n", 1)[0]
        plain = _plain(first)
        if tables.articles.match(plain):
            articles += 1
        if block.kind == "heading" or block.end - block.start <= _LONGEST_HEADING:
            named = _section(plain, tables.sections) or _section(_SECTION_NUMBER.sub("", plain), tables.sections)
            if named:
                found[named] = None
    if articles >= _FEWEST_ARTICLES:
        found["articles"] = None
    return tuple(found)


def key_terms(text: str, language: str) -> tuple[str, ...]:
    """Return up to 15 words by frequency, then alphabet.

    None of function words and scripts without spaces.

    >>> key_terms("The river floods. Floods of the river threaten the dyke.", "en")
    ('floods', 'river', 'dyke', 'threaten')
    """
    counted = Counter(word.casefold() for word in _WORD.findall(_MASKED.sub(" ", text)))
    left_out = stopwords(language) | stopwords("en")
    spaced = (
        (word, count) for word, count in counted.items() if fold(word) not in left_out and not _UNSPACED.match(word)
    )
    return tuple(word for word, _ in sorted(spaced, key=lambda term: (-term[1], term[0]))[:_KEY_TERMS])


def _refusal(
    source: ListedSource, extraction: Extraction, quality: Quality, config: QualityConfig
) -> tuple[OutcomeReason, Message] | None:
    """Return the first threshold that is not reached, and its message."""
    title = extraction.title or source.title
    if entry := refused_title(title):
        return "title_refused", Message(
            "Its title “{title}” is that of a page, not of a document (listed: “{entry}”).", title=title, entry=entry
        )
    paged = any(kind in extraction.media_type for kind in _PAGED)
    if paged and extraction.size < config.minimum_bytes:
        return "file_too_small", Message(
            "It has {count:,} bytes; the least is {least:,}.", count=extraction.size, least=config.minimum_bytes
        )
    pages = extraction.pages if paged else max(1, math.ceil(extraction.characters / _PAGE_CHARACTERS))
    if pages < config.minimum_pages:
        return "too_few_pages", _too_few_pages(pages, config.minimum_pages, estimated=not paged)
    if extraction.characters < config.minimum_characters:
        return "too_little_text", Message(
            "It has 1 character of text; the least is {least:,}."
            if extraction.characters == 1
            else "It has {count:,} characters of text; the least is {least:,}.",
            count=extraction.characters,
            least=config.minimum_characters,
        )
    if quality.readability < config.minimum_readability:
        return "unreadable_text", Message(
            "{share:.0%} of its text read by OCR looks like words; the least is {least:.0%}. "
            "Scan it again, or find a copy.",
            share=quality.readability,
            least=config.minimum_readability,
        )
    if quality.score < config.minimum_score:
        return "low_score", Message(
            "Its quality score is {score:g} of 100; the least is {least:g}.",
            score=quality.score,
            least=config.minimum_score,
        )
    return None


def _too_few_pages(pages: int, least: int, *, estimated: bool) -> Message:
    if estimated:
        return Message(
            "It has 1 page (estimated at {characters:,} characters each, as the file has no pages); "
            "the least is {least}."
            if pages == 1
            else "It has {count:,} pages (estimated at {characters:,} characters each, as the file has no pages); "
            "the least is {least}.",
            count=pages,
            characters=_PAGE_CHARACTERS,
            least=least,
        )
    return Message(
        "It has 1 page; the least is {least}." if pages == 1 else "It has {count:,} pages; the least is {least}.",
        count=pages,
        least=least,
    )


def _plain(text: str) -> str:
    return fold_title(text).replace(".", " ").strip()


def _section(heading: str, sections: Mapping[str, str]) -> str:
    """Return the kind of section that a heading names with its first words, the longest name first.

    "" for none.
    """
    words = heading.split()
    for count in range(min(5, len(words)), 0, -1):
        if named := sections.get(" ".join(words[:count])):
            # "Annex 2: ..." and "Measures against floods", but not a sentence that begins with such a word.
            return named if len(words) - count <= 6 else ""
    return ""


@cache
def _tables() -> _Tables:
    table = tomllib.loads((DATA / "quality.toml").read_text(encoding="utf-8"))
    sections: dict[str, list[str]] = table["sections"]
    numbered = "|".join(sorted({_plain(word) for word in sections.pop("articles")}))
    return _Tables(
        whole=frozenset(map(_plain, table["titles"]["whole"])),
        start=tuple(map(_plain, table["titles"]["start"])),
        sections={_plain(name): kind for kind, names in sections.items() for name in names},
        articles=re.compile(
            rf"(?:{numbered}) ?\d|\d{{1,3}} ?(?:{numbered})\b|(?:{numbered}) (?:premier|unico|i)\b|§ ?\d"
        ),
    )


def readability(text: str, language: str) -> float:
    """Return the share 0..1 of letters in words of the language.

    Function words, or made of its usual pairs.

    Running text has .8 to .98, letters in a wrong order .2 to .45. A language without a table of pairs
    (data/letter_pairs.toml) is judged by its function words alone. The share is 1 if they are as frequent as in a form,
    and less below. Without those too, and with few words, nothing is known, and that is 1.

    >>> text = 3 * "Municipalities prepare an emergency plan for every river basin and revise it each year. "
    >>> readability(text, "en"), readability(text[::-1], "en")
    (1.0, 0.411)
    """
    sample = _sample(text)
    pairs = usual_pairs().get(language)
    functions = stopwords(language)
    if pairs is None:
        # Arabic joins its function words to the next word, so that they cannot be counted.
        return 1.0 if language == "ar" else _by_function_words(sample, functions)
    counted = good = 0.0
    for token in _TOKEN.findall(sample):
        bare = _EDGES.sub("", token[:_LONGEST_WORD])
        if not any(letter.isalpha() for letter in bare):
            continue
        for part in _JOINTS.split(bare):
            if part and not part.isdigit():
                counted += len(part)
                good += len(part) * _looks_right(part, pairs, functions)
    return round(good / counted, 3) if counted >= _ENOUGH_LETTERS else 1.0


def _by_function_words(sample: str, functions: frozenset[str]) -> float:
    words = [fold(word) for word in _LETTERS.findall(sample)]
    if not functions or len(words) < _ENOUGH_WORDS:
        return 1.0
    # Short ones come about by chance.
    share = sum(len(word) > 2 and word in functions for word in words) / len(words)
    return round(min(1.0, share / _USUAL_SHARE), 3)


def _sample(text: str) -> str:
    if len(text) <= _SAMPLE:
        return text
    step, size = len(text) // _PIECES, _SAMPLE // _PIECES
    return " ".join(text[start : start + size] for start in range(0, step * _PIECES, step))


def _looks_right(word: str, pairs: frozenset[str], functions: frozenset[str]) -> float:
    folded = fold(word)
    if folded in functions:
        return 1.0
    if word.isupper() and len(word) <= _ACRONYM:
        return 0.5
    return float(is_made_of(word, pairs))
