"""The trained model: the packaged encoder, frozen, with low-rank updates of linear layers and heads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from rag_engine.backends.reader.load import CHECK_QUESTION, CHECK_TEXTS

RANK = 32
SCALE = 2.0


class LowRank(nn.Module):
    """A linear layer whose weight stays, and an update of low rank that is learned (Hu et al. 2021).

    Dropout falls on the few values between the two halves of the update. Over a layer's whole input it took two thirds
    of a step on a processor.
    """

    def __init__(self, linear: nn.Linear, rank: int, dropout: float) -> None:
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.empty(rank, linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.dropout = nn.Dropout(dropout)
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        """Return the layer's output with the update added."""
        update = functional.linear(self.dropout(functional.linear(given, self.down)), self.up)
        result: torch.Tensor = self.linear(given) + SCALE * update
        return result


class ReaderModel(nn.Module):
    """Token ids to the logits of an answer's start and end at each token, and of the passage's relevance."""

    def __init__(self, encoder: Any, rank: int = RANK, dropout: float = 0.1) -> None:
        super().__init__()
        encoder.requires_grad_(False)
        for module in list(encoder.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(module, name, LowRank(child, rank, dropout))
        self.encoder = encoder
        width = encoder.config.hidden_size
        self.span = nn.Linear(width, 2)
        self.relevance = nn.Linear(width, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return span logits (batch, length, 2) and relevance logits (batch,)."""
        states = self.dropout(self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)
        return self.span(states), self.relevance(states[:, 0]).squeeze(-1)

    def learned(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Yield what is trained, by name: this is the adapter."""
        for name, parameter in self.named_parameters():
            if parameter.requires_grad:
                yield name, parameter


@torch.no_grad()
def check_values(model: ReaderModel, tokenizer: Any) -> list[list[float]]:
    """Return start, end and relevance that a model in evaluation reads in each check text.

    They are read at the first token. They stand in the adapter's card, and every runtime is compared with them.
    """
    values = []
    for text in CHECK_TEXTS:
        given = tokenizer(CHECK_QUESTION, text, return_tensors="pt")
        spans, relevance = model(given["input_ids"], given["attention_mask"])
        values.append([round(float(one), 4) for one in (*spans[0, 0], relevance[0])])
    return values
