"""Catalogue of the datasets: their files, addresses, and the expected arrays.

Files are not trusted by their address. Converted downloads must equal, bit by bit, the arrays with
which the paper's tables were checked: `Fingerprint` holds their checksums.
"""

from __future__ import annotations

from typing import NamedTuple


class RawFile(NamedTuple):
    """A file of the original distribution.

    `urls` are tried in order; ``archive.zip#member`` is a file inside an archive. `sha256` is the
    checksum of the file, if known.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None


class Fingerprint(NamedTuple):
    """Type and shape of the features; SHA-256 of them, row by row, and of the classes as int64."""

    dtype: str
    shape: tuple[int, int]
    features: str
    classes: str


class Entry(NamedTuple):
    """A dataset; `file` is its file name, `scale` the scaling of the authors."""

    name: str
    file: str
    raw: tuple[RawFile, ...] = ()
    fingerprint: Fingerprint | None = None
    scale: str | None = None
    class_names: dict[int, str] | None = None


_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_ZIP = "https://archive.ics.uci.edu/static/public"
_FIGSHARE = "https://ndownloader.figshare.com/files"
_DIGITS = {digit: str(digit) for digit in range(10)}


def _uci(folder: str, archive: str, *names: str, **sums: str) -> tuple[RawFile, ...]:
    """Return files that UCI has both in a folder and in an archive; `sums` are by suffix."""
    return tuple(
        RawFile(
            name,
            (f"{_UCI}/{folder}/{name}", f"{_ZIP}/{archive}#{name}"),
            sums.get(name.rpartition(".")[2]),
        )
        for name in names
    )


def _mnist(name: str, sha256: str) -> RawFile:
    mirrors = (
        "https://ossci-datasets.s3.amazonaws.com/mnist",
        "https://storage.googleapis.com/cvdf-datasets/mnist",
    )
    return RawFile(name, tuple(f"{mirror}/{name}" for mirror in mirrors), sha256)


_PAPER = (
    Entry(
        "MF",
        "MF",
        _uci(
            "mfeat",
            "72/multiple+features.zip",
            *(f"mfeat-{view}" for view in ("fou", "fac", "kar", "pix", "zer", "mor")),
        ),
        Fingerprint(
            "float32",
            (2000, 649),
            "100658098a2f1720f2eba182387c67d4c3f261ff38c4f84b39d3c6bbe5179328",
            "4e64a02568003d897e7b68ba22d98a34f324c87f72edef91cddc23d3c5cfeb56",
        ),
        class_names=_DIGITS,
    ),
    Entry(
        "IS",
        "IS",
        _uci("image", "50/image+segmentation.zip", "segmentation.data", "segmentation.test"),
        Fingerprint(
            "float32",
            (2310, 19),
            "4525378e0bec33cc5e6eac6d41b9df813f8880c6fc3f734015700e7592d1a055",
            "e6210215fa798d465fbf0e418343ffddcda1c473cb8c53d37d9e947954d12066",
        ),
        scale="minmax",
    ),
    Entry(
        "MNIST",
        "MNIST",
        (
            _mnist(
                "train-images-idx3-ubyte.gz",
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            _mnist(
                "train-labels-idx1-ubyte.gz",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
        ),
        Fingerprint(
            "uint8",
            (5000, 784),
            "2913c6b6527114b7307e1086335a7665e3f94c74aba3d67525e6f116bf5ae20f",
            "c3556f4a243d7dc7c1fb41d5302fb5050146cd15b4b1e72e41d57339c79a1367",
        ),
        class_names=_DIGITS,
    ),
    Entry(
        "ODR",
        "ODR",
        _uci(
            "optdigits",
            "80/optical+recognition+of+handwritten+digits.zip",
            "optdigits.tes",
            "optdigits.tra",
            tes="6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8",
            tra="e1b683cc211604fe8fd8c4417e6a69f31380e0c61d4af22e93cc21e9257ffedd",
        ),
        Fingerprint(
            "uint8",
            (5620, 64),
            "8577473f8131be365822d998026c71e08d95c2745a4c1a83a41bd159a6f9112a",
            "e201ae18a26e004e186b6d366b8ae8153b2c3a755ec65ac79e7aa3daa1210a22",
        ),
        class_names=_DIGITS,
    ),
    Entry(
        "LS",
        "LS",
        _uci("statlog/satimage", "146/statlog+landsat+satellite.zip", "sat.trn", "sat.tst"),
        Fingerprint(
            "uint8",
            (6435, 36),
            "ed6b11742e21fe245e1dec0a1e0d2944a3f398d5301f3d718cccdae56d9dba3e",
            "0aca9e5ba68cbd7ad240f58d08249d3cb0f50569a6aefce475a9005f9c7edbae",
        ),
        class_names={
            1: "red soil",
            2: "cotton crop",
            3: "grey soil",
            4: "damp grey soil",
            5: "soil with vegetation stubble",
            7: "very damp grey soil",
        },
    ),
    Entry(
        "PD",
        "PD",
        _uci(
            "pendigits",
            "81/pen+based+recognition+of+handwritten+digits.zip",
            "pendigits.tes",
            "pendigits.tra",
        ),
        Fingerprint(
            "uint8",
            (10992, 16),
            "f4052e8568bac7e63ee11915abebff39b2d01b0aac29923410cdb0ef307a3386",
            "bcab40fd79008a31d145b4a5bd3da8fb7b881b261371b1db06346b274c69ca34",
        ),
        class_names=_DIGITS,
    ),
    Entry(
        "USPS",
        "USPS",
        (RawFile("usps_all.mat", ("https://cs.nyu.edu/~roweis/data/usps_all.mat",)),),
        Fingerprint(
            "uint8",
            (11000, 256),
            "85ef1f31c7eb912d6ac1fe8036ffcd2cd8faa686527d5c01ef6931b59ce9fe03",
            "a0fd5f29ce5b8883bee9b9cc7b3c47ffb6e3d58b5d065ff13613f33a08b9bcc2",
        ),
        class_names={place: str(place % 10) for place in range(1, 11)},
    ),
    Entry(
        "FC",
        "FC",
        (
            RawFile(
                "covtype.data.gz",
                (f"{_FIGSHARE}/5976039", f"{_UCI}/covtype/covtype.data.gz"),
                "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
            ),
        ),
        Fingerprint(
            "int16",
            (11340, 54),
            "96c43907d587ffa32587a7eecaedbd39b41dade071d0d834755fd284f0a3dfbc",
            "1651b406155a8f8efd2b596a1adbc826ed4a1630a832172e82a0f4c11807b7d8",
        ),
        class_names={
            1: "Spruce/Fir",
            2: "Lodgepole Pine",
            3: "Ponderosa Pine",
            4: "Cottonwood/Willow",
            5: "Aspen",
            6: "Douglas-fir",
            7: "Krummholz",
        },
    ),
    Entry(
        "KDD99-10P",
        "KDD99_10P",  # no files of its own: a tenth of the next one
        fingerprint=Fingerprint(
            "float64",
            (49402, 41),
            "ced650d5ca32a5fef20ba578e1200fb28873bff8bbbb9551840065bf7d36c0f5",
            "4d0600c2d6d09c2f82ca41e9cf61db4af1b1b1e758fc953e1f689d1b30fae06f",
        ),
    ),
    Entry(
        "KDD99",
        "KDD99",
        (
            RawFile(
                "kddcup.data_10_percent.gz",
                (f"{_FIGSHARE}/5976042", f"{_UCI}/kddcup99-mld/kddcup.data_10_percent.gz"),
                "8045aca0d84e70e622d1148d7df782496f6333bf6eb979a1b0837c42a9fd9561",
            ),
        ),
        Fingerprint(
            "float64",
            (494021, 41),
            "4a24a36f1948bbfb528c039e0766bed0065510c6bd5cd104333081100d765cfe",
            "ffb33ffa49c11e1143b82b1b270fd50e9f11b82b0568dc7f04347117bd114140",
        ),
    ),
)
_LOCAL_ONLY = (Entry("Pollen", "Pollen"), Entry("PBMC68k_reduced", "PBMC68k_reduced"))

#: The paper's ten, in its order.
NAMES = tuple(entry.name for entry in _PAPER)
_BY_NAME = {_key.file.lower(): _key for _key in (*_PAPER, *_LOCAL_ONLY)}


def find(name: str) -> Entry | None:
    """Return the entry of a name; case, and dashes or underscores, do not matter."""
    return _BY_NAME.get(name.strip().lower().replace("-", "_"))


def is_name(name: str) -> bool:
    """Tell whether `load` has a dataset of this name.

    Examples
    --------
    >>> is_name("kdd99_10p"), is_name("iris")
    (True, False)
    """
    return find(name) is not None


def every_name() -> tuple[str, ...]:
    """Return all names, including datasets without a public file."""
    return (*NAMES, *(entry.name for entry in _LOCAL_ONLY))
