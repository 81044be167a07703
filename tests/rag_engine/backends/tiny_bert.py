"""A model of random weights with a vocabulary of words, as people bring their own."""

from pathlib import Path
from typing import Any

WORDS = (
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "the", "and", "flood", "Flood", "maps", "are", "every", "water", "plans",
    "is", "der", "ogni",
)  # fmt: skip


def save_tiny_bert(folder: Path, kind: str, **settings: Any) -> Path:
    """Save a model of a class of transformers, with its tokenizer."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=64, **settings,
    )  # fmt: skip
    getattr(transformers, kind)(config).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=64, model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    ).save_pretrained(folder)  # fmt: skip
    return folder
