"""A licence: its traffic light, the marks that show it, the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Light = Literal["GREEN", "YELLOW", "RED"]
LicenceSubject = Literal["", "document", "part", "data", "quoted"]


@dataclass(frozen=True, slots=True)
class LicenceMark:
    """One piece of evidence on a licence: the words, their place, the layer that read them, the verdict.

    `light` is what this mark alone would mean; `score` its weight on the paper's scale (20 decides). `place` is for a
    person: "rel=license", "footer", "page 2", "XMP xmpRights:WebStatement", "trusted domain ec.europa.eu". `licence` is
    the normalised name ("CC BY-NC 4.0", "OGL 3.0", "Public domain", "All rights reserved", ...). `rule` names the rows
    of data/licences.toml that decided: "granted-for-a-purpose it.granted.2"; "" if a value or a person did. It is no
    part of what makes two pieces of evidence one. `subject` is the subject of the statement, "" if it names none. Only
    a statement about the document, or one in a field for its licence, frees the document.
    """

    layer: Literal["domain", "mark", "pattern", "model", "person"]
    light: Light
    licence: str
    score: float
    quote: str
    place: str
    rule: str = field(default="", compare=False)
    subject: LicenceSubject = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class LicenceVerdict:
    """The traffic light for one source with everything it rests on.

    `restrictions` holds the "NC", "ND" and "SA" of the licence. `language` is that of the deciding statement.
    """

    light: Light
    licence: str
    marks: tuple[LicenceMark, ...]
    restrictions: tuple[str, ...] = ()
    language: str = ""
    conflict: bool = False
