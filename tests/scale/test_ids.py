"""Ids in the output of a stream: as given, whatever their type, the batches and the format."""

import subprocess
import sys

import numpy as np
import pytest

import ensemblage as en
from ensemblage import tables
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
        ("timestamp", ["1970-01-01", "", "1970-01-01T00:00:02", "1970-01-01T05:10:28"]),
    ],
)
class TestDates:
    def ids(self, kind):
        return pa.array(DAYS, pa.date32() if kind == "date32" else pa.timestamp("s"))

    def test_pass_through(self, kind, expected, tmp_path):
        source = write(tmp_path / "v.parquet", self.ids(kind))
        run(source, tmp_path / "l.csv")
        rows = (tmp_path / "l.csv").read_text().splitlines()[1:]
        assert [row.split(",")[0] for row in rows] == expected
        run(source, tmp_path / "l.parquet")
        found, given = (pq.read_table(tmp_path / name)["when"] for name in ("l.parquet", source))
        assert found.equals(given)

    def test_beside_names_in_another_file(self, kind, expected, tmp_path):
        dates = write(tmp_path / "1.parquet", self.ids(kind))
        names = write(tmp_path / "2.parquet", pa.array(["a", "b", None, "d"]))
        for rows in (1, 100):  # a batch must not decide how fine times are written
            run([dates, names], tmp_path / "l.parquet", batch_rows=rows)
            found = pq.read_table(tmp_path / "l.parquet")["when"].to_pylist()
            assert found == [*(text or None for text in expected), "a", "b", None, "d"]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("times", [["2020-01-01"] * 4, ["2020-01-01", "2020-01-01T03", None, None]])
def test_times_are_spelled_alike_in_memory_and_in_a_stream(unit, times, tmp_path):
    ids = pa.array(np.array(times, dtype=f"M8[{unit}]"))
    source = write(tmp_path / "v.parquet", ids)
    run(source, tmp_path / "l.csv")
    streamed = [row.split(",")[0] for row in (tmp_path / "l.csv").read_text().splitlines()[1:]]
    assert streamed == tables.as_texts(tables.read(source, id_column="when").ids)
    assert streamed[0] == "2020-01-01"


@pytest.mark.parametrize("midnight", ["2020-01-01", "2020-01-01T00:00:00", "2020-01-01 00:00:00"])
def test_a_date_is_its_midnight_when_ids_are_matched(midnight, tmp_path):
    times = np.array(["2020-01-01", "2020-01-01T01", "2020-01-02", "2020-01-02T01"], "M8[s]")
    votes = tables.read(write(tmp_path / "v.parquet", pa.array(times)), id_column="when")
    truth = tmp_path / "truth.csv"
    rows = ["2020-01-01T01:00:00,1", f"{midnight},0", "2020-01-02,2", "2020-01-02T01:00:00,3"]
    truth.write_text("\n".join(["when,truth", *rows]) + "\n")
    given = tables.read_labels(truth, id_column="when")
    assert tables.in_order(given, votes.ids, 4, "truth.csv").tolist() == [0, 1, 2, 3]


def test_dates_beside_times_are_times_in_memory_and_in_a_stream(tmp_path):
    days = write(tmp_path / "1.parquet", pa.array(DAYS, pa.date32()))
    times = write(tmp_path / "2.parquet", pa.array(DAYS, pa.timestamp("ms")))
    run([days, times], tmp_path / "l.parquet")
    found = pq.read_table(tmp_path / "l.parquet")["when"]
    assert found.type == pa.timestamp("ms")
    ids = tables.read([days, times], id_column="when").ids
    np.testing.assert_array_equal(found.to_numpy(), ids)


def test_times_match_those_of_a_file_with_finer_times(tmp_path):
    votes = write(tmp_path / "v.parquet", pa.array([0, 1, 2, 3], pa.date32()))
    times = np.array(["1970-01-01", "1970-01-02", "1970-01-03", "1970-01-04", "1970-01-04T03"])
    truth = pa.table({"when": times.astype("M8[ns]"), "truth": [0, 0, 1, 1, 2]})
    pq.write_table(truth, tmp_path / "t.parquet")
    table = tables.read(votes, id_column="when")
    labels = tables.read_labels(tmp_path / "t.parquet", id_column="when")
    assert tables.in_order(labels, table.ids, 4, "t.parquet").tolist() == [0, 0, 1, 1]


WITHOUT_PANDAS = """
import sys

class NoPandas:
    def find_spec(self, name, *others):
        if name.split(".")[0] == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPandas())
from ensemblage import tables
print(*tables.read(sys.argv[1], id_column="when").ids, sep="|")
"""


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.timestamp("ns"), "T00:00:01.000000001"),
        (pa.timestamp("ns", "Asia/Tokyo"), "T09:00:01.000000001+09:00"),
        (pa.time64("ns"), "00:00:01.000000001"),
        (pa.duration("ns"), "0:00:01.000000001"),
    ],
)
def test_nanoseconds_need_no_pandas(kind, expected, tmp_path):
    source = write(tmp_path / "v.parquet", pa.array([10**9 + place for place in range(4)], kind))
    call = [sys.executable, "-c", WITHOUT_PANDAS, source]
    found = subprocess.run(call, capture_output=True, text=True, check=True)
    assert found.stdout.split("|")[1].endswith(expected)
    assert str(tables.read(source, id_column="when").ids[1]).endswith(expected)


@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_the_text_of_a_time_does_not_depend_on_its_unit(zone, tmp_path):
    texts = set()
    for unit, factor in {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.items():
        for kind in (pa.timestamp(unit, zone), pa.duration(unit)):
            ids = pa.array([None if day is None else day * factor for day in DAYS], kind)
            source = write(tmp_path / "v.parquet", ids)
            run(source, tmp_path / "l.csv")
            texts.add((pa.types.is_duration(kind), (tmp_path / "l.csv").read_text()))
    assert len(texts) == 2


@pytest.mark.parametrize(
    "ids",
    [pa.array([1, 2, 3, 2**29], pa.date32()), pa.array([1, 2, 3, 2**40], pa.timestamp("s"))],
)
def test_years_beyond_those_of_python(ids, tmp_path):
    pq.write_table(pa.table({"id": ids, "a": VOTES}), tmp_path / "v.parquet")
    source = tmp_path / "v.parquet"
    assert tables.read(source).id_name == "id"
    repeated = pa.concat_arrays([ids[:3], ids[1:2]])
    pq.write_table(pa.table({"id": repeated, "a": VOTES}), source)
    with pytest.raises(tables.FileFormatError, match=r"'1970-01-0.* is in rows 2 and 4"):
        tables.read(source)


@pytest.mark.parametrize("kind", [pa.timestamp("s", "UTC"), pa.timestamp("s", "No/Where")])
def test_times_without_a_text(kind, tmp_path):
    source = write(tmp_path / "v.parquet", pa.array([1, 2, 3, 2**40], kind))
    with pytest.raises(tables.FileFormatError, match=r"'when' cannot be read .*without a text"):
        tables.read(source, id_column="when")
