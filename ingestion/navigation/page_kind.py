"""Page classification: a directory of documents, a landing page, or the document itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.navigation.link_choice import RankedLink, is_excluded, link_similarity, policy_word, rank_links
from ingestion.prompts import PAGE_KIND_RULES, PAGE_KIND_SCHEMA, page_kind_message
from ingestion.protocols import LanguageModel
from ingestion.types.source import PageKind
from ingestion.web.link_vocabulary import PageWords, load_page_words, words_of
from ingestion.web.links import PageLink, says_nothing
from ingestion.web.page import Page
from ingestion.web.urls import url_of_any_language
from rag_engine.errors import BackendError
from rag_engine.messages import NO_MESSAGE, Message

_SHOWN_LINKS = 20


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """The kind of a page, its confidence (0..1), why, and a landing page's links, best first.

    `warning` says what the model did not do.
    """

    kind: PageKind
    confidence: float
    why: Message
    candidates: tuple[RankedLink, ...] = ()
    warning: Message = NO_MESSAGE


def page_kind(
    page: Page,
    *,
    expected: str = "",
    languages: Sequence[str] = (),
    direct_similarity: float = 0.25,
    language_model: LanguageModel | None = None,
    seconds: float = 90.0,
) -> PageVerdict:
    """Return the kind of a page, by the rules of Buriasco 2026, two of ours, the model, else content.

    A directory has three distinct links with a policy word. They stand on separate lines and make a fair share of the
    page's text, so that a law with references to other laws counts as a document. A landing page has a link that offers
    the document, and is not itself the whole text of it.
    """
    words = load_page_words()
    listed = [link for link in page.links if link.standing and is_policy_link(link, page)]
    share = link_share(page)
    if len(listed) >= words.thresholds.directory_links and share >= words.thresholds.directory_link_share:
        why = Message(
            "{count} links hold a policy word; links are {share} of its text.", count=len(listed), share=f"{share:.0%}"
        )
        return PageVerdict("directory", words.confidence["directory"], why)
    title = expected or page.name
    offers = _offers(page, title, direct_similarity, words)
    if offers:
        candidates = rank_links(offers, title, languages)
        best = candidates[0].link
        why = Message("The link {link!r} offers a document.", link=best.name[:100] or best.url)
        return PageVerdict("landing", words.confidence["landing"], why, candidates)
    rule = PageVerdict(
        "content", words.confidence["content"], Message("Neither a list of policies nor a link to a document.")
    )
    if language_model is None or page.needs_scripts:
        return rule
    return _asked(page, title, languages, language_model, seconds, rule)


def is_policy_link(link: PageLink, page: Page) -> bool:
    """Return whether a link holds a policy word and may lead to a document."""
    return bool(policy_word(link, page.address)) and not is_excluded(link)


def link_share(page: Page) -> float:
    """Return the share 0..1 of the page's characters in links on separate lines."""
    linked = sum(len(link.name) for link in page.links if link.standing)
    return min(1.0, linked / len(page.text)) if page.text else 0.0


def _offers(page: Page, title: str, direct_similarity: float, words: PageWords) -> list[PageLink]:
    """Return the links that offer the page's document."""
    offers = list(page.embedded)
    # The characters of the page that stand in no link.
    own, limits = len(page.text) - sum(len(link.text) for link in page.links), words.thresholds
    # Several teasers are a list of news; none of them is the page's document.
    teasers = sum(1 for link in page.links if says_nothing(link.text) and words.more.covered(words_of(link.text)))
    for link in page.links:
        if is_excluded(link):
            continue
        text = words_of(link.text)
        # "Download" may stand within a long name; "more" is all that a teaser's link says.
        named = bool(words.document.covered(text))
        more = bool(words.more.covered(text)) and own < limits.teaser_text and teasers < limits.directory_links
        direct = link.file and (
            bool(policy_word(link, page.address)) or link_similarity(link, title) >= direct_similarity
        )
        if (named and link.file) or (own < limits.whole_text and (named or more or (direct and link.standing))):
            offers.append(link)
    if offers or own >= limits.whole_text:
        return offers
    # The only file that a page leads to, in all its languages, under any name ("Español").
    files = [link for link in page.links if link.file and not is_excluded(link)]
    return files if len({url_of_any_language(link.url) for link in files}) == 1 else []


def _asked(
    page: Page, title: str, languages: Sequence[str], language_model: LanguageModel, seconds: float, rule: PageVerdict
) -> PageVerdict:
    words = load_page_words()
    shown = [link for link in page.links if not is_excluded(link)]
    shown = [one.link for one in rank_links(shown, title, languages)[:_SHOWN_LINKS]]
    user = page_kind_message(title, page.title, page.text, [(link.name, link.url) for link in shown])
    try:
        reply = language_model.complete_json(PAGE_KIND_RULES, user, PAGE_KIND_SCHEMA, seconds=seconds)
    except BackendError as error:
        warning = Message(
            "{model} could not be asked what kind of page it is: {error}", model=language_model.name, error=error
        )
        return PageVerdict(rule.kind, rule.confidence, rule.why, warning=warning)
    reason = " ".join(str(reply.get("reason", "")).split())[:300]
    why = Message("{what}: {error}", what=language_model.name, error=reason)
    number = reply.get("link")
    if reply.get("kind") == "directory" and shown:
        return PageVerdict("directory", words.confidence["model"], why)
    if reply.get("kind") == "landing" and isinstance(number, int) and 1 <= number <= len(shown):
        chosen = rank_links([shown[number - 1]], title, languages)
        return PageVerdict("landing", words.confidence["model"], why, chosen)
    if reply.get("kind") == "content":
        return PageVerdict("content", words.confidence["model"], why)
    warning = Message(
        "{model} named no page kind that fits: {reply}", model=language_model.name, reply=str(reply)[:200]
    )
    return PageVerdict(rule.kind, rule.confidence, rule.why, warning=warning)
