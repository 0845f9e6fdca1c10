"""Ids and kept columns are the same in the output of memory and of a stream."""

import datetime as dt
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ensemblage import tables
from ensemblage.cli import app
from ensemblage.tables import FileFormatError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

VOTES = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}


def columns(last):
    """Return a column of every type; `last` is whether the last values are there."""

    def typed(values, kind):
        return pa.array([*values, values[0] if last else None], kind)

    return {
        "i1": typed([1, 2, 3], pa.int8()),
        "u2": typed([1, 2, 3], pa.uint16()),
        "truth_value": typed([True, False, True], pa.bool_()),
        "f2": typed(np.array([0.5, 1e-7, 3], "float16").tolist(), pa.float16()),
        "f4": typed([0.1, 1e-9, float("nan")], pa.float32()),
        "f8": typed([1e-9, 1 / 3, float("inf")], pa.float64()),
        "day": typed([1, 2, 3], pa.date32()),
        "day_in_ms": typed([0, 86_400_000, 0], pa.date64()),
        "time": typed([1, 2, 3], pa.timestamp("ms")),
        "time_there": typed([1, 2, 3], pa.timestamp("us", "UTC")),
        "clock": typed([1, 2000, 3_000_000_000], pa.time64("ns")),
        "text": pa.array(["x", "", None, "z"]),
        "nothing": pa.array([None] * 4, pa.string()),
        "category": pa.array(["x", "y", None, "x"]).dictionary_encode(),
        "decimal": pa.array(["1.5", None, "2.5", "3.5"]).cast(pa.decimal128(5, 2)),
    }


def save(path, **others):
    pq.write_table(pa.table({**others, **VOTES}), path)


def run(*arguments):
    call = ["consensus", *arguments, "--columns", "a,b", "-k", "2", "-q"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save("1.parquet", id=list("pqrs"), **columns(last=True))
    save("2.parquet", id=["t", "u", "v", None], **columns(last=False))
    return tmp_path


@pytest.mark.parametrize("files", [["1.parquet"], ["2.parquet"], ["1.parquet", "2.parquet"]])
@pytest.mark.parametrize("output", ["labels.csv", "labels.parquet"])
def test_every_type(folder, files, output):
    found = []
    for engine in ("memory", "stream"):
        keep = ",".join(columns(last=True))
        run(*files, "--keep", keep, "--confidence", "--engine", engine, "-o", f"{engine}-{output}")
        found.append(folder / f"{engine}-{output}")
    if output.endswith("csv"):
        assert found[0].read_text() == found[1].read_text()
        assert "nan" not in found[0].read_text()
    else:
        memory, stream = map(pq.read_table, found)
        assert memory.equals(stream)
        assert memory["f4"].null_count > 0
        for name, values in columns(last=True).items():
            if name not in ("day_in_ms", "time_there", "clock", "category", "decimal"):
                assert memory[name].type == values.type


def test_only_the_confidence_is_rounded(folder):
    run("2.parquet", "--keep", "f2,f8,clock", "--confidence", "-o", "labels.csv")
    rows = Path("labels.csv").read_text().splitlines()
    assert rows[1] == "t,0,1.0,0.5,1e-09,00:00:00.000000001"
    assert rows[2] == "u,0,1.0,1.1920928955078125e-07,0.3333333333333333,00:00:00.000002"
    assert rows[4] == ",1,1.0,,,"


@pytest.mark.parametrize("output", ["labels.orc", "labels.arrow", "labels.jsonl", "labels.npz"])
def test_other_formats_take_them_all(folder, output):
    run("1.parquet", "2.parquet", "--keep", ",".join(columns(last=True)), "-o", output)
    if output.endswith("jsonl"):
        assert '"f2": 0.5, ' in Path(output).read_text()


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (pa.array([1, 2, 3, 4]), pa.array([5, None, 6, 7]), pa.int64()),
        (pa.array([1, 2, 3, 4], pa.uint8()), pa.array([5, None, 6, -7]), pa.int64()),
        (
            pa.array([0, 1, 2, 3], pa.date32()),
            pa.array([9, 8, 7, 6], pa.timestamp("us")),
            pa.timestamp("us"),
        ),
        (pa.array([1, 2, 3, 4]), pa.array(["x", None, "y", "z"]), pa.string()),
    ],
)
def test_ids_of_two_files_have_one_type(folder, engine, one, other, common):
    save("1.parquet", id=one)
    save("2.parquet", id=other)
    run("1.parquet", "2.parquet", "--engine", engine, "-o", "labels.parquet")
    ids = pq.read_table("labels.parquet")["id"]
    assert ids.type == common
    if common == pa.string():
        assert ids.to_pylist() == ["1", "2", "3", "4", "x", None, "y", "z"]
    else:
        assert ids.equals(pa.chunked_array([one.cast(common), other.cast(common)]))


class TestTimesOfTwoUnits:
    @pytest.fixture
    def files(self, folder):
        days = [dt.datetime(9999, 12, 31), *(dt.datetime(2020, 1, day) for day in (1, 2, 3))]
        save("1.parquet", id=pa.array(days, pa.timestamp("us")))
        save("2.parquet", id=pa.array([1, 2, 3, 4], pa.timestamp("ns")))
        return ["1.parquet", "2.parquet"]

    @pytest.mark.parametrize("order", [1, -1])
    def test_that_no_unit_holds_are_refused(self, files, order):
        expected = r"1.parquet, column 'id' holds times that 64 bits do not hold in the unit ns"
        with pytest.raises(FileFormatError, match=expected):
            tables.read(files[::order])
        for engine in ("memory", "stream"):
            call = ["consensus", *files[::order], "-k", "2", "-o", "l.csv", "--engine", engine]
            result = CliRunner().invoke(app, call)
            assert result.exit_code == 1
            assert "in the unit ns" in result.stderr

    def test_of_features_and_long_tables_too(self, files):
        with pytest.raises(FileFormatError, match="in the unit ns"):
            tables.read_features(files, id_column="id")
        for place, file in enumerate(files):
            ids = pq.read_table(file)["id"]
            labels = {"object": ids, "member": ["m"] * 4, "label": [0, 0, 1, 1]}
            pq.write_table(pa.table(labels), f"long{place}.parquet")
        with pytest.raises(FileFormatError, match="in the unit ns"):
            tables.read(["long0.parquet", "long1.parquet"], layout="long")


def test_times_of_a_day_are_ids_to_the_nanosecond(folder):
    save("1.parquet", id=pa.array([1, 2, 1_000, 1_000_000_000], pa.time64("ns")))
    expected = ["00:00:00.000000001", "00:00:00.000000002", "00:00:00.000001", "00:00:01"]
    assert tables.read("1.parquet").ids.tolist() == expected
