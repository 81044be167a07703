"""Evidence to an answer: sources packed into the model's window, words streamed, citations checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from time import perf_counter
from typing import Literal

from rag_engine import answer_sentences, prompts
from rag_engine.answering import replies
from rag_engine.answering.citations import PageOf, cite
from rag_engine.answering.quotations.extractive import QuotedAnswer, quote
from rag_engine.answering.refuse_answer import unnamed
from rag_engine.answering.source_order import NumberedWords, in_order, renumbered, renumbered_marks
from rag_engine.answering.support import SupportModels, assess
from rag_engine.config import CONTEXT_STEP, GenerationConfig
from rag_engine.errors import BackendError, CutError, SextantError, WindowError
from rag_engine.geography import load_gazetteer
from rag_engine.messages import Message
from rag_engine.planning.greeting import is_greeting
from rag_engine.protocols import Embedder, Generator, PassageReader
from rag_engine.text.file_kinds import pages_text
from rag_engine.text.repetition import CHECKED_EVERY, repetition_start
from rag_engine.text.sentences import sentence_spans
from rag_engine.text.tables import read_table
from rag_engine.text.thoughts import spoken
from rag_engine.types.answer import QUOTED, Answer, Citation
from rag_engine.types.evidence import Evidence
from rag_engine.types.language_model import Prompt
from rag_engine.types.passage import Source

TEMPLATE_TOKENS = 64  # tokens a chat template puts around two messages
# The sentences to which an index leads are read in addition to higher ranks, within this share of the room.
_CONTEXT_SHARE = 1 / 8
_SHORTEST_CUT = 200  # characters of a source below which it is rather left out
# Of a text and its language (ISO 639-1).
CountTokens = Callable[[str, str], int]

# Share of a window that is filled after a server has refused more and did not say how much more.
_SURE = 0.7


def pack_prompt(
    evidence: Evidence,
    *,
    context_window: int,
    answer_tokens: int,
    temperature: float,
    count_tokens: CountTokens,
) -> Prompt:
    """Return a prompt that fits the window together with the answer.

    Sources are taken from the best on. The first that does not fit is cut at a sentence end around its best hit; the
    rest is left out. The best source comes last, next to the question. BackendError if not even a piece of the best
    one fits.
    """
    plan = evidence.plan
    system = prompts.answer_rules(plan.language)
    # A window hardly larger than the answer still has to hold something to answer from.
    reserve = min(answer_tokens, context_window // 3)
    tokens = count_tokens(system, "en") + count_tokens(prompts.user_message((), plan), plan.language) + TEMPLATE_TOKENS
    kept, cost = fit_sources(evidence.sources, context_window - reserve - tokens, count_tokens)
    if not kept:
        raise no_room(context_window)
    ordered = tuple(reversed(kept))
    return Prompt(
        system=system,
        user=prompts.user_message([prompts.source_block(source) for source in ordered], plan),
        plan=plan,
        sources=ordered,
        left_out=_left_out(kept, evidence.sources),
        tokens=tokens + cost,
        num_ctx=min(context_window, ceil((tokens + cost + reserve) / CONTEXT_STEP) * CONTEXT_STEP),
        temperature=temperature,
    )


@dataclass(frozen=True, slots=True)
class AnswerTools:
    """Models and settings that an answer is made with.

    The `reader` judges quotations, the models for `support` label sentences; `prompted` gets the generator's prompt.
    """

    embedder: Embedder
    page_of: PageOf
    config: GenerationConfig
    reader: PassageReader | None = None
    support: SupportModels | None = None
    prompted: Callable[[Prompt], None] = lambda _: None


def answer(evidence: Evidence, generator: Generator | None, tools: AnswerTools) -> Iterator[str | Evidence | Answer]:
    """Yield the answer's text in pieces as they come, and at last one Answer with the checked text.

    Sources are numbered in the order in which the answer names them. If this differs from the order of their ranks, the
    evidence is yielded again with its new numbers.

    Without a generator the answer consists of quotations.

    A generator that fails does not raise. If it fails before the first word, the Answer has status "error", names the
    remedy and has quotations. Later it keeps its text and warns that it broke off. An answer
    without a source is withheld. The sentences of an answer are labelled if there are models for `support`.

    `seconds` counts from the call: "prompt" until the prompt was packed, "first_words" until the first piece, "answer"
    until the last citation was checked. Its "support" is the time for labelling the sentences.
    """
    started = perf_counter()
    absent = answer_sentences.absent_sections(evidence.absent, evidence.plan.language)
    if sentence := refusal(evidence, absent):
        yield sentence
        seconds = {"answer": perf_counter() - started}
        name = generator.name if generator else QUOTED
        yield Answer("insufficient_evidence", sentence, (), evidence, name, (), seconds)
    elif generator is None:
        yield from _quoted(evidence, absent, started, tools)
    else:
        if absent:
            yield f"{absent}\n\n"
        yield from _written(evidence, generator, absent, started, tools)


def _quoted(evidence: Evidence, absent: str, started: float, tools: AnswerTools) -> Iterator[str | Answer]:
    """Yield the quotations and the Answer that consists of them."""
    try:
        quoted = quote(evidence, tools.page_of, tools.reader)
    except SextantError as error:
        seconds = {"answer": perf_counter() - started}
        yield Answer("error", error.message, (), evidence, QUOTED, (error.message,), seconds)
        return
    seconds = {"answer": perf_counter() - started}
    if _may_be_of_elsewhere(quoted):
        said = answer_sentences.insufficient(evidence.plan.language)
        yield said
        yield Answer("insufficient_evidence", said, (), evidence, QUOTED, (), seconds)
        return
    text = "\n\n".join(filter(None, (absent, quoted.text, _notes(quoted.evidence, quoted.citations))))
    yield text
    seconds = {"answer": perf_counter() - started}
    yield Answer("answered", text, quoted.citations, quoted.evidence, QUOTED, (), seconds, quoted=quoted.quoted)


def _may_be_of_elsewhere(quoted: QuotedAnswer) -> bool:
    """Return whether the best quotation may be about another country than the one that is asked for.

    It does not answer, and is of a document about several countries or others.
    """
    evidence, best = quoted.evidence, quoted.quoted[0]
    asked = evidence.plan.scope.countries
    if not asked or evidence.sides or evidence.ground == "enough" or best.fit == "answers":
        return False
    [of] = [source.document.metadata.countries for source in evidence.sources if source.n == best.n]
    return bool(of) and not set(of) <= set(asked)


def _written(
    evidence: Evidence, generator: Generator, absent: str, started: float, tools: AnswerTools
) -> Iterator[str | Evidence | Answer]:
    """Yield a language model's words, and the Answer with citations checked and sentences labelled."""
    seconds: dict[str, float] = {}
    written, checked = "", 0
    warnings: list[Message] = []
    sources: tuple[Source, ...] = ()
    failure: SextantError | None = None
    words = NumberedWords(evidence, ())
    try:
        for piece in _prompted_words(evidence, generator, tools):
            if isinstance(piece, Prompt):
                seconds["prompt"] = perf_counter() - started
                sources, words = piece.sources, NumberedWords(evidence, piece.sources)
                warnings = list(packing_warnings(sources, evidence.sources, generator.context_window))
                continue
            seconds.setdefault("first_words", perf_counter() - started)
            written += piece
            yield from words.take(piece)
            if len(written) - checked >= CHECKED_EVERY:
                checked = len(written)
                _refuse_repetition(written, generator)
    except SextantError as error:
        failure = error
    # After a break-off too: the words held back are a part of the answer.
    yield from words.rest()
    said = spoken(written[: repetition_start(written)]).strip()
    if not said:
        failure = failure or BackendError(
            "{model} wrote nothing.", help="Ask again, or use another model.", model=generator.name
        )
        failed = Answer("error", failure.message, (), evidence, generator.name, (*warnings, failure.message), seconds)
        failed = _with_quotations(failed, absent, tools, "failure")
        seconds["answer"] = perf_counter() - started
        yield failed
        return
    warnings += [_of_failure(failure)] if failure else []
    text = "\n\n".join(filter(None, (absent, said)))
    draft = Answer("answered", text, (), evidence, generator.name, tuple(warnings), seconds)
    embedder = replies.AnswerEmbedder(tools.embedder)
    cited, sources = _with_citations(draft, sources, embedder, tools.page_of)
    found = _of_a_model(draft, cited, absent)
    seconds["answer"] = perf_counter() - started
    if found.status == "answered":
        if tools.support:
            found = _labelled(found, sources, absent, embedder, tools.support)
            seconds["support"] = perf_counter() - started - seconds["answer"]
        if notes := _notes(found.evidence, found.citations):
            yield f"\n\n{notes}"
            found = replace(found, text=f"{found.text}\n\n{notes}")
    elif evidence.ground == "enough" and not found.withheld:
        # The passages are likely to answer even if the model denies it: a small one overlooks much.
        found = _with_quotations(found, "", tools, "refusal")
    yield found


def _of_failure(failure: SextantError) -> Message:
    """Return the warning beside an answer that has words; one to a prompt that was cut is whole."""
    cut = isinstance(failure, CutError)
    return failure.message if cut else Message("The answer broke off. {error}", error=failure)


def _packed(evidence: Evidence, window: int, tools: AnswerTools) -> Prompt:
    """Return the prompt for a window, in tokens."""
    prompt = pack_prompt(
        evidence,
        context_window=window,
        answer_tokens=tools.config.answer_tokens,
        temperature=tools.config.temperature,
        count_tokens=token_counter(tools.embedder),
    )
    tools.prompted(prompt)
    return replace(prompt, encoded=tools.embedder.count_tokens(prompt.system + prompt.user))


def _prompted_words(evidence: Evidence, generator: Generator, tools: AnswerTools) -> Iterator[Prompt | str]:
    """Yield the prompt and a model's words; a second prompt if the model's window is smaller.

    Only the loop that reads them holds the model's words: an error there hangs up, and the server is free.
    """
    prompt = _packed(evidence, generator.context_window, tools)
    yield prompt
    try:
        yield from generator.stream(prompt)
    except WindowError as error:
        # In tokens as they are estimated here.
        share = min(1.0, prompt.tokens / error.counted) if error.counted else _SURE
        smaller = _packed(evidence, int(error.window * share), tools)
    else:
        return
    yield smaller
    yield from generator.stream(smaller)


def _with_quotations(given: Answer, absent: str, tools: AnswerTools, after: Literal["failure", "refusal"]) -> Answer:
    """Return a model's failure or refusal with the quotations that answer without a model."""
    try:
        quoted = quote(given.evidence, tools.page_of, tools.reader, after)
    except SextantError as error:
        return replace(given, warnings=(*given.warnings, error.message))
    return replace(
        given,
        quotations="\n\n".join(filter(None, (absent, quoted.text, _notes(quoted.evidence, quoted.citations)))),
        quoted=quoted.quoted,
        citations=quoted.citations,
        evidence=quoted.evidence,
    )


def _notes(evidence: Evidence, citations: Sequence[Citation]) -> str:
    """Return the additions to an answer: open parts, and the index entries of its citations."""
    language, cited = evidence.plan.language, {citation.n for citation in citations}
    listed = [source for source in evidence.sources if source.n in cited and source.listed]
    return "\n\n".join(
        filter(
            None,
            (
                answer_sentences.not_found_in(evidence.sides, language),
                answer_sentences.not_covered(evidence.gaps, language),
                answer_sentences.listed_in_index(listed, language),
            ),
        )
    )


def _refuse_repetition(written: str, generator: Generator) -> None:
    """Raise BackendError where a model repeats itself: it would until its limit of tokens."""
    if repetition_start(written) is not None:
        raise BackendError(
            "{model} kept repeating itself.", help="Ask again, or use another model.", model=generator.name
        )


def _labelled(
    found: Answer, sources: Sequence[Source], absent: str, embedder: Embedder, models: SupportModels
) -> Answer:
    """Return the answer with the label of each of its sentences."""
    plan = found.evidence.plan
    language = replies.written_language(found.text, plan, models.identify)
    assessed = assess(found.text, language, sources, embedder=embedder, models=models)
    # The words on a section that does not exist are not the model's.
    own = tuple(one for one in assessed.support if not found.text.startswith(absent) or one.start >= len(absent))
    warnings = (*found.warnings, *replies.language_warning(language, plan), *assessed.warnings)
    return replace(found, support=own, warnings=warnings, judge=assessed.judge)


def _with_citations(
    draft: Answer, sources: Sequence[Source], embedder: Embedder, page_of: PageOf
) -> tuple[Answer, tuple[Source, ...]]:
    """Return the answer with checked marks and citations, and the sources by the order of the marks."""
    checked = replies.check_marks(draft.text, {source.n for source in sources})
    language = draft.evidence.plan.language
    numbers = in_order(checked.cited, draft.evidence.sources)
    evidence = replace(draft.evidence, sources=renumbered(draft.evidence.sources, numbers))
    named = renumbered_marks(checked.text, numbers).strip()
    text, sources = replies.without_closing_refusal(named), renumbered(sources, numbers)
    citations = cite(text, language, sources, embedder=embedder, page_of=page_of) if checked.cited else ()
    notes = (*checked.warnings, *([replies.ANSWERED_AND_REFUSED] if text != named else ()))
    warnings = (*draft.warnings, *notes)
    return replace(draft, text=text, citations=citations, evidence=evidence, warnings=warnings), sources


def _of_a_model(draft: Answer, cited: Answer, absent: str) -> Answer:
    """Return a language model's text as an answer.

    It is no answer if it says that there is none, or if it names no source.
    """
    text = replies.without_references(cited.text)
    plain = _plain(cited.text)
    if any(_plain(sentence) in plain for sentence in answer_sentences.INSUFFICIENT.values()):
        return replace(cited, status="insufficient_evidence", text=text, warnings=draft.warnings)
    if not cited.citations:
        said = " ".join(filter(None, (absent, answer_sentences.names_no_source(cited.evidence.plan.language))))
        withheld = cited.text.removeprefix(absent).strip()
        return replace(cited, status="insufficient_evidence", text=said, withheld=withheld)
    return replace(cited, text=text)


def refusal(evidence: Evidence, absent: str) -> str:
    """Return the sentence that refuses an answer, or "" if the passages are ground enough."""
    language = evidence.plan.language
    # Other sections do not answer a question about a section that does not exist.
    too_far = not evidence.hits or evidence.ground == "none"
    named = unnamed(evidence, load_gazetteer())
    if too_far or (absent and not any(hit.named for hit in evidence.hits)):
        if is_greeting(evidence.plan.question):
            return answer_sentences.help_line(language)
        nowhere = answer_sentences.not_found_in(evidence.sides, language)
        said = answer_sentences.nothing_on(named, language) if named and evidence.plan.scope.countries else nowhere
        return absent or " ".join(filter(None, (answer_sentences.insufficient(language), said)))
    return f"{answer_sentences.insufficient(language)} {answer_sentences.nothing_on(named, language)}" if named else ""


def fit_sources(sources: Sequence[Source], room: int, count_tokens: CountTokens) -> tuple[list[Source], int]:
    """Return the sources that fit into `room` tokens, best first, and their number of tokens.

    The first source that does not fit is cut at a sentence end around its best hit; the rest is left out. Sentences to
    which an index leads stay if they take at most an eighth of the room.
    """
    contexts, saved = _fitting_contexts(sources, int(room * _CONTEXT_SHARE), count_tokens)
    kept, taken = _fit_in_order([source for source in sources if not source.index_context], room - saved, count_tokens)
    return [*kept, *contexts], taken + saved


def _fitting_contexts(sources: Sequence[Source], room: int, count_tokens: CountTokens) -> tuple[list[Source], int]:
    """Return the sentences to which an index leads that fit, in order, and how many tokens they take."""
    kept: list[Source] = []
    taken = 0
    for source in sources:
        cost = _cost(source, count_tokens) if source.index_context else room + 1
        if taken + cost <= room:
            kept.append(source)
            taken += cost
    return kept, taken


def _fit_in_order(sources: Sequence[Source], room: int, count_tokens: CountTokens) -> tuple[list[Source], int]:
    kept: list[Source] = []
    taken = 0
    for source in sources:
        fitting, cost = _fit(source, room - taken, count_tokens)
        if fitting is not None:
            kept.append(fitting)
            taken += cost
        if fitting is not source:
            break
    return kept, taken


def no_room(context_window: int) -> BackendError:
    """Return the error for a context window in which no source fits."""
    return BackendError(
        "A context window of {context_window} tokens has no room for a source beside the question.",
        help="Choose a model with a larger context window or ask a shorter question.",
        context_window=context_window,
    )


def packing_warnings(packed: Sequence[Source], found: Sequence[Source], context_window: int) -> Iterator[Message]:
    """Yield a warning for each source that was cut, and one for the sources left out."""
    whole = {source.n: len(source.text) for source in found}
    for source in packed:
        if len(source.text) < whole[source.n]:
            yield Message("{source} was shortened to fit into the model's context window.", source=_place(source))
    left_out = _left_out(packed, found)
    if left_out:
        names = "; ".join(_place(source) for source in left_out)
        yield Message(
            "{n} of {total} sources did not fit into the model's context window of {window} tokens and were not read: "
            "{names}.",
            n=len(left_out),
            total=len(found),
            window=context_window,
            names=names,
        )


def _place(source: Source) -> str:
    """Return the title and page of a source; its number changes with the answer."""
    page = pages_text(source.document.file, source.document.named_page(source.hits[0].page))
    return ", ".join(filter(None, (f"“{source.document.metadata.title}”", page)))


def _left_out(packed: Sequence[Source], found: Sequence[Source]) -> tuple[Source, ...]:
    numbers = {source.n for source in packed}
    return tuple(source for source in found if source.n not in numbers)


def token_counter(embedder: Embedder) -> CountTokens:
    """Return a function that counts about the tokens of a text in a language as a language model does."""
    known: Mapping[str, float] = read_table("tokens")
    return lambda text, language: ceil(embedder.count_tokens(text) * known.get(language, known["other"]))


def _cost(source: Source, count_tokens: CountTokens) -> int:
    return count_tokens(prompts.source_block(source), source.document.metadata.language)


def _fit(source: Source, room: int, count_tokens: CountTokens) -> tuple[Source | None, int]:
    """Return the source or a piece of it within `room` tokens, and how many it takes.

    The source is None if no piece fits.
    """
    cost = _cost(source, count_tokens)
    if cost <= room:
        return source, cost
    empty = _cost(replace(source, text=""), count_tokens)
    limit = int(len(source.text) * 0.95 * (room - empty) / max(cost - empty, 1))
    piece = _cut(source, limit) if limit >= _SHORTEST_CUT else None
    if piece is None:
        return None, 0
    cost = _cost(piece, count_tokens)
    return (piece, cost) if cost <= room else (None, 0)


def _cut(source: Source, limit: int) -> Source | None:
    """Return whole sentences of a source, of at most `limit` characters.

    They begin at the start or, if that misses the best hit, at the best hit. None if they are too short.
    """
    spans = sentence_spans(source.text, source.document.metadata.language)
    begin = 0
    if source.hits and source.hits[0].end - source.start > limit:
        wanted = source.hits[0].start - source.start
        begin = max((start for start, _ in spans if start <= wanted), default=0)
    end = max((end for _, end in spans if begin < end <= begin + limit), default=begin)
    if end - begin < _SHORTEST_CUT:
        return None
    return replace(source, start=source.start + begin, end=source.start + end, text=source.text[begin:end])


def _plain(text: str) -> str:
    """Return the case-folded words of a text, without punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))
