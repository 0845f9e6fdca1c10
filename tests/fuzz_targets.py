"""What is fuzzed: for each kind of bytes, good examples, and a reader that takes any bytes.

A reader ends in a result or in a kind error (`KIND`); anything else that it raises is a find.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
from scipy.io import savemat

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app
from ensemblage.experiments import records

if TYPE_CHECKING:
    from collections.abc import Callable

KIND = (tables.FileFormatError, OSError, en.MemoryBudgetError)
_PART = b"\0<part>\0"
_VOTES = np.array([[0, 0, 1], [0, 1, 1], [2, 1, -1], [2, 2, 0], [0, 2, 0]])
_TEXTS = (
    "id,a,b\nx,1,1\ny,1,2\nz,,2\n",
    "a;b\nred;1.0\nblue;NA\n",
    "0,1,2\n0,1,1\n",
    '"a, b",c\n"q ""x""",1\nw,-5\n',
    "\ufeffcell\tk2\tk3\n1\t7\t1e3\n2\t7\t9223372036854775807\n",
    "1,71;2,3\n0,5;1,5\n",
    "1 2 1\n1 2 2\n",
)


class Target(NamedTuple):
    """A kind of bytes: examples of it, and what reads it."""

    seeds: Callable[[], list[bytes]]
    read: Callable[[bytes, Path], None]


# -- tables ----------------------------------------------------------------------------------------


def _whole(suffix: str) -> Callable[[bytes, Path], None]:
    """Return what reads a file in memory, as votes, as labels and as features."""

    def read(data: bytes, folder: Path) -> None:
        path = _written(data, folder / f"v.{suffix}")
        calls: list[Callable[[], Any]] = [
            lambda: tables.read(path),
            lambda: tables.read(path, layout="long"),
            lambda: tables.read_labels(path),
            lambda: tables.read_features([path]),
        ]
        for call in calls:
            with contextlib.suppress(*KIND):
                call()

    return read


def _batched(suffix: str) -> Callable[[bytes, Path], None]:
    """Return what reads a file in batches, as streamed consensus does."""

    def read(data: bytes, folder: Path) -> None:
        path = str(_written(data, folder / f"v.{suffix}"))
        with contextlib.suppress(*KIND):
            (source,) = tables.scan([path], batch_rows=1000)
            codes = [tables.Codes(name) for name in source.names]
            with contextlib.suppress(tables.RereadError):
                for batch in source.batches(carried=True):
                    source.coded(batch, codes)
                    source.carried_arrays(batch, source.carried_types())
                    [tables.texts_of(column, "") for column in batch.carried]

    return read


def _written(data: bytes, path: Path) -> Path:
    path.write_bytes(data)
    return path


def _texts() -> list[bytes]:
    return [text.encode() for text in _TEXTS]


def _packed_texts() -> list[bytes]:
    return [gzip.compress(text.encode(), mtime=0) for text in _TEXTS]


def _zstd_texts() -> list[bytes]:
    return [pa.compress(text.encode(), "zstd", asbytes=True) for text in _TEXTS]


def _jsons() -> list[bytes]:
    rows = [b'{"id":"a","m":1}\n{"id":"b","m":null}\n', b'{"x":1.0}\n{"x":2,"y":"q"}\n']
    return [*rows, b'{"a":[1]}\n', b'{"object":1,"member":"k","label":"t"}\n']


def _orcs() -> list[bytes]:
    return [_saved(lambda out, t=t: pa.orc.write_table(t, out)) for t in _plain_tables()]


def _plain_tables() -> list[pa.Table]:
    return [pa.table({"id": ["a", "b", "c"], "m": [1, None, 2], "n": ["x", None, "x"]})]


def _tables() -> list[pa.Table]:
    names = pa.array(["x", None, "y", "x", "x"])
    return [
        pa.table({f"m{j}": column for j, column in enumerate(_VOTES.T)}),
        pa.table({"id": ["a", "b", "c", "d", "e"], "m": names, "d": names.dictionary_encode()}),
        pa.table({"f": pa.array([1.0, 2.0, None, 1.0, 3.0]), "b": [True, False, None, True, True]}),
    ]


def _parquets() -> list[bytes]:
    return [_saved(lambda out, t=t: pq.write_table(t, out)) for t in _tables()]


def _feathers() -> list[bytes]:
    return [
        _saved(lambda out, t=t: pa.feather.write_feather(t, out, compression="uncompressed"))
        for t in _tables()
    ]


# -- arrays ----------------------------------------------------------------------------------------


def _npys() -> list[bytes]:
    arrays = [
        _VOTES, _VOTES.T, _VOTES.astype(np.float32), np.array([["a", "b"], ["c", "b"]]),
        np.array([[b"a"], [b"\xc3\xa4"]]), _VOTES[:, 0] > 0, np.zeros(3, "i4,f8"),
        np.array([[1, None]], dtype=object),
    ]  # fmt: skip
    return [_saved(lambda out, a=a: np.save(out, a)) for a in arrays]


def _npzs() -> list[bytes]:
    pairs = [{"votes": _VOTES, "gt": _VOTES[:, 0]}, {"x": np.array([{}], dtype=object)}]
    plain = [_saved(lambda out, p=p: np.savez(out, **p)) for p in pairs]
    return [*plain, _saved(lambda out: np.savez_compressed(out, members=_VOTES))]


def _read_npz_of_parts(data: bytes, folder: Path) -> None:
    """Read an archive that is sound, of arrays that need not be: checksums would hide them."""
    _whole("npz")(_zipped({f"a{j}.npy": p for j, p in enumerate(data.split(_PART))}), folder)


def _mats() -> list[bytes]:
    cell = np.empty((1, 2), dtype=object)
    cell[0, 0], cell[0, 1] = "a", _VOTES
    content: list[dict[str, Any]] = [
        {"members": _VOTES, "gt": _VOTES[:, :1]},
        {"c": cell},
        {"s": {"x": 1}, "t": "text"},
    ]
    plain = [_saved(lambda out, c=c: savemat(out, c)) for c in content]
    packed = _saved(lambda out: savemat(out, content[0], do_compression=True))
    return [*plain, packed, _saved(lambda out: savemat(out, {"members": _VOTES}, format="4"))]


def _saved(save: Callable[[io.BytesIO], Any]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()


# -- models ----------------------------------------------------------------------------------------


def _models(folder: Path) -> list[bytes]:
    found = []
    for est in (en.PTA(2), en.PTGP(2, random_state=0), en.Vote(2), en.EAC(2)):
        est.fit(_VOTES).save(folder / "seed.ensemblage")
        found.append((folder / "seed.ensemblage").read_bytes())
    return found


def _model_seeds() -> list[bytes]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        return _models(Path(folder))


def _model_parts() -> list[bytes]:
    found = []
    for content in _model_seeds():
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = [p for name in archive.namelist() for p in (name.encode(), archive.read(name))]
        found.append(_PART.join(parts))
    return found


def _read_model(data: bytes, folder: Path) -> None:
    path = _written(data, folder / "m.ensemblage")
    with contextlib.suppress(*KIND):
        est = en.load(path)
        with contextlib.suppress(ValueError):  # a kind one: the votes do not fit this model
            est.predict(_VOTES)
        for k in (1, 2):
            with contextlib.suppress(ValueError):
                est.cut(k)
        assert len(est.labels_) == len(est.microclusters_.of_object)


def _read_model_of_parts(data: bytes, folder: Path) -> None:
    parts = data.split(_PART)
    names = [name.decode("ascii", "replace")[:99] for name in parts[::2]]
    _read_model(_zipped(dict(zip(names, parts[1::2], strict=False))), folder)


def _zipped(content: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, part in content.items():
            archive.writestr(zipfile.ZipInfo(name), part)
    return out.getvalue()


# -- records and the command -----------------------------------------------------------------------


def _records() -> list[bytes]:
    what = {"kind": "score", "dataset": "IS", "method": "ptgp", "pool": "own-3", "draw": 1}
    good = {"what": what, "scores": {"nmi": 0.5}, "seconds": 1.0, "versions": {}}
    skipped = {"what": what | {"pool": "authors"}, "skipped": "no data"}
    return [json.dumps(good).encode() + b"\n" + json.dumps(skipped).encode() + b"\n", b"{}\n[]"]


def _read_records(data: bytes, folder: Path) -> None:
    (folder / records.PACKED).unlink(missing_ok=True)
    _written(data, folder / records.FILE)
    found = records.read(folder)
    assert all(records.key(record["what"]) == key for key, record in found.items())


def _packed_records() -> list[bytes]:
    return [gzip.compress(data, mtime=0) for data in _records()]


def _read_packed_records(data: bytes, folder: Path) -> None:
    (folder / records.FILE).unlink(missing_ok=True)
    _written(data, folder / records.PACKED)
    try:
        records.read(folder)
    except ValueError as error:
        if "Restore it" not in str(error):
            raise


_CALLS = (
    "consensus v.csv -k 2 -o l.csv --method pta --linkage single --confidence",
    "consensus v.csv w.csv --k-range 1:3 -o out/ --engine stream --quiet",
    "consensus v.csv -k auto --neighbors all --steps 2 --json --seed 7 --jobs 1 -o l.npz",
    "choose-k v.csv --k-range 2:3 --method eac --json",
    "compare v.csv --truth v.csv --methods pta,eac -k 2",
    "predict m.ensemblage v.csv -o p.csv --confidence",
    "generate f.csv -m 2 -o g.csv --seed 1 --scale minmax",
    "consensus v.csv -k 2 --id-column id --no-header --format tsv --key votes",
    "--version", "--help", "consensus --help", "consenus",
)  # fmt: skip
#: Words that reach outside of the folder, start processes, or run for minutes.
_OUTSIDE = re.compile(r"dask|scheduler|demo|reproduce|report|[/~*?\[]|\.\.")


def _calls() -> list[bytes]:
    return [call.replace(" ", "\0").encode() for call in _CALLS]


def _run_command(data: bytes, folder: Path) -> None:
    arguments = data.decode("utf-8", "replace").split("\0")[:30]
    if any(_OUTSIDE.search(word.removesuffix("/")) or len(word) > 200 for word in arguments):
        return
    if any(word.isdigit() and int(word) > 5000 for word in arguments):
        return  # work that was asked for, not a hang
    if not (folder / "m.ensemblage").exists():
        _written(_models(folder)[0], folder / "m.ensemblage")
        _written(b"x,y\n0.5,1\n1.5,2\n2.25,9\n3.5,9.5\n", folder / "f.csv")
    for name in ("v.csv", "w.csv"):
        _written(b"id,a,b,c\nq,0,0,1\nr,0,1,1\ns,2,1,\nt,2,2,0\n", folder / name)
    before, said = Path.cwd(), io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            app(arguments, prog_name="ensemblage")
    except SystemExit as ending:
        code, text = ending.code, said.getvalue()
        if code not in (0, 1, 2) or "Traceback" in text or "a case it does not know" in text:
            raise AssertionError(f"exit code {code}: {text}") from None
    finally:
        os.chdir(before)


TARGETS = {
    "csv": Target(_texts, _whole("csv")),
    "tsv": Target(_texts, _whole("tsv")),
    "csv.gz": Target(_packed_texts, _whole("csv.gz")),
    "csv in batches": Target(_texts, _batched("csv")),
    "parquet": Target(_parquets, _whole("parquet")),
    "parquet in batches": Target(_parquets, _batched("parquet")),
    "arrow": Target(_feathers, _whole("arrow")),
    "arrow in batches": Target(_feathers, _batched("arrow")),
    "csv.zst": Target(_zstd_texts, _whole("csv.zst")),
    "jsonl": Target(_jsons, _whole("jsonl")),
    "orc": Target(_orcs, _whole("orc")),
    "npy": Target(_npys, _whole("npy")),
    "npz": Target(_npzs, _whole("npz")),
    "npz of parts": Target(_npys, _read_npz_of_parts),
    "mat": Target(_mats, _whole("mat")),
    "model": Target(_model_seeds, _read_model),
    "model of parts": Target(_model_parts, _read_model_of_parts),
    "records": Target(_records, _read_records),
    "packed records": Target(_packed_records, _read_packed_records),
    "arguments": Target(_calls, _run_command),
}
DICTIONARY = sorted(
    {word for call in _CALLS for word in call.split()}
    | {"NaN", "NA", '\\"', "\\x0a", ",", ";", "\\x09", "(3, 2)", "'descr'", "'<i8'", "|O", "'U0'"}
)

if __name__ == "__main__":  # one case again: python tests/fuzz_targets.py TARGET FILE
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as place:
        TARGETS[sys.argv[1]].read(Path(sys.argv[2]).read_bytes(), Path(place))
