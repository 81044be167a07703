"""EasyOCR, run on a processor from weights that lie on this machine.

EasyOCR asks torchvision for two things, the layers of VGG-16 and the step from a picture to a tensor. No build of
torchvision loads with the torch that everything else needs. A torchvision that fails to load breaks
sentence-transformers too. EasyOCR is therefore installed without it and given these two parts.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from rag_engine.config import easyocr_folder
from rag_engine.text.languages import READ_LANGUAGES

_DETECTOR = "craft_mlt_25k.pth"
# The weights that read a script, and which of our languages it has; the widest first.
_READERS = (("latin_g2.pth", tuple(READ_LANGUAGES)), ("latin.pth", tuple(READ_LANGUAGES)), ("english_g2.pth", ("en",)))
# Side and area, in pixels, to which a picture is made smaller where words are looked for: beyond these the network
# needs more memory than a reader has.
_LONGEST_SIDE, _MOST_PIXELS = 2_560, 3_000_000
# Widths of VGG-16's convolutions; 0 is a pooling step.
_VGG = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)


def readable_languages(folder: Path | None = None) -> tuple[str, ...]:
    """Return the languages that EasyOCR can read with the weights in a folder.

    None are returned without the weights or without EasyOCR.
    """
    folder = folder or easyocr_folder()
    if find_spec("easyocr") is None or not (folder / _DETECTOR).is_file():
        return ()
    return next((languages for name, languages in _READERS if (folder / name).is_file()), ())


def load_easyocr() -> Callable[[Any], Iterable[tuple[Any, str, float]]]:
    """Load EasyOCR for the languages that its weights can read."""
    folder = easyocr_folder()
    logging.getLogger("easyocr").setLevel(logging.ERROR)
    with warnings.catch_warnings(), _torchvision():
        warnings.simplefilter("ignore")
        from easyocr import Reader
        from torch import channels_last

        reader = Reader(
            list(readable_languages(folder)),
            gpu=False,
            download_enabled=False,
            verbose=False,
            model_storage_directory=str(folder),
        )
        # Else each convolution copies a page's features to this order and back.
        reader.detector.to(memory_format=channels_last)

    def read(grey: Any) -> Iterable[tuple[Any, str, float]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Iterable[tuple[Any, str, float]] = reader.readtext(grey, canvas_size=_longest_side(grey))
        return found

    return read


def _longest_side(grey: Any) -> int:
    """Return the pixels along the longer side of a picture in which words are looked for."""
    height, width = grey.shape
    return int(min(_LONGEST_SIDE, max(height, width) * min(1.0, (_MOST_PIXELS / (height * width)) ** 0.5)))


@contextmanager
def _torchvision() -> Iterator[None]:
    """Let imports of torchvision find the two parts that EasyOCR needs, while the context lasts.

    Other code must find no torchvision, so the module is taken out again.
    """
    parts = {name: ModuleType(name) for name in ("torchvision", "torchvision.models", "torchvision.transforms")}
    package, models, transforms = parts.values()
    # From this version on EasyOCR asks for the layers as they are asked for here.
    vars(package).update(__version__="0.13", __path__=[], models=models, transforms=transforms)
    vars(models).update(vgg16_bn=_vgg16_bn)
    vars(transforms).update(ToTensor=_ToTensor)
    former = {name: sys.modules[name] for name in parts if name in sys.modules}
    sys.modules |= parts
    try:
        yield
    finally:
        for name in parts:
            del sys.modules[name]
        sys.modules |= former


def _vgg16_bn(weights: None = None) -> Any:
    """Return the layers of VGG-16 with batch normalisation, whose weights EasyOCR fills in."""
    from torch import nn

    assert weights is None, "EasyOCR brings its own weights"
    layers: list[Any] = []
    channels = 3
    for width in _VGG:
        if width:
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
            channels = width
        else:
            layers.append(nn.MaxPool2d(2, 2))
    network = nn.Module()
    network.add_module("features", nn.Sequential(*layers))
    return network


class _ToTensor:
    """A picture as a tensor of channels, rows and columns between 0 and 1."""

    def __call__(self, picture: Any) -> Any:
        import torch

        values = np.asarray(picture)
        channels = values[:, :, None] if values.ndim == 2 else values
        return torch.from_numpy(channels.transpose(2, 0, 1).copy()).float().div(255)
