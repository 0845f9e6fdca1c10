"""Ids in the output of a stream: as given, whatever their type, the batches and the format."""

import numpy as np
import pytest

import ensemblage as en
from ensemblage.scale import stream

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

VOTES = np.array([0, 0, 1, 1])
DAYS = [0, None, 2, 18_628]


def write(path, ids):
    pq.write_table(pa.table({"when": ids, "a": VOTES, "b": VOTES}), path)
    return path


def run(sources, output, **options):
    stream.consensus(sources, en.EAC(2), output, id_column="when", n_jobs=1, **options)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("date32", ["1970-01-01", "", "1970-01-03", "2021-01-01"]),
        ("timestamp", ["1970-01-01T00:00:00", "", "1970-01-01T00:00:02", "1970-01-01T05:10:28"]),
    ],
)
class TestDates:
    def ids(self, kind):
        return pa.array(DAYS, pa.date32() if kind == "date32" else pa.timestamp("s"))

    def test_pass_through(self, kind, expected, tmp_path):
        source = write(tmp_path / "v.parquet", self.ids(kind))
        run(source, tmp_path / "l.csv")
        rows = (tmp_path / "l.csv").read_text().splitlines()[1:]
        assert [row.split(",")[0].removesuffix(".000") for row in rows] == expected
        run(source, tmp_path / "l.parquet")
        found, given = (pq.read_table(tmp_path / name)["when"] for name in ("l.parquet", source))
        assert found.equals(given)

    def test_beside_names_in_another_file(self, kind, expected, tmp_path):
        dates = write(tmp_path / "1.parquet", self.ids(kind))
        names = write(tmp_path / "2.parquet", pa.array(["a", "b", None, "d"]))
        for rows in (1, 100):  # a batch must not decide how fine times are written
            run([dates, names], tmp_path / "l.parquet", batch_rows=rows)
            found = pq.read_table(tmp_path / "l.parquet")["when"].to_pylist()
            texts = [text and text.removesuffix(".000") for text in found]
            assert texts == [*(text or None for text in expected), "a", "b", None, "d"]
