"""Characters of symbol fonts, which number their glyphs as they like, as Unicode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

# The encoding of the font Symbol from 0x20 and from 0xA0, as Adobe publishes it; a dot where nothing is.
_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑",
)
# What office programs use of Wingdings: boxes, ticks, crosses, bullets and arrows.
_WINGDINGS = {
    0x4A: "☺", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "☐", 0x72: "☐", 0x75: "◆", 0x76: "❖", 0x77: "◆", 0x78: "☒",
    0x9F: "•", 0xA0: "▪", 0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓",
    0xE8: "→", 0xEF: "⇦", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"}
_FONTS = {
    "symbol": {
        start + place: sign for start, row in zip((0x20, 0xA0), _SYMBOL, strict=True) for place, sign in enumerate(row)
    }
    | {0xF1: "〉", 0xF2: "∫"},
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
    # Ticks and crosses fill in the boxes of forms.
    "zapfdingbats": {
        **dict.fromkeys(range(0x33, 0x39), "[x]"),
        **dict.fromkeys(range(0x6F, 0x73), "[ ]"),
        0x6C: "●",
        0x6E: "■",
        0x75: "◆",
        0x76: "❖",
        0xE4: "➤",
    },
}
# The prefix of a font of which a PDF holds a part, and what is behind its name.
_ADDED = re.compile(r"^[A-Z]{6}\+|(?:MT|PS)*(?:[-,](?:Regular|Roman|Bold|Italic))?$")


def in_unicode(text: str, font: str) -> str:
    r"""Return text in a font as Unicode: that of symbol fonts by glyph, a bullet for an unknown one.

    Office programs number the glyphs as bytes, or from 0xF000.

    >>> in_unicode("\uf0b3", "Symbol"), in_unicode("\xfe", "Wingdings"), in_unicode("a", "Arial")
    ('≥', '☑', 'a')
    """
    signs = _signs(font)
    if signs is None or not all(ord(sign) < 0x100 or 0xF000 <= ord(sign) < 0xF100 for sign in text):
        return text
    return "".join(sign if sign.isspace() else signs.get(ord(sign) & 0xFF, "•") for sign in text)


@lru_cache(maxsize=1000)
def is_symbol_font(font: str) -> bool:
    """Return whether a font has characters that are not those of Unicode."""
    return _signs(font) is not None


@lru_cache(maxsize=1000)
def _signs(font: str) -> Mapping[int, str] | None:
    return _FONTS.get(_ADDED.sub("", font).casefold())
