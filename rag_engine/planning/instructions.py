"""Separation of a question's subject from instructions on its answer, by data/phrasing.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from rag_engine.text.folding import fold
from rag_engine.text.stop_words import listed_stopwords, stopwords
from rag_engine.text.tables import read_table

_BRACKETS = re.compile(r"\[[^\]]*\]|\([^)]*\)")
_SENTENCE_END = re.compile(r"[.?!…。？！]+[\"'»”’)\]]*\s+|\n+")
_LEFT_OVER = r"\s,;:–—-"
_JOINING = r"(?:and|then|e|ed|et|puis|y|und|ve|also|poi|luego)"
_LOOSE_START = re.compile(rf"^(?:[.{_LEFT_OVER}]+|{_JOINING}\s+(?=\W*$))+", re.IGNORECASE)
_LOOSE_END = re.compile(rf"(?:[{_LEFT_OVER}]|\b{_JOINING}\b)+(?=[.?!]*$)", re.IGNORECASE)
_INSTRUCTION_START = re.compile(rf"^[.{_LEFT_OVER}]*(?:{_JOINING}\s+)?", re.IGNORECASE)
_CLAUSE_END = re.compile(rf"[.!?;:,]+(?:\s+|$)|\n|\s+(?:[-–—]|{_JOINING})\s+", re.IGNORECASE)
QUOTED = re.compile(
    '"([^"\n]{2,100})"|“([^”\n]{2,100})”|„([^“”\n]{2,100})[“”]|«\\s*([^»\n]{2,100}?)\\s*»|»([^«\n]{2,100})«'
    "|(?<!\\w)['‘]((?:[^'’\n]|(?<=\\w)['’](?=\\w)){2,100})['’](?!\\w)"
)
_WORD = re.compile(r"\w+")
_OPENED = re.compile(r"(\w+)\s*:\s+")
# Letters by which a word of a model's instructions is known in the question.
_STEM = 5
# Letters of an ancient script stand for quotations.
_STAND_INS = tuple(map(chr, range(0x10080, 0x100FB)))


@dataclass(frozen=True, slots=True)
class Phrasing:
    """The patterns and words of all languages, ready to use; words are folded."""

    clause: re.Pattern[str]
    inner_clause: re.Pattern[str]
    phrase: re.Pattern[str]
    courtesy: re.Pattern[str]
    example: re.Pattern[str]
    layout: frozenset[str]
    stop_words: Mapping[str, frozenset[str]]
    acronyms: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Separated:
    """A question without its instructions and courtesies, and the instructions."""

    question: str
    instructions: str


@cache
def load_phrasing() -> Phrasing:
    """Return the phrasing tables, read once."""
    table = {**read_table("phrasing")}
    acronyms = table.pop("acronyms")
    number = "(?:[0-9]+|" + "|".join(word for entry in table.values() for word in entry["numbers"].split()) + ")"

    def alternatives(kind: str) -> str:
        return "|".join(f"(?:{pattern})" for entry in table.values() for pattern in entry[kind]).replace(
            "NUMBER", number
        )

    courtesy = alternatives("courtesies")
    # A clause begins with its sentence, after a comma or after "and", and may be put politely.
    inner = rf"[,;:–—]\s*(?:{_JOINING}\s+)?|\s-\s+|\b{_JOINING}\s+"
    clause = rf"(?:(?:{courtesy})\W*)?(?:{alternatives('clauses')}).*"
    return Phrasing(
        clause=_compile(rf"(?:^|{inner}){clause}"),
        inner_clause=_compile(rf"(?:{inner}){clause}"),
        phrase=_compile(rf"(?<!\w)(?:{alternatives('phrases')})(?!\w)"),
        courtesy=_compile(rf"(?<!\w)(?:{courtesy})(?!\w)\s*,?"),
        example=_compile(rf"(?<!\w)(?:{alternatives('examples')})[\s:,]*([^.?!;()]+)"),
        layout=frozenset(fold(word) for entry in table.values() for word in entry["layout"].split()),
        stop_words={
            language: stopwords(language) | set(map(fold, table.get(language, {}).get("requests", "").split()))
            for language in listed_stopwords()
        },
        acronyms=acronyms,
    )


def separate(question: str, phrasing: Phrasing) -> Separated:
    """Separate the subject of a question from the form of its answer.

    "Quote the definition of risk and name your sources" is all instructions. In such a case the opening of a sentence
    counts as subject first, then every clause does, so that a subject is left. Quotations in the question are material:
    no part of them is an instruction.

    >>> separate("Define risk. Answer in a table.", load_phrasing())
    Separated(question='Define risk.', instructions='Answer in a table')
    """
    quoted = (match.group() for match in QUOTED.finditer(question))
    quotations = dict(zip((one for one in _STAND_INS if one not in question), quoted, strict=False))
    for stand_in, quotation in quotations.items():
        question = question.replace(quotation, stand_in)
    separated = _separate(question, phrasing)
    return Separated(_restored(separated.question, quotations), _restored(separated.instructions, quotations))


def carried(instructions: str, question: str, phrasing: Phrasing) -> str:
    """Return on one line the clauses of a model's instructions that the question's own words carry.

    Each word of such a clause is in the question, outside of quotations, or merely describes the layout of an answer. A
    model invents forms that the person did not ask for. A quotation in a question must not speak as the analyst.
    """
    asked = {fold(word)[:_STEM] for word in _WORD.findall(QUOTED.sub(" ", question))}

    def is_carried(clause: str) -> bool:
        wished = [word for word in map(fold, _WORD.findall(clause)) if word not in phrasing.layout]
        return bool(wished) and all(word[:_STEM] in asked for word in wished)

    clauses = [" ".join(clause.split()) for clause in _CLAUSE_END.split(instructions) if _WORD.search(clause)]
    kept = [clause for clause in clauses if is_carried(clause)]
    return " ".join(instructions.split()) if kept and kept == clauses else "; ".join(kept)


def _restored(text: str, quotations: Mapping[str, str]) -> str:
    for stand_in, quotation in quotations.items():
        text = text.replace(stand_in, quotation)
    return text


def _separate(question: str, phrasing: Phrasing) -> Separated:
    for pattern in (phrasing.clause, phrasing.inner_clause, None):
        kept: list[str] = []
        taken: list[str] = []
        for sentence in _sentences(question):
            rest = sentence
            for part in (pattern, phrasing.phrase):
                if part is not None:
                    rest = _take(part, rest, taken)
            # On one line, without the commas and conjunctions around removed clauses.
            rest = " ".join(phrasing.courtesy.sub(" ", rest).split())
            rest = _LOOSE_END.sub("", _LOOSE_START.sub("", rest))
            # "Show in a table: the deadlines": the verb goes with its form.
            opened = _OPENED.match(rest) if taken else None
            if opened and any(fold(opened[1]) in words for words in phrasing.stop_words.values()):
                rest = rest[opened.end() :]
            kept.append(re.sub(r"\s+(?=[,.?!;])", "", rest).strip())
        cleaned = " ".join(sentence for sentence in kept if re.search(r"\w", sentence))
        if cleaned:
            return Separated(cleaned, "; ".join(taken))
    return Separated(" ".join(question.split()), "")


def _take(pattern: re.Pattern[str], sentence: str, taken: list[str]) -> str:
    """Return the sentence without the matches of the pattern, which are added to `taken`."""

    def take(match: re.Match[str]) -> str:
        piece = _INSTRUCTION_START.sub("", " ".join(match.group().split())).strip(" ,;:.?!")
        if piece:
            taken.append(piece)
        # The mark that ends the sentence stays with the question.
        return " " + "".join(re.findall(r"\?\s*$", match.group()))

    return pattern.sub(take, sentence)


def _sentences(text: str) -> list[str]:
    """Return the text cut at sentence ends before a capital, not inside brackets or after "e.g."."""
    hidden = _BRACKETS.sub(lambda match: "x" * len(match.group()), text)
    sentences: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(hidden):
        following = text[end.end() : end.end() + 1]
        if (
            "\n" in end.group()
            or following.isupper()
            or following in "¿¡«“„\"'"
            or following.isdigit()
            or following in _STAND_INS
        ):
            sentences.append(text[start : end.end()])
            start = end.end()
    return [sentence for sentence in (*sentences, text[start:]) if sentence.strip()]


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)
