"""Relevance of a link for a source, by its words, else by a model's yes or no."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from ingestion.navigation.link_choice import link_similarity
from ingestion.prompts import LINK_RULES, LINK_SCHEMA, link_message
from ingestion.protocols import LanguageModel
from ingestion.web.link_vocabulary import load_page_words, words_of
from ingestion.web.links import PageLink, says_nothing
from rag_engine.errors import BackendError
from rag_engine.text.templates import kept_sentence


def why_off_topic(
    link: PageLink, *, expected: str, page_name: str, language_model: LanguageModel | None, seconds: float
) -> str:
    """Return why a link is not to be followed from a page named `page_name` in search of `expected`, "" where it is.

    Rules say yes to a link that is like the title or holds a policy word, and to one that only says "download",
    since its page is the one that was asked for. They say no to menus. The model is asked about the rest; without
    one, or when it fails, the rest is off topic. `expected` may be "".
    """
    named = repr(link.name[:100]) if link.name else link.url[:200]
    if is_excluded(link):
        return kept_sentence("The link {link} leads to no document.", link=named)
    alike = max(link_similarity(link, expected), link_similarity(link, page_name))
    offering = says_nothing(link.text) and not link.context
    if alike >= load_page_words().thresholds.similar_title or policy_word(link) or offering:
        return ""
    without = kept_sentence(
        "The link {link} is not like the expected title ({alike}) and holds no policy word.",
        link=named,
        alike=f"{alike:.2f}",
    )
    if language_model is None:
        return without
    try:
        question = link_message(expected, page_name, text=link.name, address=link.url)
        reply = language_model.complete_json(LINK_RULES, question, LINK_SCHEMA, seconds=seconds)
    except BackendError as error:
        return (
            f"{without} {kept_sentence('{model} could not be asked: {error}', model=language_model.name, error=error)}"
        )
    reason = " ".join(str(reply.get("reason", "")).split())[:300]
    return "" if reply.get("relevant") is True else kept_sentence("The link {link}: {why}", link=named, why=reason)


def is_excluded(link: PageLink) -> bool:
    """Return whether a link is one of those that lead to no document: privacy, cookies, log in, share ...

    It is where such words make up half of its text, so "Privacy policy" is and "Federal data privacy act" is not.
    """
    excluded = load_page_words().excluded
    names = filter(None, (words_of(link.text), words_of(link.file_name)))
    return any(2 * len(excluded.covered(name)) >= len(name) for name in names)


def policy_word(link: PageLink, page_address: str = "") -> str:
    """Return the first policy word in a link's text, else in its address, else "".

    Of the address only the path counts, and of that only what the page's own does not have: on a site kept under
    /policies/ that word says nothing about a link.
    """
    policy = load_page_words().policy
    return policy.first(words_of(link.name)) or policy.first(words_of(_own_path(link.url, page_address)))


def names_document(link: PageLink, page_address: str = "") -> bool:
    """Return whether a link to a file names a policy, or a programme, report or standard."""
    genre = load_page_words().genre
    return bool(
        policy_word(link, page_address)
        or genre.first(words_of(link.name))
        or genre.first(words_of(_own_path(link.url, page_address)))
    )


def _own_path(url: str, page_address: str) -> str:
    try:
        path, page = unquote(urlsplit(url).path), unquote(urlsplit(page_address).path)
        if urlsplit(url).netloc != urlsplit(page_address).netloc:
            page = ""
    except ValueError:
        return ""
    if page and path.startswith(page.rstrip("/") + "/"):
        return path[len(page.rstrip("/")) + 1 :]
    folder = page.rpartition("/")[0] + "/"
    return path[len(folder) :] if page and path.startswith(folder) else path
