"""Licence by a language model, for texts that evidence and rules leave open; believed only with a quotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ingestion.licence.names import name_of_text, names_in
from ingestion.licence.patterns import RESERVED, UNCLEAR, read_statements, says_reserved
from ingestion.licence.statement import statement_of
from ingestion.licence.table import load_licences, score_of, tidy_text
from ingestion.prompts import LICENCE_RULES, LICENCE_SCHEMA, licence_message
from ingestion.types import LicenceMark
from rag_engine.errors import BackendError
from rag_engine.text.folding import fold_in_place
from rag_engine.text.templates import kept_sentence

if TYPE_CHECKING:
    from ingestion.protocols import LanguageModel

SNIPPET = 6_000
_FEWEST = 12
_MOST = 600


def ask_model(
    language_model: LanguageModel, texts: Sequence[str], *, seconds: float
) -> tuple[LicenceMark | None, str, str]:
    """Return the model's mark, the language of its quotation, and a message where it was not believed.

    No mark without a model that answers in time. A GREEN needs a quotation that is in the text, has words of
    licences in it, and neither takes anything back nor is talked about; otherwise it is YELLOW.
    """
    text = tidy_text("\n\n".join(texts))[:SNIPPET]
    if not text:
        return None, "", kept_sentence("There was no text for the language model to judge.")
    try:
        reply = language_model.complete_json(LICENCE_RULES, licence_message(text), LICENCE_SCHEMA, seconds=seconds)
    except BackendError as error:
        return None, "", kept_sentence("The language model did not judge the licence: {error}", error=error)
    decision, licence, language, quote = (reply.get(key) for key in ("decision", "licence", "language", "quote"))
    if decision not in ("GREEN", "YELLOW", "RED") or not isinstance(quote, str):
        message = kept_sentence(
            "The language model {model} gave no usable answer on the licence.", model=language_model.name
        )
        return None, "", message
    language_code = language[:2].lower() if isinstance(language, str) else ""
    place = f"model {language_model.name}"
    if decision == "YELLOW":
        return LicenceMark("model", "YELLOW", "", 0.0, quote[:_MOST], place), language_code, ""
    if reason := _disbelief(quote, text, decision == "GREEN"):
        message = kept_sentence(
            "The language model {model} said {decision}, which is not believed: {why}.",
            model=language_model.name,
            decision=decision,
            why=reason,
        )
        return LicenceMark("model", "YELLOW", "", 0.0, quote[:_MOST], place), language_code, message
    # The name is the quotation's, not the model's: it must not be talked into a freer one.
    name = name_of_text(quote) or (UNCLEAR if decision == "GREEN" else RESERVED)
    if decision == "GREEN" and isinstance(licence, str) and name == UNCLEAR:
        name = "Reuse granted"
    return LicenceMark("model", decision, name, score_of("strong"), quote[:_MOST], place), language_code, ""


def _disbelief(quote: str, text: str, green: bool) -> str:
    """Return why an answer is not believed, or ""."""
    quoted = " ".join(fold_in_place(tidy_text(quote)).split())
    if not _FEWEST <= len(quoted) <= _MOST:
        return "its quotation is too short or too long"
    whole = " ".join(fold_in_place(text).split())
    at = whole.find(quoted)
    if at < 0:
        return "its quotation does not stand in the text"
    if not green:
        return ""
    words = load_licences().phrases
    if not (names_in(quote) or words["granted"].search(quoted) or words["public_domain"].search(quoted)):
        return "its quotation grants nothing"
    # What is around the quotation may take it back: "it is not true that ...".
    around = whole[max(0, at - 200) : at + len(quoted) + 200]
    if says_reserved(quote) or says_reserved(around):
        return "its quotation is beside words that reserve rights"
    before = whole[max(0, at - 60) : at]
    plain = words["neutral"].sub(" ", before.rpartition(". ")[2] + quoted)
    if words["negation"].search(plain) or words["consent"].search(plain) or words["hypothetical"].search(plain):
        return "its quotation is taken back, conditional, or about licences at large"
    if words["purpose"].search(quoted) or (words["part"].search(plain) and not words["work"].search(plain)):
        return "its quotation frees only a part or a purpose"
    if statement_of(quote).subject != "document":
        return "its quotation does not say that it is about the document"
    if any(mark.light == "YELLOW" and mark.score > 0 for mark in read_statements(quote, "")):
        return "its quotation does not say which licence"
    return ""
