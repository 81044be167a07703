"""The reader: an adapter merged into the packaged encoder, and what is said of one that does not fit."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer, BertConfig, BertForQuestionAnswering

from rag_engine.backends.encoder.load import unpacked_folder
from rag_engine.backends.encoder.packaged_e5 import packaged_name
from rag_engine.backends.reader.load import ADAPTER, load_adapter, load_reader, read_card
from rag_engine.config import cache_folder
from rag_engine.errors import BackendError
from training.model import RANK, SCALE, ReaderModel, check_values


def write_adapter(folder: Path, tensors: dict[str, torch.Tensor], **card: object) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "adapter.safetensors"
    save_file(tensors, file)
    known = {"encoder": packaged_name(), "rank": RANK, "scale": SCALE, "tokens": 384}
    known["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    (folder / "card.json").write_text(json.dumps(known | card))
    return folder


@pytest.fixture(scope="module")
def model() -> ReaderModel:
    torch.manual_seed(3)
    location = unpacked_folder(cache_folder())
    made = ReaderModel(AutoModel.from_pretrained(location))
    for name, parameter in made.learned():
        if name.endswith(".up"):
            torch.nn.init.normal_(parameter, std=0.02)
    return made.eval()


def test_an_adapter_is_merged_and_read_as_the_model_that_was_trained_reads(tmp_path: Path, model: ReaderModel) -> None:
    tensors = {name: one.detach().half().contiguous() for name, one in model.learned()}
    location = unpacked_folder(cache_folder())
    tokenizer = AutoTokenizer.from_pretrained(location)
    folder = write_adapter(tmp_path / "adapter", tensors, check=check_values(model, tokenizer))
    reader = load_adapter(folder, cache=tmp_path / "cache")
    passages = ["The district inspects every dyke twice a year.", "Lunch is served in the garden."]
    read = reader.read("Who inspects the dykes?", passages)

    for one, passage in zip(read, passages, strict=True):
        assert passage.startswith(passage[slice(*one.tokens[0])])
        assert one.tokens[0][0] == 0
        assert one.tokens[-1][1] == len(passage)
        assert len(one.tokens) == len(one.starts) == len(one.ends)
        given = tokenizer("Who inspects the dykes?", passage, return_tensors="pt")
        with torch.no_grad():
            spans, relevance = model(given["input_ids"], given["attention_mask"])
        assert one.relevance == pytest.approx(float(relevance), abs=0.25)
        assert one.absent == pytest.approx(float(spans[0, 0].sum()), abs=0.25)
        assert max(one.starts) == pytest.approx(float(spans[0, -len(one.starts) - 1 : -1, 0].max()), abs=0.25)


def test_the_card_that_is_shipped_has_what_torch_reads() -> None:
    shipped = ReaderModel(AutoModel.from_pretrained(unpacked_folder(cache_folder()))).eval()
    tensors = {name: one.float() for name, one in load_file(ADAPTER / "adapter.safetensors").items()}
    assert not shipped.load_state_dict(tensors, strict=False).unexpected_keys
    tokenizer = AutoTokenizer.from_pretrained(unpacked_folder(cache_folder()))
    assert np.allclose(read_card(ADAPTER)["check"], check_values(shipped, tokenizer), atol=1e-3)


def test_a_reader_that_differs_from_what_its_card_says_is_not_used(tmp_path: Path, model: ReaderModel) -> None:
    tensors = {name: one.detach().half().contiguous() for name, one in model.learned()}
    folder = write_adapter(tmp_path / "adapter", tensors, check=[[9.0, 9.0, 9.0]] * 3)
    with pytest.raises(BackendError, match="openvino differs from it; onnx differs from it"):
        load_adapter(folder, cache=tmp_path / "cache")


def test_what_is_no_adapter_or_fits_no_encoder_is_said(tmp_path: Path) -> None:
    tensors = {"span.weight": torch.zeros(2, 4)}
    with pytest.raises(BackendError, match="holds no adapter"):
        load_adapter(tmp_path / "nothing", cache=tmp_path)
    with pytest.raises(BackendError, match=r"was trained on other@1, installed is"):
        load_adapter(write_adapter(tmp_path / "a", tensors, encoder="other@1"), cache=tmp_path)
    with pytest.raises(BackendError, match="is not the one that its card describes"):
        load_adapter(write_adapter(tmp_path / "b", tensors, sha256="0" * 64), cache=tmp_path)
    with pytest.raises(BackendError, match="does not fit"):
        load_adapter(write_adapter(tmp_path / "c", tensors), cache=tmp_path)


def test_any_question_answering_model_of_a_folder_can_be_the_reader(tmp_path: Path) -> None:
    location = unpacked_folder(cache_folder())
    tokenizer = AutoTokenizer.from_pretrained(location)
    tokenizer.save_pretrained(tmp_path / "model")
    torch.manual_seed(5)
    sizes = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    BertForQuestionAnswering(sizes).save_pretrained(tmp_path / "model")

    reader = load_reader(str(tmp_path / "model"))
    passages = ["The district inspects every dyke twice a year.", "Lunch."]
    read = reader.read("Who inspects the dykes?", passages)

    for one, passage in zip(read, passages, strict=True):
        assert (one.tokens[0][0], one.tokens[-1][1]) == (0, len(passage))
        assert len(one.tokens) == len(one.starts) == len(one.ends)


def test_a_reader_that_is_nowhere_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"Reader '.*nowhere' is neither a folder nor in the hub's cache"):
        load_reader(str(tmp_path / "nowhere"))
