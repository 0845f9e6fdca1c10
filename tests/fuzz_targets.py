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

import fuzz_seeds as seeds

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app
from ensemblage.experiments import records

if TYPE_CHECKING:
    from collections.abc import Callable

KIND = (tables.FileFormatError, OSError, en.MemoryBudgetError)


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


def _read_members(data: bytes, folder: Path) -> None:
    """Read a file for each clustering."""
    paths = [_written(p, folder / f"c{j}.csv") for j, p in enumerate(data.split(seeds.PART)[:9])]
    for options in ({}, {"id_column": "none"}):
        with contextlib.suppress(*KIND):
            tables.read(paths, layout="members", **options)


def _read_sheet_of_parts(data: bytes, folder: Path) -> None:
    _whole("xlsx")(_archive(data), folder)


def _archive(data: bytes) -> bytes:
    """Return an archive that is sound, of parts that need not be, each after its name."""
    parts = data.split(seeds.PART)
    names = [name.decode("ascii", "replace")[:99] for name in parts[::2]]
    return seeds.zipped(dict(zip(names, parts[1::2], strict=False)))


def _written(data: bytes, path: Path) -> Path:
    path.write_bytes(data)
    return path


# -- arrays ----------------------------------------------------------------------------------------


def _read_npz_of_parts(data: bytes, folder: Path) -> None:
    """Read an archive that is sound, of arrays that need not be: checksums would hide them."""
    parts = {f"a{j}.npy": part for j, part in enumerate(data.split(seeds.PART))}
    _whole("npz")(seeds.zipped(parts), folder)


# -- models ----------------------------------------------------------------------------------------


def _models(folder: Path) -> list[bytes]:
    found = []
    for est in (en.PTA(2), en.PTGP(2, random_state=0), en.Vote(2), en.EAC(2)):
        est.fit(seeds.VOTES).save(folder / "seed.ensemblage")
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
        found.append(seeds.PART.join(parts))
    return found


def _read_model(data: bytes, folder: Path) -> None:
    path = _written(data, folder / "m.ensemblage")
    with contextlib.suppress(*KIND):
        est = en.load(path)
        with contextlib.suppress(ValueError):  # a kind one: the votes do not fit this model
            est.predict(seeds.VOTES)
        for k in (1, 2):
            with contextlib.suppress(ValueError):
                est.cut(k)
        assert len(est.labels_) == len(est.microclusters_.of_object)


def _read_model_of_parts(data: bytes, folder: Path) -> None:
    _read_model(_archive(data), folder)


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
    "csv": Target(seeds.texts, _whole("csv")),
    "tsv": Target(seeds.texts, _whole("tsv")),
    "csv.gz": Target(seeds.packed_texts, _whole("csv.gz")),
    "csv in batches": Target(seeds.texts, _batched("csv")),
    "parquet": Target(seeds.parquets, _whole("parquet")),
    "parquet in batches": Target(seeds.parquets, _batched("parquet")),
    "arrow": Target(seeds.feathers, _whole("arrow")),
    "arrow in batches": Target(seeds.feathers, _batched("arrow")),
    "csv.zst": Target(seeds.zstd_texts, _whole("csv.zst")),
    "jsonl": Target(seeds.jsons, _whole("jsonl")),
    "jsonl.gz": Target(seeds.packed_jsons, _whole("jsonl.gz")),
    "orc": Target(seeds.orcs, _whole("orc")),
    "orc in batches": Target(seeds.orcs, _batched("orc")),
    "members": Target(seeds.members, _read_members),
    "xlsx": Target(seeds.sheets, _whole("xlsx")),
    "xlsx of parts": Target(seeds.sheet_parts, _read_sheet_of_parts),
    "npy": Target(seeds.npys, _whole("npy")),
    "npz": Target(seeds.npzs, _whole("npz")),
    "npz of parts": Target(seeds.npys, _read_npz_of_parts),
    "mat": Target(seeds.mats, _whole("mat")),
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
