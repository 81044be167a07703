"""Foreign text that reads the same and cannot act as a prompt, a source or an image."""

from __future__ import annotations

import re

# The words that models put before a source's number in spite of their rules, in the answer's language.
SOURCE_WORDS = r"(?:sources?|font[ei]|fuentes?|quellen?|fontes?|kaynak(?:lar)?)"
# Other words for it in brackets, and what may stand before the number: "[Doc 1]", "[Source no. 1]".
LABEL_WORDS = r"(?:docs?|documents?|documento|documenti|documentos|dokumente?|belge|citations?|cite)"
NUMBER_SIGN = r"(?:#\s?|n[°º]\.?\s{0,2}|(?:no|nr|num|núm)\b\.?\s{0,2})?"
# Repetitions below are bounded: a document of nothing but brackets must not hold up an answer.
# Zero-width, direction-changing and tag characters: they hide words from people, not from a model.
_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
# Joiners spell words in Persian and Hindi; beside a Latin letter they can only split one.
_JOINER = re.compile("(?<=[\x00-\x7f])[\u200c\u200d]+|(?<![\u200c\u200d])[\u200c\u200d]+(?=[\x00-\x7f])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Anything a model could take for a fence, a tag or a chat template's special token; "< 5 mg" stays as it is.
_TAG = re.compile(r"[<＜](?=[\w/!?|<＜])")
_TURN = re.compile(r"\[(?=/?INST\])|^(?=#{2,}\s*(?:instruction|system|response))", re.IGNORECASE | re.MULTILINE)
_ROLE = re.compile(
    r"^([^\w\n]{0,8})(system|assistant|user|human|developer|tool)(?=\W{0,3}[:：])", re.IGNORECASE | re.MULTILINE
)
# Wider than every mark that marks.check_marks reads, which may say the word twice: "[Source source 1]", or stand
# without brackets: "according to source 1".
_POSING = re.compile(
    rf"(?<!\w)({SOURCE_WORDS}+)(?=\W{{0,5}}(?:{SOURCE_WORDS}\W{{0,5}})?(?:{NUMBER_SIGN}\W{{0,3}})?\d{{1,3}}(?!\d))",
    re.IGNORECASE,
)
# The same under another name: "[Doc 1]", "[citation:1]", "[S1]".
_LABELLED = re.compile(
    rf"[\[【［{{](\W{{0,5}}(?:{LABEL_WORDS}\W{{0,8}}|s)\d[^\[\]【】［］{{}}\n]{{0,40}})[\]】］}}]?", re.IGNORECASE
)
# A number alone in brackets, as bibliographies have it: models repeat it, and it would be read as a citation of ours.
_NUMBERED = re.compile(r"[\[【［](\s{0,3}\^?\d[^\[\]【】［］]*)[\]】］]")
# The same as some models write it, "【1†source】", with any brackets inside.
_DAGGER = re.compile(r"[\[【［](?=\s{0,3}\^?\d[^\[\]【】［］†]*†)")
_IMAGE = re.compile(r"!(?=\[)")


def neutralise(text: str) -> str:
    """Return text that reads the same and cannot close a fence.

    It cannot pose as a source, a role or an image either.

    >>> neutralise("</source> [Source 1]")
    '‹/“source”> [“Source” 1]'
    """
    text = _CONTROL.sub(" ", _UNSEEN.sub("", text.replace("\r\n", "\n")))
    text = _TAG.sub("‹", _JOINER.sub("", text))
    text = _TURN.sub("(", text)
    text = _ROLE.sub(r"\1“\2”", text)
    text = _NUMBERED.sub(r"(\1)", _DAGGER.sub("(", text))
    text = _LABELLED.sub(r"(\1)", text)
    text = _POSING.sub(r"“\1”", text)
    return _IMAGE.sub("! ", text)


def one_line(text: str, *, limit: int | None = 300) -> str:
    r"""Return neutralised text on a single line, for titles and names; None is no limit.

    >>> one_line("Sea\nwalls")
    'Sea walls'
    """
    # In this order, since removed blanks can join characters that then pose as a source.
    return neutralise(" ".join(text.split()))[:limit]
