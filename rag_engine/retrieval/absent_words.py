"""Words that a question asks a named document for and that its whole text does not hold in any form.

A word counts as absent only where nothing in the text may be a form of it: neither its stem within another word, nor
its beginning, nor a word written much alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rapidfuzz import fuzz, process

from rag_engine.planning.instructions import QUOTED
from rag_engine.retrieval.named_documents import act_mentions, own_documents
from rag_engine.storage.snapshot import CollectionView
from rag_engine.text.analyzer import stems_of
from rag_engine.text.file_kinds import page_kind
from rag_engine.text.folding import fold
from rag_engine.text.stop_words import stopwords
from rag_engine.text.tables import read_table
from rag_engine.types.document import DocumentRecord
from rag_engine.types.evidence import AbsentWord, QueryPlan

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_ATTACHED = re.compile(r"['’]?\w*")
_BROKEN = re.compile("-\\s*\n\\s*|\u00ad")
_NO_LETTER = re.compile(r"[\W_]+")
# What is asked for in more words is a sentence and no list of words.
_MOST_WORDS = 4
# Shorter words are forms of too many others, unless they are written in capitals.
_SHORTEST = 4
# Share of a word's letters with which its other forms begin, and letters that an ending may replace.
_BEGINNING, _REPLACED = 0.7, 2
# Of 100, from which two words with one first letter may be forms or spellings of one: woman and women.
_ALIKE = 78.0
# Plurals that nothing of the word begins.
_IRREGULAR = {
    "feet": "foot",
    "teeth": "tooth",
    "geese": "goose",
    "mice": "mouse",
    "children": "child",
    "people": "person",
    "uomini": "uomo",
}


@dataclass(frozen=True, slots=True)
class MentionWords:
    """Words of a language with which a question asks whether a document speaks of something."""

    verbs: tuple[str, ...]
    frame: frozenset[str]
    open: frozenset[str]


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The words that a question asks a document for, and the documents in which to search them.

    `name` is the document's in the question, whose language is `language`.
    """

    words: tuple[str, ...]
    name: str
    language: str
    documents: tuple[DocumentRecord, ...]

    def plan(self, asking: QueryPlan) -> QueryPlan:
        """Return the plan of a search for the words alone."""
        words = " ".join(self.words)
        return replace(asking, question=f"{self.name}: {words}", queries=(words,))


def asked_words(plan: QueryPlan, view: CollectionView) -> AskedWords | None:
    """Return the words that the question asks one act or document for; None if it asks otherwise.

    The question has to be in the language of the document; words in quotation marks alone may be asked for in another.
    """
    question = unicodedata.normalize("NFC", plan.question)
    mentions = act_mentions(question, plan.language, view)
    if len(mentions) != 1:
        return None
    [mention] = mentions
    known = view.snapshot.documents
    documents = tuple(known[key] for act in mention.acts for key in sorted(own_documents(act, known)))
    languages = {one.metadata.language for one in documents}
    rest = f"{question[: mention.start]} \n {_ATTACHED.sub('', question[mention.end :], count=1)}"
    quoted = [word for match in QUOTED.finditer(rest) for word in _WORD.findall(match.group())]
    for language in languages if len(languages) == 1 else ():
        asked_in, words = language, _searched(rest, language)
        if not words and quoted and _searched(rest, plan.language):
            asked_in = plan.language
            words = quoted if all(_is_known(word, language, view) for word in quoted) else []
        if words:
            name = question[mention.start : mention.end]
            return AskedWords(tuple(words), name, asked_in, documents)
    return None


def absent_word(asked: AskedWords, view: CollectionView, *, every: bool) -> AbsentWord | None:
    """Return the first word that none of the documents holds; None if there is a doubt.

    Pages that were read by OCR, or that gave no text, may hold any word; so may the pictures of office files. If
    `every` is set, all words must be absent.
    """
    if any(_may_hide_words(one, view) for one in asked.documents):
        return None
    texts = [view.catalog.text(one.key) for one in asked.documents]
    language = asked.documents[0].metadata.language
    missing = [word for word in asked.words if not any(occurs(word, text, language) for text in texts)]
    paged = [one.pages for one in asked.documents if page_kind(one.file) == "page"]
    pages = sum(paged) if len(paged) == len(asked.documents) else 0
    if not missing or (every and len(missing) < len(asked.words)):
        return None
    return AbsentWord(missing[0], asked.name, asked.language, pages)


def occurs(word: str, text: str, language: str) -> bool:
    """Return whether a text may hold a word in any of its forms, alone or within another word.

    >>> occurs("Kraftwerke", "Ein Kernkraftwerk darf nicht gebaut werden.", "de")
    True
    >>> occurs("Kraftwerke", "Windräder dürfen gebaut werden.", "de")
    False
    """
    whole, spelled = _spelling(_BROKEN.sub("", text)), _spelling(word)
    forms = {spelled, _IRREGULAR.get(spelled, spelled), *map(_spelling, stems_of(word, language))}
    kept = min(round(len(spelled) * _BEGINNING), len(spelled) - _REPLACED)
    if language == "pt" and spelled.endswith(("oes", "aes", "aos")):
        kept = len(spelled) - len("oes")
    if len(spelled) > _SHORTEST:
        forms.add(spelled[: max(kept, 3)])
    # "Kitap" becomes "kitabı".
    forms |= {form[:-1] for form in forms if language == "tr" and len(form) > _SHORTEST}
    # Letters may be spaced, and a word broken at the end of a line.
    if any(form in whole for form in forms) or _NO_LETTER.sub("", spelled) in _NO_LETTER.sub("", whole):
        return True
    alike = {word for word in _WORD.findall(whole) if word.startswith(spelled[0])}
    if len(spelled) > _SHORTEST and any(
        not forms.isdisjoint(map(_spelling, stems_of(word, language))) for word in alike
    ):
        return True
    return process.extractOne(spelled, alike, scorer=fuzz.ratio, score_cutoff=_ALIKE) is not None


def _spelling(text: str) -> str:
    """Return a text folded, with one spelling of sulfur and sulphur."""
    return fold(text).replace("ph", "f")


def _searched(rest: str, language: str) -> list[str]:
    """Return what a question without the name of its document asks for, [] if it does not ask for words."""
    known = _mention_words().get(language)
    told = [match.group() for match in _WORD.finditer(rest)]
    folded = [fold(word) for word in told]
    verbs = [place for place, word in enumerate(folded) if known and word.startswith(known.verbs)]
    if not known or not verbs or not known.open.isdisjoint(folded[verbs[0] :]):
        return []
    left_out = known.frame | stopwords(language)
    words = [
        word
        for word, plain in zip(told, folded, strict=True)
        if plain not in left_out and not plain.startswith(known.verbs)
    ]
    searchable = all((len(word) >= _SHORTEST or word.isupper()) and not word.isdecimal() for word in words)
    return words if len(words) <= _MOST_WORDS and searchable else []


def _is_known(word: str, language: str, view: CollectionView) -> bool:
    """Return whether a document of a language holds a word, so that it is one of the language."""
    keys = view.snapshot.facets.get("language", {}).get(language, frozenset())
    return any(fold(word) in fold(view.catalog.text(key)) for key in keys)


def _may_hide_words(document: DocumentRecord, view: CollectionView) -> bool:
    """Return whether a document has pages whose text is uncertain or missing, or is an office file."""
    if document.ocr_pages or not document.media_type.startswith(("application/pdf", "text/")):
        return True
    lines = view.catalog.lines(document.key)
    return len({line.page for line in lines if line.end > line.start}) < document.pages


@cache
def _mention_words() -> Mapping[str, MentionWords]:
    def folded(words: Sequence[str]) -> Iterator[str]:
        return (fold(word) for word in words)

    return {
        language: MentionWords(
            tuple(folded(table["verbs"])),
            frozenset(folded(table["frame"].split())),
            frozenset(folded(table["open"].split())),
        )
        for language, table in read_table("mentions").items()
    }
