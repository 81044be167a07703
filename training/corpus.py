"""Questions made from headings, definitions and table rows of real documents.

The sets of questions are in Spanish, French, Portuguese and Turkish; these are in the languages of the documents. They
have the forms that an analyst uses: a heading's words, "What does ... mean?", the value of a row.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.backends.identify_language import identify_language
from rag_engine.types.document import Block, ExtractedText
from training.measured import is_version_of_measured, measured_runs, measured_texts, word_runs
from training.samples import NEAR_MISS, Sample

_PASSAGE = 900
_SHORTEST = 200
_OF_EACH = 60
# The share of questions in another language than the passage's, whose terms stay as the passage has them.
_ACROSS = 0.25
_HEADING = re.compile(r"[^\W\d_][^.!?]{7,89}$")
_NUMBER = re.compile(r"^(?:(?:art\w*|section|madde|§)\.?\s*)?[\dIVXivx]+[\w./-]*[.)–-]*\s+", re.IGNORECASE)
_ABOUT = {
    "en": ("What does it say about {}?", "What are the rules on {}?", "{}"),
    "de": ("Was steht dort über {}?", "Was gilt für {}?", "{}"),
    "es": ("¿Qué dice sobre {}?", "¿Qué se establece sobre {}?", "{}"),
    "fr": ("Que dit le texte sur {} ?", "Que prévoit le texte pour {} ?", "{}"),
    "it": ("Che cosa dice su {}?", "Che cosa è previsto per {}?", "{}"),
    "pt": ("O que diz sobre {}?", "O que se prevê sobre {}?", "{}"),
    "tr": ("{} hakkında ne deniyor?", "{} nasıl düzenlenmiştir?", "{}"),
}
_MEANS = {
    "en": ("What does “{}” mean?", "What is {}?", "Define {}."),
    "de": ("Was bedeutet „{}“?", "Was ist {}?"),
    "es": ("¿Qué se entiende por «{}»?", "¿Qué es {}?"),
    "fr": ("Que signifie « {} » ?", "Qu'est-ce que {} ?"),
    "it": ("Che cosa si intende per «{}»?", "Che cos'è {}?"),
    "pt": ("O que se entende por «{}»?", "O que é {}?"),
    "tr": ("“{}” ne demektir?", "{} nedir?"),
}
_VALUE = {
    "en": ("{name} of {row}?", "What is the {name} for {row}?"),
    "de": ("{name} von {row}?", "Wie ist {name} bei {row}?"),
    "es": ("¿{name} de {row}?", "¿Cuál es {name} de {row}?"),
    "fr": ("{name} de {row} ?", "Quel est {name} pour {row} ?"),
    "it": ("{name} di {row}?", "Qual è {name} per {row}?"),
    "pt": ("{name} de {row}?", "Qual é {name} de {row}?"),
    "tr": ("{row} için {name} nedir?", "{row}: {name}?"),
}
# "“Party” means ...", "dado pessoal: informação relacionada a ...".
_DEFINED = re.compile(
    r"[“\"«„](?P<quoted>[^”\"»“]{3,60})[”\"»“]\s+(?:means|shall mean|refers to|bedeutet|bezeichnet|significa|désigne)\s"
    r"(?P<said>[^;.]{20,400}[;.]?)"
    r"|(?:^|\n)\s*(?:[IVXLC]+\s[–-]|\(?[a-zçğıöşü]{1,2}\))\s*(?P<listed>[^\W\d_][^:;.\n]{2,60}):\s(?P<meaning>[^;\n]{20,400};?)"
)


def of_corpus(folder: Path, randomly: random.Random) -> list[Sample]:
    """Return the samples made from the documents of a folder that are trained on.

    A passage that a question of data/eval asks for is not among them, nor one in garbled letters.
    """
    measured = measured_texts()
    samples: list[Sample] = []
    for file in trained_on(folder):
        text = extract(file, ExtractionLimits(), None)
        language = identify_language(text.text)
        if language not in _ABOUT:
            continue
        asked_for = measured_runs(measured, file.name, text)
        for kind in (_of_headings, _of_definitions, _of_tables):
            asked = randomly.choice([*_ABOUT]) if randomly.random() < _ACROSS else language
            made = list(kind(text, asked, randomly, file.stem))
            randomly.shuffle(made)
            kept = (one for one in made if _reads(one.question) and asked_for.isdisjoint(word_runs(one.passage)))
            samples += list(kept)[:_OF_EACH]
    return samples


def trained_on(folder: Path) -> list[Path]:
    """Return the documents to train on: readable without OCR, not a measured one in another language.

    Of two versions that are both asked about neither is trained on.
    """
    measured, files = measured_texts(), sorted(folder.iterdir())
    names = [file.name for file in files]
    return [
        file
        for file in files
        if file.suffix != ".txt"
        and not file.name.startswith("scan_")
        and not is_version_of_measured(measured, file.name, names)
    ]


def _reads(question: str) -> bool:
    """Whether a question consists of words, not of the signs of a font that hides its letters."""
    return sum(sign.isalpha() or sign.isspace() for sign in question) >= 0.75 * len(question)


def _sections(text: ExtractedText) -> Iterator[tuple[str, str]]:
    """Yield each heading with the text below it, up to the length of a passage."""
    heading, parts = "", list[str]()
    for block in (*text.blocks, Block(0, 0, 0, "heading")):
        said = " ".join(text.text[block.start : block.end].split())
        if block.kind != "heading":
            parts.append(said)
            continue
        passage = "\n\n".join(parts)
        if heading and len(passage) >= _SHORTEST:
            yield heading, passage[:_PASSAGE].rpartition(" ")[0] if len(passage) > _PASSAGE else passage
        heading, parts = _NUMBER.sub("", said), []


def _of_headings(text: ExtractedText, language: str, randomly: random.Random, name: str) -> Iterator[Sample]:
    sections = [(heading, passage) for heading, passage in _sections(text) if _HEADING.match(heading)]
    for at, (heading, passage) in enumerate(sections):
        asked = randomly.choice(_ABOUT[language]).format(heading)
        shown = f"{heading}\n\n{passage}" if randomly.random() < 0.5 else passage
        yield Sample(asked, shown, -1, -1, 1.0, f"{name} {at}", spans=False)
        others = [other for other, _ in enumerate(sections) if other != at and sections[other][0] != heading]
        if others:
            near = min(others, key=lambda other: abs(other - at) + randomly.random())
            yield Sample(asked, sections[near][1], -1, -1, 0.0, f"{name} {at}")


def _of_definitions(text: ExtractedText, language: str, randomly: random.Random, name: str) -> Iterator[Sample]:
    found = list(_DEFINED.finditer(text.text))
    for at, match in enumerate(found):
        term = " ".join((match["quoted"] or match["listed"]).split())
        said = match["said"] or match["meaning"]
        start = match.start("said") if match["said"] else match.start("meaning")
        begin = max(text.text.rfind("\n\n", 0, max(match.start() - 200, 0)), 0)
        passage = text.text[begin : begin + _PASSAGE]
        if start + len(said) > begin + len(passage):
            continue
        asked = randomly.choice(_MEANS[language]).format(term)
        yield Sample(asked, passage, start - begin, start - begin + len(said.rstrip()), 1.0, f"{name} d{at // 10}")
        other = found[(at + len(found) // 2) % len(found)]
        away = text.text[max(other.start() - 100, 0) : other.start() + _PASSAGE // 2]
        if term.casefold() not in away.casefold():
            yield Sample(asked, away, -1, -1, NEAR_MISS, f"{name} d{at // 10}")


def _of_tables(text: ExtractedText, language: str, randomly: random.Random, name: str) -> Iterator[Sample]:
    for at, block in enumerate(block for block in text.blocks if block.kind == "table"):
        lines = text.text[block.start : block.end].split("\n\n")
        for number, line in enumerate(lines):
            parts = [part.rpartition(": ") for part in line.split("; ")]
            if len(parts) < 2 or not all(key and value for key, _, value in parts[:2]):
                continue
            row = parts[0][2]
            key, _, value = randomly.choice(parts[1:])
            if not key or not value or len(row) > 80 or len(key) > 80:
                continue
            asked = randomly.choice(_VALUE[language]).format(name=key, row=row)
            passage, start = _around(lines, number, f"{key}: {value}")
            if start < 0:
                continue
            start += len(key) + 2
            yield Sample(asked, passage, start, start + len(value), 1.0, f"{name} t{at}")
            far = [other for other in range(len(lines)) if abs(other - number) > 3]
            if far:
                away, _ = _around(lines, randomly.choice(far), "")
                if row not in away:
                    yield Sample(asked, away, -1, -1, NEAR_MISS, f"{name} t{at}")


def _around(lines: Sequence[str], number: int, value: str) -> tuple[str, int]:
    """Return the lines around one as a passage, and where the value begins in that line."""
    first, last = max(number - 2, 0), number + 1
    passage = "\n\n".join(lines[first:last])[:1500]
    before = sum(len(line) + 2 for line in lines[first:number])
    return passage, passage.find(value, before) if value else 0
