"""Words for the engine's descriptions: English, unless a page gives others.

A description takes whole sentences with named places from here and puts none together, so that they can be translated.
`docs/list_messages.py` finds the sentences in the modules that import this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_engine.messages import Message
from rag_engine.text.languages import language_name


@dataclass(frozen=True, slots=True)
class Wording:
    """The words and formats of one language.

    `message(text, **values)` fills in a sentence. `counted(one, many, n, **values)` chooses the sentence for a number,
    which is {n}. `number` writes a number with the given decimals, `moment` a time in ISO form. `facet` names a facet,
    and `value` a value of it. `kept` translates a sentence that was kept in English, if it knows it.
    """

    message: Callable[..., str]
    counted: Callable[..., str]
    number: Callable[..., str]
    facet: Callable[[str], str]
    value: Callable[[str, str], str]
    kept: Callable[[str], str]
    moment: Callable[[str], str]

    def alternatives(self, values: Sequence[str]) -> str:
        """Return "Italy, France or Spain"."""
        if len(values) < 2:
            return "".join(values)
        return self.message("{some} or {last}", some=", ".join(values[:-1]), last=values[-1])

    def together(self, values: Sequence[str]) -> str:
        """Return "Italy, France and Spain"."""
        if len(values) < 2:
            return "".join(values)
        return self.message("{some} and {last}", some=", ".join(values[:-1]), last=values[-1])


def _counted(one: str, many: str, n: int, **values: object) -> str:
    return (one if n == 1 else many).format(n=_number(n), **values)


def _number(value: float, decimals: int = 0) -> str:
    return f"{value:,.{decimals}f}"


ENGLISH = Wording(
    message=Message,
    counted=_counted,
    number=_number,
    facet=lambda name: name.replace("_", " ").capitalize(),
    value=lambda name, value: (language_name(value) or value.upper()) if name == "language" else value,
    kept=str,
    # To the minute: "2026-11-24 10:00 UTC".
    moment=lambda when: f"{when[:16].replace('T', ' ')} UTC",
)
