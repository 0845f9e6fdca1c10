"""Cases that tell the tables from tables with a small mistake (tools/hand_mutants.toml)."""

import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from ensemblage import tables
from ensemblage.tables import cells, locks
from ensemblage.tables.columns import Codes, cast_to, common_type

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def csv(tmp_path, text):
    (tmp_path / "v.csv").write_text(text, encoding="utf-8")
    return tmp_path / "v.csv"


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "nan", "-1", "-1.0", " NA "])
@pytest.mark.parametrize("others", [("0", "1", "2"), ("x", "y", "z")])
def test_cells_that_mean_no_vote(cell, others, tmp_path):
    rows = [f"{label},{place % 2}" for place, label in enumerate([*others, cell])]
    found = tables.votes_of(tables.read(csv(tmp_path, "\n".join(["a,b", *rows])), id_column="none"))
    column = found[:, 0] if isinstance(found, np.ndarray) else found.arrays[0]
    assert list(column[:3]) == ([0, 1, 2] if others[0] == "0" else list(others))
    assert column[3] in (-1, None)


@pytest.mark.parametrize("number", [2.0**54, 1e300])
def test_floats_that_do_not_tell_neighbours_apart_are_refused(number, tmp_path):
    pq.write_table(pa.table({"a": [number, 1.0], "b": [0, 1]}), tmp_path / "v.parquet")
    with pytest.raises(tables.FileFormatError, match="save these as integers"):
        tables.read(tmp_path / "v.parquet")
    with pytest.raises(tables.FileFormatError, match="too large for a label"):
        tables.read(csv(tmp_path, f"a,b\n{number:e},0\n1,1\n2,1\n"))


@pytest.mark.parametrize(
    ("cell", "limit"),
    [
        ("9007199254740993e0", "stay below 9007199254740992"),
        ("1" + "0" * 19, "9223372036854775807"),
    ],
)
def test_the_limit_that_a_message_names_is_the_one_that_applies(cell, limit, tmp_path):
    with pytest.raises(tables.FileFormatError, match=f"too large for a label: .*{limit}"):
        tables.read(csv(tmp_path, f"a,b\n{cell},0\n1,1\n1,1\n2,1\n"))


def test_large_numbers_beside_gaps_are_refused_with_the_reason(tmp_path):
    column = pa.array([2**63 + 1, None, 3], pa.uint64())
    pq.write_table(pa.table({"a": column, "b": [0, 1, 1]}), tmp_path / "v.parquet")
    with pytest.raises(tables.FileFormatError, match="no 64-bit integer type holds both"):
        tables.read(tmp_path / "v.parquet", id_column=None)


def test_ids_of_unsigned_and_signed_files_have_one_type():
    wide = [pa.uint64(), pa.int64()]
    assert common_type(wide) == common_type(wide[::-1]) == pa.string()
    assert common_type([pa.int8(), pa.uint32()]) == pa.int64()
    assert common_type([pa.uint8(), pa.uint64()]) == pa.uint64()


def test_codes_of_numbers_that_62_bits_do_not_hold():
    codes = Codes("a")
    values = np.array([2**61, -(2**61) - 1, -(2**61), 2**61 - 1, -1, 2**61], dtype=np.int64)
    found = codes.of_integers(values)
    assert found[2:5].tolist() == values[2:5].tolist()
    assert (found[:2] >= 2**61).all()
    assert found[0] == found[5] != found[1]
    codes.check_kind(found, "numbers", "v.csv")
    assert codes.meaning(found) == values.tolist()


def test_two_rows_of_features_have_no_ids(tmp_path):
    two = tables.read_features(csv(tmp_path, "1,5.5\n2,6.5\n"))
    assert len(two.columns) == 2
    three = tables.read_features(csv(tmp_path, "1,5.5\n2,6.5\n3,1.5\n"))
    assert len(three.columns) == 1


def test_columns_set_apart_are_not_matched_by_a_pattern(tmp_path):
    path = csv(tmp_path, "m_id,m_a,m_b,m_class\nx,0,1,0\ny,1,0,1\nz,1,1,1\n")
    (source,) = tables.scan(path, columns=["m_*"], id_column="m_id", truth="m_class")
    assert source.names == ["m_a", "m_b"]
    (source,) = tables.scan(path, columns=["m_*"], id_column="m_id", keep=["m_a"], truth="m_class")
    assert source.names == ["m_b"]


def test_rows_at_the_borders_of_written_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "_CELLS_AT_ONCE", 8)
    tables.write(tmp_path / "l.csv", {"id": np.arange(10), "label": np.arange(10) % 3})
    lines = (tmp_path / "l.csv").read_text().splitlines()
    assert lines == ["id,label", *(f"{i},{i % 3}" for i in range(10))]


def test_missing_votes_of_a_pool_stay_missing(tmp_path):
    votes = np.array([[0, 1], [-1, 0], [1, -1]])
    ids = tables.NamedColumn("id", np.arange(3))
    for name in ("pool.mat", "pool.npz", "pool.csv"):
        tables.write_pool(tmp_path / name, votes, ["a", "b"], ids=ids)
        found = tables.read(tmp_path / name).matrix
        assert (found == -1).tolist() == (votes == -1).tolist(), name
        assert len(set(found[:, 0].tolist())) == 3


def test_a_repeated_object_is_refused_also_where_all_files_repeat_it(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text("id,label\nx,0\nx,1\ny,0\nz,1\n")
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    with pytest.raises(tables.FileFormatError, match="several labels for the object 'x'"):
        tables.read(paths, layout="members", id_column="id")


def test_a_lock_has_one_holder(tmp_path):
    held = tables.lock(tmp_path / "parts" / ".lock")
    assert tables.lock(tmp_path / "parts" / ".lock") is None
    held.close()
    again = tables.lock(tmp_path / "parts" / ".lock")
    assert again is not None
    again.close()


def test_a_file_that_another_run_has_removed_is_made_again(tmp_path, monkeypatch):
    take, taken = locks._take, []

    def late(file):
        taken.append(Path(file.name))
        if len(taken) == 1:
            taken[0].unlink()
        return take(file)

    monkeypatch.setattr(locks, "_take", late)
    file = locks.locked_file(tmp_path, ".ensemblage-")
    assert (len(taken), list(tmp_path.iterdir())) == (2, taken[1:])
    file.close()


def test_a_lock_on_a_removed_file_does_not_count(tmp_path, monkeypatch):
    take, path = locks._take, tmp_path / "parts" / ".lock"

    def late(file):
        monkeypatch.undo()
        path.unlink()
        return take(file)

    monkeypatch.setattr(locks, "_take", late)
    held = tables.lock(path)
    assert tables.lock(path) is None
    held.close()


def test_without_locks_files_are_stale_after_a_day(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_take", lambda _: None)
    with tables.finished(tmp_path / "part") as file:
        tables.remove_stale(tmp_path, tables.UNFINISHED)
        assert Path(file.name).exists()
        os.utime(file.name, (0, 0))
        tables.remove_stale(tmp_path, tables.UNFINISHED)
        assert not Path(file.name).exists()
        Path(file.name).touch()


@pytest.mark.parametrize("name", ["v.parquet", "v.arrow", "v.orc", "v.csv"])
def test_batches_begin_where_the_last_one_ended(name, tmp_path):
    tables.write(tmp_path / name, {"a": np.arange(40) % 3, "b": np.arange(40) % 2})
    (source,) = tables.scan([str(tmp_path / name)], batch_rows=7)
    rows = [(batch.first, batch.n_rows) for batch in source.batches()]
    assert [first for first, _ in rows] == [0, *np.cumsum([n for _, n in rows])[:-1]]
    assert len(rows) > 1 or name == "v.csv"


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_numbers_with_a_fraction_are_no_ids(suffix, tmp_path):
    columns = {"cell": np.arange(60) + 0.5, "a": np.arange(60) % 3, "b": np.arange(60) % 2}
    tables.write(tmp_path / f"v.{suffix}", columns)
    with pytest.raises(tables.FileFormatError, match=r"0\.5 is not a cluster label"):
        tables.read(tmp_path / f"v.{suffix}")


def test_times_of_several_files_are_as_fine_as_the_finest():
    for units, finest in (("s us ms", "us"), ("ns s", "ns"), ("ms s", "ms")):
        kinds = [pa.timestamp(unit) for unit in units.split()]
        assert common_type([*kinds, pa.date32()]) == pa.timestamp(finest)
        for kind in (*kinds, pa.date32()):
            column = cast_to(pa.timestamp(finest), pa.array([0, None], kind), "x")
            assert column.equals(pa.array([0, None], pa.timestamp(finest)))


def test_what_was_not_finished_is_removed(tmp_path):
    with pytest.raises(ZeroDivisionError), tables.finished(tmp_path / "part"):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


def test_standard_input_and_output_are_two(monkeypatch):
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(sys, name, io.StringIO())
    assert tables.identity("-") == tables.identity("-")
    assert tables.identity("-") != tables.identity("-", read=True)


def test_a_path_with_nul_is_told(tmp_path):
    for read in (tables.read, tables.read_labels, tables.scan):
        with pytest.raises(OSError, match="it has a NUL character in it"):
            read(f"{tmp_path}/v\0.csv")


def test_true_is_no_number_of_decimals(tmp_path):
    with pytest.raises(ValueError, match="its decimals be a whole number"):
        tables.write(tmp_path / "v.csv", {"a": np.ones(2)}, decimals={"a": True})


def test_a_column_that_is_kept_twice_is_kept_once(tmp_path):
    path = csv(tmp_path, "a,b,c\n0,0,x\n1,1,y\n0,1,z\n")
    (source,) = tables.scan(path, id_column=None, keep=["c", "c"])
    assert source.kept == ["c"]
