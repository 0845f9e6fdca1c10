"""Conversion of the original files to arrays, in the order of the paper's pools.

Each function takes the folder of the files and returns the arrays of an NPZ file: `X`, `y` and
their names.
"""

from __future__ import annotations

import gzip
import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import tables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

_FC_ROWS = 11340
_MNIST_A_DIGIT = 500
_MF_A_DIGIT = 200
_MF_VIEWS = ("fou", "fac", "kar", "pix", "zer", "mor")
_IS_CLASSES = ("BRICKFACE", "SKY", "FOLIAGE", "CEMENT", "WINDOW", "PATH", "GRASS")


def _words(text: str) -> list[str]:
    return text.split()


_IS_COLUMNS = _words(
    "region-centroid-col region-centroid-row region-pixel-count short-line-density-5"
    " short-line-density-2 vedge-mean vedge-sd hedge-mean hedge-sd intensity-mean rawred-mean"
    " rawblue-mean rawgreen-mean exred-mean exblue-mean exgreen-mean value-mean saturation-mean"
    " hue-mean"
)
_FC_COLUMNS = [
    *_words(
        "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology"
        " Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm"
        " Horizontal_Distance_To_Fire_Points"
    ),
    *(f"Wilderness_Area{place}" for place in range(1, 5)),
    *(f"Soil_Type{place}" for place in range(1, 41)),
]
_KDD_COLUMNS = _words(
    "duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot"
    " num_failed_logins logged_in num_compromised root_shell su_attempted num_root"
    " num_file_creations num_shells num_access_files num_outbound_cmds is_host_login"
    " is_guest_login count srv_count serror_rate srv_serror_rate rerror_rate srv_rerror_rate"
    " same_srv_rate diff_srv_rate srv_diff_host_rate dst_host_count dst_host_srv_count"
    " dst_host_same_srv_rate dst_host_diff_srv_rate dst_host_same_src_port_rate"
    " dst_host_srv_diff_host_rate dst_host_serror_rate dst_host_srv_serror_rate"
    " dst_host_rerror_rate dst_host_srv_rerror_rate"
)
_KDD_WORDS = ("protocol_type", "service", "flag")
_BLOCK = 1 << 14


def tenth(whole: Arrays) -> Arrays:
    """Return the tenth of KDD99 that replaces the authors' own, which is unknown.

    A permutation by NumPy's legacy generator, which is frozen, from the seed 0.
    """
    n = len(whole["X"])
    index = np.random.RandomState(0).permutation(n)[: n // 10].astype(np.int32)
    return {**whole, "X": whole["X"][index], "y": whole["y"][index], "kdd99_index": index}


def _multiple_features(folder: Path) -> Arrays:
    """Concatenate six views; the rows are 200 of each digit, in order."""
    views = [np.loadtxt(folder / f"mfeat-{view}", ndmin=2) for view in _MF_VIEWS]
    names = [
        f"{view}{place}"
        for view, part in zip(_MF_VIEWS, views, strict=True)
        for place in range(part.shape[1])
    ]
    features = np.hstack(views).astype(np.float32)
    classes = np.arange(len(features)) // _MF_A_DIGIT
    return {"X": features, "y": classes.astype(np.uint8), "columns": np.array(names)}


def _image_segmentation(folder: Path) -> Arrays:
    """Take rows of .data, then of .test: a class by name, then its numbers, below a heading."""
    rows = []
    for name in ("segmentation.data", "segmentation.test"):
        lines = (folder / name).read_text(encoding="ascii").splitlines()
        rows += [line.split(",") for line in lines if line.partition(",")[0] in _IS_CLASSES]
    features = np.array([row[1:] for row in rows], dtype=np.float64).astype(np.float32)
    classes = np.array([_IS_CLASSES.index(row[0]) + 1 for row in rows], dtype=np.uint8)
    return {
        "X": features,
        "y": classes,
        "columns": np.array(_IS_COLUMNS),
        "class_names": np.array(_IS_CLASSES),
    }


def _mnist(folder: Path) -> Arrays:
    """Take the first 500 training images of each digit, sorted by digit."""
    images = _idx(folder / "train-images-idx3-ubyte.gz")
    digits = _idx(folder / "train-labels-idx1-ubyte.gz")
    index = np.concatenate(
        [np.flatnonzero(digits == digit)[:_MNIST_A_DIGIT] for digit in range(10)]
    )
    features = images.reshape(len(images), -1)[index]
    return {"X": features, "y": digits[index], "train_index": index.astype(np.int32)}


def _idx(path: Path) -> NDArray[np.uint8]:
    """Return the array of an IDX file: its number of axes in byte 3, their lengths, the bytes."""
    with gzip.open(path) as file:
        content = file.read()
    n_axes = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=n_axes, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _digits(*names: str, delimiter: str | None = ",") -> Callable[[Path], Arrays]:
    """Return the converter of files of integers, the class last, one file after another."""

    def convert(folder: Path) -> Arrays:
        parts = [np.loadtxt(folder / name, delimiter=delimiter, dtype=np.int64) for name in names]
        table = np.vstack(parts).astype(np.uint8)
        return {"X": table[:, :-1], "y": table[:, -1]}

    return convert


def _usps(folder: Path) -> Arrays:
    """Unfold an array of 256 × 1100 × 10: images of 1, then of 2, ... of 9, of 0."""
    images = tables.read_arrays(folder / "usps_all.mat")["data"]
    n_pixels, a_digit, n_digits = images.shape
    features = images.transpose(2, 1, 0).reshape(a_digit * n_digits, n_pixels)
    classes = np.repeat(np.arange(1, n_digits + 1), a_digit)
    return {"X": features, "y": classes.astype(np.uint8)}


def _covertype(folder: Path) -> Arrays:
    """Take the first 11,340 records."""
    with gzip.open(folder / "covtype.data.gz", "rt", encoding="ascii") as lines:
        table = np.loadtxt(islice(lines, _FC_ROWS), delimiter=",", dtype=np.int64)
    return {
        "X": table[:, :-1].astype(np.int16),
        "y": table[:, -1].astype(np.uint8),
        "columns": np.array(_FC_COLUMNS),
    }


def _kdd99(folder: Path) -> Arrays:
    """Encode three columns of strings, and the class, in the order of the sorted strings."""
    codes = {name: _Codes() for name in (*_KDD_WORDS, "label")}
    parts, classes = [], []
    with gzip.open(folder / "kddcup.data_10_percent.gz", "rt", encoding="ascii") as lines:
        while block := list(islice(lines, _BLOCK)):  # all texts at once would take gigabytes
            columns = list(zip(*(line.rstrip().split(",") for line in block), strict=True))
            *measured, label = columns
            part = np.empty((len(block), len(_KDD_COLUMNS)))
            for place, (name, cells) in enumerate(zip(_KDD_COLUMNS, measured, strict=True)):
                words = codes.get(name)
                values = cells if words is None else [words[cell] for cell in cells]
                part[:, place] = np.array(values, dtype=np.float64)
            parts.append(part)
            classes.append(np.array([codes["label"][cell] for cell in label]))
    features = np.vstack(parts)
    for name in _KDD_WORDS:
        place = _KDD_COLUMNS.index(name)
        features[:, place] = codes[name].ranks()[features[:, place].astype(np.int64)]
    categories = {name: sorted(words) for name, words in codes.items()}
    return {
        "X": features,
        "y": codes["label"].ranks()[np.concatenate(classes)].astype(np.uint8),
        "columns": np.array(_KDD_COLUMNS),
        "categories": np.array(json.dumps(categories)),
    }


class _Codes(dict[str, int]):
    """Codes of strings by first appearance."""

    def __missing__(self, word: str) -> int:
        code = self[word] = len(self)
        return code

    def ranks(self) -> NDArray[np.int64]:
        """Return the position of each string, by its code, among the sorted strings."""
        return np.argsort(np.argsort(np.array(list(self))))


CONVERTERS: dict[str, Callable[[Path], Arrays]] = {
    "MF": _multiple_features,
    "IS": _image_segmentation,
    "MNIST": _mnist,
    "ODR": _digits("optdigits.tes", "optdigits.tra"),
    "LS": _digits("sat.trn", "sat.tst", delimiter=None),
    "PD": _digits("pendigits.tes", "pendigits.tra"),
    "USPS": _usps,
    "FC": _covertype,
    "KDD99": _kdd99,
}
