"""Examples of every kind of bytes that holds a table: what a search starts from."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
from scipy.io import savemat
from spreadsheets import bare, placed, workbook

if TYPE_CHECKING:
    from collections.abc import Callable

PART = b"\0<part>\0"
VOTES = np.array([[0, 0, 1], [0, 1, 1], [2, 1, -1], [2, 2, 0], [0, 2, 0]])
_TEXTS = (
    "id,a,b\nx,1,1\ny,1,2\nz,,2\n",
    "a;b\nred;1.0\nblue;NA\n",
    "0,1,2\n0,1,1\n",
    '"a, b",c\n"q ""x""",1\nw,-5\n',
    "\ufeffcell\tk2\tk3\n1\t7\t1e3\n2\t7\t9223372036854775807\n",
    "1,71;2,3\n0,5;1,5\n",
    "1 2 1\n1 2 2\n",
)


# -- tables ----------------------------------------------------------------------------------------


def texts() -> list[bytes]:
    return [text.encode() for text in _TEXTS]


def packed_texts() -> list[bytes]:
    return [gzip.compress(text.encode(), mtime=0) for text in _TEXTS]


def zstd_texts() -> list[bytes]:
    return [pa.compress(text.encode(), "zstd", asbytes=True) for text in _TEXTS]


def jsons() -> list[bytes]:
    rows = [b'{"id":"a","m":1}\n{"id":"b","m":null}\n', b'{"x":1.0}\n{"x":2,"y":"q"}\n']
    return [*rows, b'{"a":[1]}\n', b'{"object":1,"member":"k","label":"t"}\n']


def orcs() -> list[bytes]:
    return [_saved(lambda out, t=t: pa.orc.write_table(t, out)) for t in _plain_tables()]


def _plain_tables() -> list[pa.Table]:
    return [pa.table({"id": ["a", "b", "c"], "m": [1, None, 2], "n": ["x", None, "x"]})]


def _tables() -> list[pa.Table]:
    names = pa.array(["x", None, "y", "x", "x"])
    return [
        pa.table({f"m{j}": column for j, column in enumerate(VOTES.T)}),
        pa.table({"id": ["a", "b", "c", "d", "e"], "m": names, "d": names.dictionary_encode()}),
        pa.table({"f": pa.array([1.0, 2.0, None, 1.0, 3.0]), "b": [True, False, None, True, True]}),
    ]


def parquets() -> list[bytes]:
    return [_saved(lambda out, t=t: pq.write_table(t, out)) for t in _tables()]


def feathers() -> list[bytes]:
    return [
        _saved(lambda out, t=t: pa.feather.write_feather(t, out, compression="uncompressed"))
        for t in _tables()
    ]


def packed_jsons() -> list[bytes]:
    return [gzip.compress(rows, mtime=0) for rows in jsons()]


def members() -> list[bytes]:
    """Return files of one clustering each, in pairs."""
    ids, others = b"id,label\nx,1\ny,2\nz,1\n", b"id\tlabel\ny\tb\nx\ta\nz\ta\n"
    return [PART.join(pair) for pair in ((ids, others), (b"1\n2\n1\n", b"3\n3\n4\n"), (ids, ids))]


def _workbooks() -> list[dict[str, str]]:
    rows = [bare(["id", "m"], ["a", 1], ["b", 2]), placed({"B2": "x", "C4": -1, "A9": "y;z"})]
    return [workbook(each) for each in rows]


def sheets() -> list[bytes]:
    return [zipped({n: p.encode() for n, p in parts.items()}) for parts in _workbooks()]


def sheet_parts() -> list[bytes]:
    return [
        PART.join(word.encode() for pair in parts.items() for word in pair)
        for parts in _workbooks()
    ]


# -- arrays ----------------------------------------------------------------------------------------


def npys() -> list[bytes]:
    arrays = [
        VOTES, VOTES.T, VOTES.astype(np.float32), np.array([["a", "b"], ["c", "b"]]),
        np.array([[b"a"], [b"\xc3\xa4"]]), VOTES[:, 0] > 0, np.zeros(3, "i4,f8"),
        np.array([[1, None]], dtype=object),
    ]  # fmt: skip
    return [_saved(lambda out, a=a: np.save(out, a)) for a in arrays]


def npzs() -> list[bytes]:
    pairs = [{"votes": VOTES, "gt": VOTES[:, 0]}, {"x": np.array([{}], dtype=object)}]
    plain = [_saved(lambda out, p=p: np.savez(out, **p)) for p in pairs]
    return [*plain, _saved(lambda out: np.savez_compressed(out, members=VOTES))]


def mats() -> list[bytes]:
    cell = np.empty((1, 2), dtype=object)
    cell[0, 0], cell[0, 1] = "a", VOTES
    content: list[dict[str, Any]] = [
        {"members": VOTES, "gt": VOTES[:, :1]},
        {"c": cell},
        {"s": {"x": 1}, "t": "text"},
    ]
    plain = [_saved(lambda out, c=c: savemat(out, c)) for c in content]
    packed = _saved(lambda out: savemat(out, content[0], do_compression=True))
    return [*plain, packed, _saved(lambda out: savemat(out, {"members": VOTES}, format="4"))]


def _saved(save: Callable[[io.BytesIO], Any]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()


def zipped(content: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, part in content.items():
            archive.writestr(zipfile.ZipInfo(name), part)
    return out.getvalue()
