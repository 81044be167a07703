"""Train the reader's adapter.

    python -m training.train [--sets licensed|every] [--shared DIR] [--out DIR]

Writes adapter.safetensors (half precision) and card.json: data, settings, figures, hash. Uses a GPU where there is one.
The sets of ../shared/data/benchmarks are never read.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from rag_engine.backends.encoder.load import load_encoder, unpacked_folder
from rag_engine.backends.encoder.packaged_e5 import packaged_name
from rag_engine.config import cache_folder
from rag_engine.retrieval.tuning import WINDOW
from training.card import WEIGHTS, complete_card, write_card
from training.corpus import of_corpus, trained_on
from training.evaluate import QUESTIONS, figures_of
from training.measured import LEFT_OUT, measured_texts, word_runs
from training.model import RANK, SCALE, ReaderModel, check_values
from training.own_questions import asked_documents, of_questions
from training.samples import EVERY, LICENSED, Sample, across_languages, counts, of_set, split, with_families

ROOT = Path(__file__).resolve().parents[1]
TOKENS = 384
BATCH = 16
RATE = 4e-4
HEAD_RATE = 1e-3
WARM_UP = 0.1
SEED = 7
CHECKED = 0.04
CHECKS = 5
# Share of answered questions of public sets that also get a passage that retrieval puts near. The written questions
# bring most of theirs: nearest passages alone teach that a passage on something else answers better.
DISTRACTORS = 0.2
RELEVANCE_LOSS = 0.5
# Of the choice between the passages of a question: without it near misses are told apart less well.
CHOICE_LOSS = 0.5


@dataclass(frozen=True, slots=True)
class Encoded:
    """A sample as token ids, with the first and last token of its answer, both 0 for none."""

    ids: tuple[int, ...]
    first: int
    last: int
    relevance: float
    spans: bool


def gather(shared: Path, names: Sequence[str], corpus: bool) -> list[Sample]:
    """Return all samples of the sets and of the corpus."""
    randomly = random.Random(SEED)
    folder = shared / "data" / "reading"
    embedder = load_encoder("multilingual-e5-small")
    samples: list[Sample] = []
    for name in names:
        samples += of_set(folder, name, embedder, randomly, DISTRACTORS)
    if "pt_squad2" in names:
        crossed = across_languages(folder, "es_squad2", "pt_squad2")
        randomly.shuffle(crossed)
        samples += crossed[: len(crossed) // 2]
    samples = with_families(samples, folder, names)
    if corpus:
        samples += of_questions(shared, embedder, randomly)
    quoted = measured_texts().quoted
    samples = [one for one in samples if quoted.isdisjoint(word_runs(one.passage))]
    return samples + (of_corpus(shared / "data" / "corpus", randomly) if corpus else [])


def by_question(samples: Sequence[Sample]) -> list[list[Sample]]:
    """Return the samples in groups of the same question."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.family, sample.question), []).append(sample)
    return list(groups.values())


def encode(samples: Sequence[Sample], tokenizer: Any, randomly: random.Random) -> list[Encoded]:
    """Return the samples as tokens; those whose answer is beyond what is read are left out."""
    encoded = []
    for sample in samples:
        passage, start, end = _window(sample, randomly)
        one = tokenizer(
            sample.question, passage, truncation="only_second", max_length=TOKENS, return_offsets_mapping=True
        )
        first = last = 0
        if start >= 0:
            inside = [
                at
                for at, (place, of) in enumerate(zip(one["offset_mapping"], one.sequence_ids(), strict=True))
                if of == 1 and place[0] < end and place[1] > start
            ]
            if not inside:
                continue
            first, last = inside[0], inside[-1]
        encoded.append(Encoded(tuple(one["input_ids"]), first, last, sample.relevance, sample.spans))
    return encoded


def _window(sample: Sample, randomly: random.Random) -> tuple[str, int, int]:
    """Return a window of the passage around its answer, and where the answer stands in it."""
    rest = len(sample.passage) - WINDOW
    if rest <= 0:
        return sample.passage, sample.start, sample.end
    known = sample.start >= 0
    least, most = (max(0, sample.end - WINDOW), min(rest, sample.start)) if known else (0, rest)
    begin = randomly.randint(min(least, most), most)
    # At the beginning of a word, unless the answer begins before that.
    begin = min(sample.passage.find(" ", begin) + 1 or begin, sample.start if known else rest) if begin else 0
    moved = begin if known else 0
    return sample.passage[begin : begin + WINDOW], sample.start - moved, sample.end - moved


def batches(groups: Sequence[list[Encoded]], randomly: random.Random | None) -> Iterator[list[list[Encoded]]]:
    """Yield batches of whole groups of about the same length, in random order where one is given.

    A batch has BATCH samples, or a few more for its last group.
    """
    order = list(groups)
    if randomly is not None:
        randomly.shuffle(order)
    found = []
    for at in range(0, len(order), 25 * BATCH):
        batch: list[list[Encoded]] = []
        for group in sorted(order[at : at + 25 * BATCH], key=lambda group: max(len(one.ids) for one in group)):
            batch.append(group)
            if sum(map(len, batch)) >= BATCH:
                found.append(batch)
                batch = []
        found += [batch] if batch else []
    if randomly is not None:
        randomly.shuffle(found)
    yield from found


def loss_of(model: ReaderModel, groups: Sequence[list[Encoded]], padding: int, device: str) -> torch.Tensor:
    """Return the loss of a batch of groups.

    It is of the span's two ends where the span is known, of the relevance, and of the choice between the passages of a
    question.
    """
    batch = [one for group in groups for one in group]
    width = max(len(one.ids) for one in batch)
    ids = torch.full((len(batch), width), padding, dtype=torch.long)
    mask = torch.zeros((len(batch), width), dtype=torch.long)
    for row, one in enumerate(batch):
        ids[row, : len(one.ids)] = torch.tensor(one.ids)
        mask[row, : len(one.ids)] = 1
    ids, mask = ids.to(device), mask.to(device)
    # A processor without instructions for it is far slower in half precision.
    half = device == "cuda" or any(torch.cpu.get_capabilities().get(one) for one in ("amx_bf16", "avx512_bf16"))
    with torch.autocast(device, torch.bfloat16, enabled=half):
        spans, relevance = model(ids, mask)
    spans, relevance = spans.float().masked_fill(mask[:, :, None] == 0, -1e4), relevance.float()
    wanted = torch.tensor([one.relevance for one in batch], device=device)
    loss = RELEVANCE_LOSS * functional.binary_cross_entropy_with_logits(relevance, wanted)
    known = torch.tensor([one.spans for one in batch], device=device)
    if known.any():
        for end, places in enumerate(([one.first for one in batch], [one.last for one in batch])):
            target = torch.tensor(places, device=device)
            loss = loss + 0.5 * functional.cross_entropy(spans[known, :, end], target[known])
    begun, choices = 0, list[torch.Tensor]()
    for group in groups:
        rows = slice(begun, begun + len(group))
        choices += choice_losses(group, spans[rows], relevance[rows])
        begun += len(group)
    return loss + CHOICE_LOSS * torch.stack(choices).sum() / len(groups) if choices else loss


def choice_losses(group: Sequence[Encoded], spans: torch.Tensor, relevance: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield the losses of choosing each right passage of a question among its wrong ones.

    By relevance, and by the answer's two ends among the tokens of all these passages (Clark and Gardner 2018).
    """
    wrong = [row for row, one in enumerate(group) if one.relevance < 1]
    for right, one in enumerate(group):
        if not wrong or one.relevance < 1:
            continue
        rows = [right, *wrong]
        yield -functional.log_softmax(relevance[rows], 0)[0]
        if one.spans and one.first:
            for end, place in enumerate((one.first, one.last)):
                # The first token stands for "no answer", which each passage is asked by itself.
                yield 0.5 * (torch.logsumexp(spans[rows, 1:, end].flatten(), 0) - spans[right, place, end])


def train(samples: Sequence[Sample], out: Path, card: Mapping[str, Any]) -> None:
    """Train for one epoch, and write the adapter of the lowest loss on the part not trained on.

    Its card has what is given, and how it was trained.
    """
    torch.manual_seed(SEED)
    location = unpacked_folder(cache_folder())
    tokenizer = AutoTokenizer.from_pretrained(location)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # The updates have separate dropout; the encoder's takes half of each step on a processor.
    undropped = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    encoder = AutoModel.from_pretrained(location, attn_implementation="sdpa", **undropped)
    model = ReaderModel(encoder).to(device)
    randomly = random.Random(SEED)
    trained, checked = (
        [group for one in by_question(part) if (group := encode(one, tokenizer, randomly))]
        for part in split(samples, CHECKED, SEED)
    )
    checked = checked[:200]
    heads = [parameter for name, parameter in model.learned() if name.startswith(("span", "relevance"))]
    rest = [parameter for name, parameter in model.learned() if not name.startswith(("span", "relevance"))]
    optimizer = torch.optim.AdamW([{"params": rest, "lr": RATE}, {"params": heads, "lr": HEAD_RATE}], weight_decay=0.01)
    order = list(batches(trained, randomly))
    steps = len(order)
    warm = int(WARM_UP * steps)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm)))
    )
    best, kept = float("inf"), {}
    started = time.perf_counter()
    model.train()
    for step, batch in enumerate(order, 1):
        loss = loss_of(model, batch, tokenizer.pad_token_id, device)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_([*rest, *heads], 1.0)
        optimizer.step()
        schedule.step()
        if step % (steps // CHECKS) == 0 or step == steps:
            model.eval()
            with torch.no_grad():
                found = float(
                    np.mean(
                        [float(loss_of(model, one, tokenizer.pad_token_id, device)) for one in batches(checked, None)]
                    )
                )
            model.train()
            print(f"step {step} of {steps}: loss {found:.3f}, {time.perf_counter() - started:.0f} s", flush=True)
            if found < best:
                best, kept = found, {name: one.detach().to("cpu", torch.float16) for name, one in model.learned()}
    out.mkdir(parents=True, exist_ok=True)
    save_file({name: one.contiguous() for name, one in kept.items()}, out / WEIGHTS)
    model.load_state_dict({name: one.float() for name, one in kept.items()}, strict=False)
    known = {
        "encoder": packaged_name(),
        "rank": RANK,
        "scale": SCALE,
        "tokens": TOKENS,
        "samples": sum(map(len, trained)),
        "kinds": dict(counts(samples)),
        "steps": steps,
        "checked_loss": round(best, 4),
        "seconds": round(time.perf_counter() - started),
        "check": check_values(model.eval().cpu(), tokenizer),
    }
    write_card(out, {**card, **known})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    parser.add_argument("--sets", choices=("licensed", "every"), default="licensed")
    parser.add_argument("--no-corpus", action="store_true", help="without the questions on documents, made or written")
    parser.add_argument("--out", type=Path, default=ROOT / "data" / "reader")
    arguments = parser.parse_args()
    names = LICENSED if arguments.sets == "licensed" else EVERY
    samples = gather(arguments.shared.resolve(), names, not arguments.no_corpus)
    print(len(samples), counts(samples), flush=True)
    shared = arguments.shared.resolve()
    sets, documents = list(names), set[str]()
    if not arguments.no_corpus:
        sets.append("questions")
        documents = asked_documents() | {file.name for file in trained_on(shared / "data" / "corpus")}
    train(samples, arguments.out, {"sets": sets, "documents": sorted(documents), "left_out": LEFT_OUT})
    figures = figures_of(arguments.out, shared, QUESTIONS)
    complete_card(arguments.out, shared / "data" / "MANIFEST.tsv", figures)
    print((arguments.out / "card.json").read_text(encoding="utf-8"), flush=True)


if __name__ == "__main__":
    main()
