"""Support of each sentence of an answer by the passages that it cites.

A sentence is compared with the nearest part of its sources. Evidence gives a score for each label: numbers, dates,
places and names that the sources lack; denials and claims beyond the sources; nearness in words and meaning.

The weights are fitted by benchmarks/answers/support.py, which also measures how often the label is right. A sentence
that changes a value of its passage (rag_engine/answering/claim_values.py) is unsupported; one whose words the passage
does not say so is not checked. If a judge model is asked as well, its label counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray

from rag_engine.answering.chances import SHORTEST_ALIKE, is_known
from rag_engine.answering.citations import AnswerSentence, answer_sentences, likely_sentences, shared_words, words
from rag_engine.answering.claim_values import changes, label_of_changes
from rag_engine.calibration import Calibration, languages_of
from rag_engine.config import DATA
from rag_engine.errors import BackendError
from rag_engine.geography import GLOBAL, find_places, load_gazetteer
from rag_engine.messages import Message
from rag_engine.prompts import SUPPORT_RULES, SUPPORT_SCHEMA, support_message
from rag_engine.protocols import Embedder, Generator
from rag_engine.text import claims
from rag_engine.text.analyzer import analyse
from rag_engine.text.folding import fold
from rag_engine.text.quantities import CalendarDate, calendar_dates
from rag_engine.text.sentences import Span
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.answer import SentenceSupport, SupportJudge, SupportLabel
from rag_engine.types.passage import Source

FITTED = DATA / "support.json"
# The labels that evidence decides on, in the order in which ties fall.
LABELS: tuple[SupportLabel, ...] = ("supported", "partly supported", "unsupported")

_JUDGE_SECONDS = 60.0
_SHOWN = 3  # of one kind: a made-up title has six names
_NO_SURER = 0.99  # share of changed sentences that is stated though all of a finite set were noticed
_FAR = 0.5  # similarity below which a passage is said to have little in common with a sentence

_SENTENCES = 48  # of all sources together, encoded at most for one answer
_PART = 2  # sentences of a source that one of an answer may rest on

Vector = NDArray[np.float32]

# The number of a paragraph or item: no number that its text states.
_ENUMERATOR = re.compile(r"^\W{0,3}\d{1,3}[.)]\s", re.MULTILINE)
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class FittedSupport:
    """Weights of the evidence for each label, and two shares of held-out sentences.

    `noticed` is the share of changed sentences that are not called supported, `kept` that of true ones that are.
    """

    weights: Mapping[SupportLabel, Mapping[str, float]]
    noticed: float
    kept: float

    @property
    def balanced(self) -> float:
        """The mean of both shares."""
        return round((self.noticed + self.kept) / 2, 3)


@dataclass(frozen=True, slots=True)
class LabelJudge:
    """A second language model: its name, and how it is reached; BackendError if it is not."""

    name: str
    reach: Callable[[], Generator]


@dataclass(frozen=True, slots=True)
class AssessedSentences:
    """The support of each sentence of an answer, warnings, and the judge that was asked."""

    support: tuple[SentenceSupport, ...]
    warnings: tuple[Message, ...] = ()
    judge: SupportJudge | None = None


@dataclass(frozen=True, slots=True)
class SupportModels:
    """Models that compare sentences with their sources: encoder, reader and judge.

    `calibration` is the encoder's; reader and judge are None unless they are asked for. `identify` returns the language
    (ISO 639-1) of an answer that was wanted in another one than the question's, or "".
    """

    calibration: Calibration
    identify: Callable[[str], str] = lambda _: ""
    judge: LabelJudge | None = None


@cache
def fitted_support() -> FittedSupport:
    """Return the weights and figures of benchmarks/answers/support.py."""
    values = json.loads(FITTED.read_text(encoding="utf-8"))
    return FittedSupport(values["weights"], values["noticed"], values["kept"])


def assess(
    text: str,
    language: str,
    sources: Sequence[Source],
    *,
    embedder: Embedder,
    models: SupportModels,
) -> AssessedSentences:
    """Return the support of each sentence of a checked answer, with warnings.

    `sources` are the ones that the model was given. If a reader or a judge fails, a warning says so and the labels are
    made without it.
    """
    warnings: list[Message] = []
    judge = models.judge
    held = hold_against(text, language, sources, embedder=embedder, calibration=models.calibration)
    found = [_support(sentence, language) for sentence in held]
    asked: SupportJudge | None = None
    if judge and any(sentence.passage for sentence in held):
        asked = SupportJudge(judge.name)
        try:
            found = _judged(found, held, judge.reach())
        except BackendError as error:
            asked = SupportJudge(judge.name, failed=True)
            warnings.append(
                Message(
                    "{model} did not judge whether the sources support the sentences. {error}",
                    model=judge.name,
                    error=error,
                )
            )
    return AssessedSentences(tuple(found), tuple(warnings), asked)


def weighed(evidence: SupportEvidence) -> dict[str, float]:
    """Return the evidence as numbers from -1 to 1, by the names that the weights have."""
    same = float(not evidence.translated)
    share = len(evidence.names) / evidence.named if evidence.named else 0.0
    return {
        "always": 1.0,
        "figures": float(bool(evidence.numbers or evidence.dates)),
        "places": float(bool(evidence.places)),
        "names": same * bool(evidence.names),
        "translated_names": (1 - same) * share,
        "universals": float(bool(evidence.universals)),
        "denial": float(evidence.denied or evidence.affirmed),
        "turned": evidence.turned,
        "overlap": same * evidence.overlap,
        "similarity": evidence.similarity,
        "translated": 1 - same,
    }


def label_of(evidence: SupportEvidence, weights: Mapping[SupportLabel, Mapping[str, float]]) -> SupportLabel:
    """Return the label with the highest score."""
    values = weighed(evidence)
    return max(LABELS, key=lambda label: sum(weights[label].get(name, 0.0) * value for name, value in values.items()))


def reasons_of(evidence: SupportEvidence) -> Iterator[str]:
    """Yield the reasons against a sentence, a short statement each."""
    for kind, missing in (
        ("number", evidence.numbers),
        ("date", evidence.dates),
        ("place", evidence.places),
        ("name", evidence.names),
    ):
        yield from (f"{kind} {one} is not in the passage" for one in list(missing)[:_SHOWN])
        if len(missing) > _SHOWN:
            yield f"and {len(missing) - _SHOWN} more"
    yield from (f'"{word}" claims more than the passage' for word in evidence.universals)
    if evidence.denied:
        yield "the sentence denies something and the passage does not"
    elif evidence.affirmed:
        yield "the passage denies something and the sentence does not"
    elif evidence.turned:
        yield "one denies what the other affirms"
    if evidence.similarity < _FAR:
        yield "the passage has little in common with the sentence"


def _support(held: HeldSentence, language: str) -> SentenceSupport:
    start, end = held.sentence.start, held.sentence.end
    if held.passage is None:
        return SentenceSupport(start, end, "no claim")
    evidence = evidence_for(held.sentence.text, language, held.passage)
    label = label_of(evidence, fitted_support().weights)
    if label == "supported":
        passage = held.passage
        found = changes(held.sentence.text, language, passage.text, passage.language, passage.about)
        told = [change.reason for change in sorted(found, key=lambda one: not one.sure)]
        return SentenceSupport(start, end, label_of_changes(found), tuple(told[:_SHOWN]))
    reasons = tuple(reasons_of(evidence)) or ("the passage does not clearly say so",)
    return SentenceSupport(start, end, label, reasons)


def _judged(found: Sequence[SentenceSupport], held: Sequence[HeldSentence], judge: Generator) -> list[SentenceSupport]:
    """Return the labels of a judge, asked once for all sentences; BackendError when it leaves one out."""
    asked = [(sentence.sentence.text, sentence.passage.text) for sentence in held if sentence.passage]
    reply = judge.complete_json(SUPPORT_RULES, support_message(asked), SUPPORT_SCHEMA, seconds=_JUDGE_SECONDS)
    listed = reply.get("labels")
    labels = [label for label in listed if label in LABELS] if isinstance(listed, list) else []
    if len(labels) != len(asked):
        raise BackendError(
            "It gave {count} labels for {total} sentences.",
            help="Use another model.",
            count=len(labels),
            total=len(asked),
        )
    remaining = iter(labels)
    judged = []
    for own, sentence in zip(found, held, strict=True):
        label = next(remaining) if sentence.passage else own.label
        same = label == own.label
        judged.append(own if same else replace(own, label=label, reasons=(f"judged {label} by {judge.name}",)))
    return judged


def support_accuracy(words: Wording = ENGLISH) -> str:
    """Return how often changed and true sentences are labelled so in our tests, in words."""
    fitted = fitted_support()
    return words.message(
        "in our tests, {noticed} of 10 changed sentences were noticed, and {kept} of 10 true ones called supported",
        noticed=int(min(fitted.noticed, _NO_SURER) * 10),
        kept=int(fitted.kept * 10),
    )


def support_summary(
    support: Sequence[SentenceSupport], judge: SupportJudge | None = None, words: Wording = ENGLISH
) -> str:
    """Return in one line how many sentences are supported, and who says so; "" without a claim.

    Labels that were made without a judge come with how often they are right.
    """
    labels = [one.label for one in support if one.label != "no claim"]
    if not labels:
        return ""
    parts = [
        words.counted(
            "{supported} of {n} sentence supported by the cited passages",
            "{supported} of {n} sentences supported by the cited passages",
            len(labels),
            supported=labels.count("supported"),
        )
    ]
    if partly := labels.count("partly supported"):
        parts.append(words.counted("{n} partly supported", "{n} partly supported", partly))
    if unsupported := labels.count("unsupported"):
        parts.append(words.counted("{n} unsupported", "{n} unsupported", unsupported))
    if unchecked := labels.count("not checked"):
        parts.append(words.counted("{n} not checked", "{n} not checked", unchecked))
    return f"{'; '.join(parts)}. {_judged_by(judge, words)}"


def _judged_by(judge: SupportJudge | None, words: Wording) -> str:
    if judge and not judge.failed:
        return words.message("Judged by a second model, {model}.", model=judge.name)
    accuracy = support_accuracy(words)
    if judge is None:
        return words.message("Checked automatically: {accuracy}.", accuracy=accuracy)
    return words.message(
        "Checked automatically without the second model {model}, which failed: {accuracy}.",
        model=judge.name,
        accuracy=accuracy,
    )


def unsupported_sentences(text: str, support: Sequence[SentenceSupport], words: Wording = ENGLISH) -> Iterator[str]:
    """Yield each sentence of an answer's text that is not called supported, with the reasons."""
    for one in support:
        told = {"sentence": " ".join(text[one.start : one.end].split()), "reasons": "; ".join(one.reasons)}
        if one.label == "partly supported":
            yield words.message("Partly supported: {sentence} ({reasons})", **told)
        elif one.label == "unsupported":
            yield words.message("Unsupported: {sentence} ({reasons})", **told)
        elif one.label == "not checked":
            yield words.message("Not checked: {sentence} ({reasons})", **told)


@dataclass(frozen=True, slots=True)
class HeldSentence:
    """A sentence of an answer and the passage that it is held against.

    The passage is None if the sentence states nothing or there is no source.
    """

    sentence: AnswerSentence
    passage: CitedPassage | None


@dataclass(frozen=True, slots=True)
class _ReadSource:
    """A cited source: the sentences of it that were encoded, and the facts of all its text."""

    source: Source
    vectors: Mapping[Span, Vector]
    facts: StatedFacts


def hold_against(
    text: str, language: str, sources: Sequence[Source], *, embedder: Embedder, calibration: Calibration
) -> list[HeldSentence]:
    """Return each sentence of a checked answer with the nearest part of its sources.

    Its sources are the ones that it names, else the ones that its paragraph names, else all.
    """
    sentences = answer_sentences(text, language)
    given = {source.n: source for source in sources}
    cited = {
        sentence: [n for n in sentence.numbers if n in given] or list(given)
        for sentence in sentences
        if not claims.states_nothing(sentence.text, language)
    }
    if not cited or not given:
        return [HeldSentence(sentence, None) for sentence in sentences]
    asked = {n: [sentence.text for sentence, numbers in cited.items() if n in numbers] for n in given}
    read = _read_sources([given[n] for n in given if asked[n]], asked, embedder)
    queries = dict(zip(cited, embedder.encode_queries([sentence.text for sentence in cited]), strict=True))
    return [
        HeldSentence(
            sentence,
            _nearest(sentence.text, language, queries[sentence], [read[n] for n in cited[sentence]], calibration)
            if sentence in cited
            else None,
        )
        for sentence in sentences
    ]


def _read_sources(
    sources: Sequence[Source], asked: Mapping[int, Sequence[str]], embedder: Embedder
) -> dict[int, _ReadSource]:
    """Encode the likeliest sentences of each source in one batch."""
    limit = max(_PART, _SENTENCES // len(sources))
    places = [(source, span) for source in sources for span in likely_sentences(source, asked[source.n], limit)]
    texts = [source.text[slice(*span)] for source, span in places]
    encoded: Iterable[Vector] = embedder.encode_passages(texts) if texts else ()
    vectors: dict[int, dict[Span, Vector]] = {source.n: {} for source in sources}
    for (source, span), vector in zip(places, encoded, strict=True):
        vectors[source.n][span] = vector
    return {source.n: _ReadSource(source, vectors[source.n], _facts(source)) for source in sources}


def _nearest(
    sentence: str, language: str, query: Vector, sources: Sequence[_ReadSource], calibration: Calibration
) -> CitedPassage | None:
    """Return the two sentences of one source that come nearest to a sentence.

    They come with the facts of all its sources.
    """
    facts = reduce(or_, (source.facts for source in sources), StatedFacts())
    best: tuple[float, CitedPassage] | None = None
    wanted = words(sentence)
    for source in sources:
        written = source.source.document.metadata.language
        scale = languages_of(language, written)
        similar = {span: calibration.similarity(float(v @ query), scale) for span, v in source.vectors.items()}
        scores = {
            span: value + shared_words(words(source.source.text[slice(*span)]), wanted)
            for span, value in similar.items()
        }
        part = sorted(sorted(scores, key=lambda span: -scores[span])[:_PART])
        if part and (best is None or max(scores.values()) > best[0]):
            text = "\n".join(source.source.text[slice(*span)] for span in part)
            about = _about(source.source)
            passage = CitedPassage(text, written, facts, max(similar[span] for span in part), about)
            best = max(scores.values()), passage
    return best[1] if best else None


def _facts(source: Source) -> StatedFacts:
    """Return the facts of a source and of its document's metadata."""
    metadata = source.document.metadata
    written = facts_of(f"{source.text}\n{_about(source)}\n{metadata.year or ''}\n{metadata.date}", metadata.language)
    return written | StatedFacts(places=frozenset(metadata.countries))


def _about(source: Source) -> str:
    """Return the names of a source's document and of its section."""
    metadata = source.document.metadata
    return "\n".join((metadata.title, metadata.authority, source.act, source.section, *source.headings))


@dataclass(frozen=True, slots=True)
class StatedFacts:
    """Numbers, dates, places and folded words of texts in any language."""

    numbers: frozenset[float] = frozenset()
    dates: tuple[CalendarDate, ...] = ()
    places: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def __or__(self, other: StatedFacts) -> StatedFacts:
        """Return the facts of both."""
        dates = (*self.dates, *other.dates)
        return StatedFacts(self.numbers | other.numbers, dates, self.places | other.places, self.words | other.words)


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """The nearest part of a sentence's sources, which the sentence is compared with.

    The facts are of all its sources. `similarity` is the encoder's, calibrated, from 0 to 1. `about` names the document
    and the section.
    """

    text: str
    language: str
    facts: StatedFacts
    similarity: float
    about: str = ""


@dataclass(frozen=True, slots=True)
class SupportEvidence:
    """Signs for and against a sentence.

    - `numbers`, `dates`, `places`, `names`: the ones that the source lacks, of `named` names in all
    - `universals`: words that claim more than the source
    - `denied`: the sentence denies and the passage does not; `affirmed`: the other way round
    - `turned`: the share of the common words that only one of the two denies
    - `overlap`: the share of the sentence's words in the passage, from 0 to 1
    - `translated`: the two differ in language
    """

    numbers: tuple[str, ...]
    dates: tuple[str, ...]
    places: tuple[str, ...]
    names: tuple[str, ...]
    named: int
    universals: tuple[str, ...]
    denied: bool
    affirmed: bool
    turned: float
    overlap: float
    similarity: float
    translated: bool


def facts_of(text: str, language: str) -> StatedFacts:
    """Return the numbers, dates, places and words of a text in a language (ISO 639-1)."""
    scope = find_places(text, load_gazetteer(), language, running=True)
    return StatedFacts(
        claims.number_readings(_ENUMERATOR.sub("", text), language),
        tuple(calendar_dates(text, language)),
        frozenset((*scope.countries, *scope.regions)),
        frozenset(_WORD.findall(fold(text))),
    )


def evidence_for(sentence: str, language: str, passage: CitedPassage) -> SupportEvidence:
    """Return the evidence for and against a sentence in its passage."""
    sentence = _ENUMERATOR.sub("", sentence)
    facts, text = passage.facts, passage.text
    scope = find_places(sentence, load_gazetteer(), language, running=True)
    places = (*scope.countries, *(region for region in scope.regions if region != GLOBAL))
    names = claims.names_in(sentence, language)
    claimed, known = claims.universals(sentence, language), claims.universals(text, passage.language)
    denied, limited = claims.denies(sentence, language), claims.limits(sentence, language)
    return SupportEvidence(
        numbers=tuple(claims.missing_numbers(sentence, language, facts.numbers)),
        dates=tuple(claims.missing_dates(sentence, language, facts.dates)),
        places=tuple(place for place in places if place not in facts.places),
        names=tuple(name for name in names if not is_known(fold(name), facts.words)),
        named=len(names),
        universals=tuple(word for kind, word in claimed.items() if kind not in known),
        denied=denied and not limited and not claims.denies(text, passage.language),
        affirmed=not denied and not limited and claims.denies_throughout(text, passage.language),
        turned=_turned(sentence, language, text) if language == passage.language else 0.0,
        overlap=_overlap(sentence, language, text, passage.language),
        similarity=passage.similarity,
        translated=language != passage.language,
    )


def _turned(sentence: str, language: str, passage: str) -> float:
    """Return the share of the common words whose clauses are denied in one of the two alone."""
    polarities: dict[str, set[bool]] = {}
    for clause in claims.clauses(passage, language):
        for stem in analyse(clause.text, language):
            polarities.setdefault(stem, set()).add(clause.denied)
    common = turned = 0
    for clause in claims.clauses(sentence, language):
        for stem in set(analyse(clause.text, language)) & polarities.keys():
            common += 1
            turned += clause.denied not in polarities[stem]
    return turned / common if common else 0.0


def _overlap(sentence: str, language: str, passage: str, written: str) -> float:
    """Return the share of a sentence's words that a passage has.

    Across languages, words that look alike count.
    """
    if language == written:
        stems = set(analyse(sentence, language))
        return len(stems.intersection(analyse(passage, language))) / len(stems) if stems else 0.0
    terms = {word for word in map(fold, _LETTERS.findall(sentence)) if len(word) >= SHORTEST_ALIKE}
    known = frozenset(_LETTERS.findall(fold(passage)))
    return sum(is_known(term, known) for term in terms) / len(terms) if terms else 0.0
