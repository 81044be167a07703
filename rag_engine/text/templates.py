"""Sentences made from templates: filled in, and recognised in a kept text."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

# Templates with fewer letters fit sentences that are no example of them.
_FEWEST_LETTERS = 6
# A text may hold the words of a document or a server: longer ones are left as they are. A template has at most this
# number of sentences.
_LONGEST, _MOST_SENTENCES = 1000, 4
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"“<]|https?://)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")


@dataclass(frozen=True, slots=True)
class KnownSentence:
    """A sentence of a text with its template and values; `template` is "" for an unknown one.

    Several sentences are one where a template has several.
    """

    text: str
    template: str = ""
    values: Mapping[str, str | int] = field(default_factory=dict)


# Each template with its literal parts and the pattern of its examples. An example holds all parts. The first one comes
# first, the longest of the others last.
TemplatePatterns = tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]


def kept_sentence(template: str, **values: object) -> str:
    """Return a sentence in English that is kept with an answer or a run.

    A page recognises it by its template. docs/list_messages.py finds templates that are written as literals.
    """
    return template.format(**values)


def template_patterns(templates: Iterable[str]) -> TemplatePatterns:
    """Return each template with the pattern of its examples, the longest templates first."""
    lettered = [(sum(map(str.isalpha, "".join(_literals(one)))), one) for one in templates]
    ordered = sorted((one for one in lettered if one[0] >= _FEWEST_LETTERS), reverse=True)
    return tuple((template, _literals(template), _pattern(template)) for _letters, template in ordered)


def known_sentences(text: str, patterns: TemplatePatterns) -> Iterator[KnownSentence]:
    """Yield the sentences of a text, each with its template, if any."""
    if len(text) > _LONGEST:
        yield KnownSentence(text)
        return
    # Looked for once in all of the text: few templates are left for its parts.
    patterns = tuple(one for one in patterns if one[1][-1] in text and all(part in text for part in one[1]))
    while text:
        ends = [*islice((match.span() for match in _SENTENCE_END.finditer(text)), _MOST_SENTENCES)]
        if len(ends) < _MOST_SENTENCES:
            ends.append((len(text), len(text)))
        found = ((_example(text[:end], patterns), following) for end, following in ends)
        known, following = next(
            (one for one in found if one[0].template), (KnownSentence(text[: ends[0][0]]), ends[0][1])
        )
        yield known
        text = text[following:]


def fill_template(template: str, values: Mapping[str, object], number: Callable[..., str]) -> str:
    """Return a template with its values filled in.

    `number(value, decimals)` writes the numbers that have a format.
    """
    return _Filling(number).vformat(template, (), values)


def _example(text: str, patterns: TemplatePatterns) -> KnownSentence:
    for template, literals, pattern in patterns:
        if text.startswith(literals[0]) and all(one in text for one in literals) and (match := pattern.fullmatch(text)):
            values = match.groupdict().items()
            numbers = {name: int(one.replace(",", "")) for name, one in values if _THOUSANDS.fullmatch(one)}
            return KnownSentence(text, template, {**dict(values), **numbers})
    return KnownSentence(text)


def _literals(template: str) -> tuple[str, ...]:
    first, *others = (literal for literal, *_place in string.Formatter().parse(template))
    return (first, *sorted(others, key=len))


def _pattern(template: str) -> re.Pattern[str]:
    pieces, known = [], set[str]()
    for literal, name, _spec, conversion in string.Formatter().parse(template):
        pieces.append(re.escape(literal))
        if name is not None:
            place = f"(?P={name})" if name in known else f"(?P<{name}>.+?)"
            pieces.append(f"['\"]{place}['\"]" if conversion == "r" else place)
            known.add(name)
    return re.compile("".join(pieces), re.DOTALL)


class _Filling(string.Formatter):
    def __init__(self, number: Callable[..., str]) -> None:
        self._number = number

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec and isinstance(value, int | float):
            return self._number(value, 0 if float(value).is_integer() else 2)
        return str(value)
