"""Reading votes from files compared with pyarrow's plain reading of the same files.

python -m benchmarks.tables [--rows 1e6] [--columns 10] [--repeats 5] [--folder DIR]

Writes CSV files of whole numbers and of names, and a Parquet file, then prints the best of some
times, alternating, and their ratio. "scan" is one pass of a stream over the file, to codes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from ensemblage import tables

if TYPE_CHECKING:
    from collections.abc import Callable

LABELS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=None)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch)
        files = _write(folder, int(asked.rows), asked.columns)
        print(f"{int(asked.rows):,} rows, {asked.columns} columns, best of {asked.repeats}")
        print(f"{'file':14} {'MB':>5} {'pyarrow s':>10} {'read s':>8} {'ratio':>6} {'scan s':>8}")
        for path in files:
            plain = pq.read_table if path.suffix == ".parquet" else csv.read_csv
            calls = [lambda p=plain, f=path: p(f), lambda f=path: tables.read(f), _scanner(path)]
            one, whole, scanned = _best(calls, asked.repeats)
            size = path.stat().st_size / 1e6
            ratio = whole / one
            print(
                f"{path.name:14} {size:5.0f} {one:10.3f} {whole:8.3f} {ratio:6.2f} {scanned:8.3f}"
            )


def _write(folder: Path, n_rows: int, n_columns: int) -> list[Path]:
    rng = np.random.default_rng(0)
    names = np.array([f"cell type {place}" for place in range(LABELS)])
    drawn = [rng.integers(0, LABELS, n_rows) for _ in range(n_columns)]
    numbers = pa.table({f"m{place}": codes for place, codes in enumerate(drawn)})
    words = pa.table({f"m{place}": names[codes] for place, codes in enumerate(drawn)})
    plain = csv.WriteOptions(quoting_style="none")
    files = [folder / name for name in ("numbers.csv", "names.csv", "numbers.parquet")]
    csv.write_csv(numbers, files[0], plain)
    csv.write_csv(words, files[1], plain)
    pq.write_table(numbers, files[2])
    return files


def _scanner(path: Path) -> Callable[[], None]:
    def scan() -> None:
        (source,) = tables.scan(path)
        codes = [tables.Codes(name) for name in source.names]
        for batch in source.batches():
            source.coded(batch, codes)

    return scan


def _best(calls: list[Callable[[], object]], repeats: int) -> list[float]:
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, seconds in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
    return [min(seconds) for seconds in times]


if __name__ == "__main__":
    main()
