"""Cases that tell a stream from one with a small mistake (tools/hand_mutants.toml)."""

import datetime
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scale_helpers import in_memory, labels_of, make_votes, table_of

import ensemblage as en
from ensemblage import tables
from ensemblage.scale import _output, stream
from ensemblage.scale._checkpoint import file_facts, format_estimator
from ensemblage.scale._index import add_votes, empty_index, numbers_of, votes_of
from ensemblage.scale._partitions import PartitionSource, _carried
from ensemblage.scale._work import opened
from ensemblage.tables.source import JUDGED_ROWS

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_votes_that_become_other_known_votes_are_noticed(tmp_path, monkeypatch):
    """No row is new, so that only the file itself shows it."""
    path = tmp_path / "v.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n" * 300)
    real = stream.Threads.second_pass

    def second_pass(self, *arguments):
        path.write_text("a,b\n" + "1,0\n0,1\n" * 300)
        return real(self, *arguments)

    monkeypatch.setattr(stream.Threads, "second_pass", second_pass)
    with pytest.raises(tables.FileFormatError, match="has changed while it was read"):
        stream.consensus(path, en.EAC(2), tmp_path / "l.csv", n_jobs=1)
    assert not (tmp_path / "l.csv").exists()


def test_votes_that_look_transposed(tmp_path):
    tables.write(tmp_path / "v.parquet", {f"o{i}": np.array([0, i % 3, 1]) for i in range(60)})
    with pytest.warns(en.TransposedVotesWarning, match=r"3 rows and 60 columns.* write the file"):
        stream.consensus(tmp_path / "v.parquet", en.EAC(2), tmp_path / "l.csv", n_jobs=1)


def test_a_header_alone_may_be_the_only_row(tmp_path):
    (tmp_path / "v.csv").write_text("x,y\n")
    with pytest.raises(tables.FileFormatError, match="a header and no rows"):
        stream.consensus(tmp_path / "v.csv", en.EAC(2), tmp_path / "l.csv", n_jobs=1)


def test_rows_that_the_index_does_not_know_are_refused(tmp_path):
    (tmp_path / "one.csv").write_text("a,b\n0,1\n1,0\n0,0\n")
    (tmp_path / "other.csv").write_text("a,b\n0,1\n1,1\n0,0\n")
    one, other = (
        tables.scan(tmp_path / f"{name}.csv", id_column=None)[0] for name in ("one", "other")
    )
    index = empty_index(one)
    (batch,) = one.batches()
    add_votes(index, votes_of(one, batch, index), one, batch, 1)
    (batch,) = other.batches()
    with pytest.raises(tables.FileFormatError, match="has changed"):
        numbers_of(other, batch, index)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_are_numbered_through_files_of_different_lengths(suffix, tmp_path):
    votes = make_votes(100)
    paths = []
    for name, part in zip("abc", np.split(votes, [50, 57]), strict=True):
        paths.append(tmp_path / f"{name}.parquet")
        pq.write_table(table_of(part), paths[-1])
    output = tmp_path / f"l.{suffix}"
    stream.consensus(paths, en.EAC(3), output, n_jobs=1)
    rows = (
        pq.read_table(output)["row"].to_pylist()
        if suffix == "parquet"
        else [int(line.split(",")[0]) for line in output.read_text().splitlines()[1:]]
    )
    assert rows == list(range(100))


def test_batches_longer_than_a_row_group_are_written_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(_output, "_ROWS_OF_GROUP", 7)
    votes = make_votes(100)
    pq.write_table(table_of(votes), tmp_path / "v.parquet")
    stream.consensus(tmp_path / "v.parquet", en.EAC(3), tmp_path / "l.parquet", n_jobs=1)
    expected = in_memory(votes, en.EAC(3)).labels_
    np.testing.assert_array_equal(labels_of(tmp_path / "l.parquet"), expected)
    groups = pq.ParquetFile(tmp_path / "l.parquet").metadata
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [7] * 14 + [2]


def test_clusters_are_numbered_by_objects_not_by_kinds_of_them(tmp_path):
    """The cluster with more microclusters has fewer objects."""
    rows = ["0,0,0,0"] * 2 + ["0,0,0,1"] * 2 + ["0,0,2,0"] * 2 + ["1,1,1,5"] * 30
    (tmp_path / "v.csv").write_text("\n".join(["a,b,c,d", *rows]))
    for options, column in (({}, "label"), ({"cuts": [2]}, "k2")):
        stream.consensus(
            tmp_path / "v.csv", en.EAC(2), tmp_path / "l.parquet", by_size=True, **options
        )
        assert labels_of(tmp_path / "l.parquet", column).tolist() == [1] * 6 + [0] * 30


def test_cuts_are_written_once_and_in_order(tmp_path):
    pq.write_table(table_of(make_votes(60)), tmp_path / "v.parquet")
    stream.consensus(tmp_path / "v.parquet", en.EAC(2), tmp_path / "l.parquet", cuts=[4, 2, 4, 3])
    assert pq.read_table(tmp_path / "l.parquet").column_names == ["row", "k2", "k3", "k4"]


def test_what_labels_depend_on_tells_runs_apart():
    one = format_estimator(en.PTGP(3, random_state=0, n_jobs=1))
    assert one == format_estimator(en.PTGP(3, random_state=0, n_jobs=2))
    for other in (en.PTGP(3, random_state=1), en.PTGP(4, random_state=0), en.PTA(3)):
        assert one != format_estimator(other.set_params(n_jobs=1))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("again", [100, JUDGED_ROWS - 1, JUDGED_ROWS, JUDGED_ROWS + 50])
def test_memory_and_stream_judge_ids_by_the_same_rows(suffix, again, tmp_path):
    """A repeated id is an error, in the rows judged and beyond them."""
    n = JUDGED_ROWS + 100
    ids = np.array([f"c{i}" for i in range(n)], dtype=object)
    ids[again] = ids[3]
    path = tmp_path / f"v.{suffix}"
    tables.write(path, {"cell": ids, "a": np.arange(n) % 3, "b": np.arange(n) % 2})
    output = tmp_path / "l.parquet"

    def in_a_stream():
        stream.consensus(path, en.EAC(2), output, id_column="auto", n_jobs=1)

    above = int(suffix == "csv")  # its header is a row
    words = rf"'c3' is in rows {4 + above} and {again + 1 + above}"
    for read in (lambda: tables.read(path), in_a_stream):
        with pytest.raises(tables.FileFormatError, match=words):
            read()
    assert not output.exists()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_ids_are_judged_by_the_documented_number_of_rows(suffix, tmp_path):
    """Of fewer rows and of more rows, more than 95 % would differ."""
    cells = np.array([f"c{i}" for i in range(40_000)], dtype=object)
    cells[15_000:16_384] = "c0"
    votes = np.arange(40_000) % 3
    tables.write(tmp_path / f"v.{suffix}", {"cell": cells, "a": votes, "b": votes})
    (source,) = tables.scan(tmp_path / f"v.{suffix}", id_column="auto")
    assert source.names == ["cell", "a", "b"]


def test_ids_are_judged_whatever_the_batches_of_a_file(tmp_path):
    """The first batch shows three clusters of one object each."""
    row = np.arange(60)
    votes = pa.table({"leiden": row % 3, "louvain": row // 30, "kmeans": row // 20})
    pq.write_table(votes, tmp_path / "v.parquet", row_group_size=3)
    with pa.ipc.new_file(str(tmp_path / "v.arrow"), votes.schema) as file:
        file.write_table(votes, max_chunksize=3)
    for name in ("v.parquet", "v.arrow"):
        (source,) = tables.scan(tmp_path / name, id_column="auto")
        assert (source.id_name, len(source.names)) == (None, 3)


def test_row_groups_of_long_ids_have_fewer_rows(monkeypatch):
    monkeypatch.setattr(_output, "_BYTES_OF_GROUP", 100)
    batches = [pa.record_batch({"label": np.zeros(5, np.int64)})] * 7  # 40 bytes each
    assert [len(group) for group in _output._groups(iter(batches))] == [3, 3, 1]


def test_a_file_is_known_under_all_of_its_names(tmp_path):
    (tmp_path / "v.csv").write_text("a,b\n0,1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "v.csv")
    one, other = (file_facts(str(tmp_path / name)) for name in ("v.csv", "link.csv"))
    assert one == other


def test_objects_of_a_partition_are_texts_of_one_spelling():
    """The types of other partitions are not known."""
    pd = pytest.importorskip("pandas")
    source = PartitionSource(0, ["a"], "id", None, {"id": pd.Int64Dtype(), "x": np.dtype("O")})
    assert (source._type("id"), source._type("x")) == (pa.int64(), pa.string())
    time = datetime.datetime(2020, 1, 1, 3)
    for values, texts in (([1, 2], ["1", "2"]), ([time, None], ["2020-01-01T03:00:00", None])):
        assert _carried(pd.Series(values, dtype=object)).equals(pa.array(texts))


@pytest.mark.parametrize("kept", [False, True])
def test_folders_of_a_run_that_failed_are_removed_unless_work_is_in_them(kept, tmp_path):
    def failing():
        if kept:
            (tmp_path / "a" / "b" / "l.csv").touch()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), _output.new_folder(tmp_path / "a" / "b"):
        failing()
    assert (tmp_path / "a").exists() == kept


def test_labels_of_a_packed_file_have_one_suffix(tmp_path):
    for name, file in (("v.csv.gz", "v.csv"), ("v.csv", "v.csv"), ("v.arrow", "v.parquet")):
        (tmp_path / name).touch()
        assert _output.label_file("out", str(tmp_path / name), None)[0] == Path("out", file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_no_output_of_a_stream(tmp_path):
    os.mkfifo(tmp_path / "l.csv")
    with pytest.raises(tables.FileFormatError, match=r"not to .*l\.csv"):
        _output.targets_of(str(tmp_path / "l.csv"), [], None, each=False)


@pytest.mark.parametrize(
    ("output", "parts"),
    [
        ("out/", "out.parts"),
        (".", "../here.parts"),
        ("./", "../here.parts"),
        ("..", "../../up.parts"),
    ],
)
def test_finished_work_is_beside_the_output(tmp_path, monkeypatch, output, parts):
    here = tmp_path / "up" / "here"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    assert stream.parts_folder(output).resolve() == (here / parts).resolve()


def test_the_root_has_no_folder_beside_it():
    with pytest.raises(ValueError, match="must be a folder with a name, got /"):
        stream.parts_folder("/")


def test_labels_into_this_folder(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "v.csv").write_text("a,b\n" + "0,1\n1,0\n" * 30)
    monkeypatch.chdir(tmp_path / "out")
    stream.consensus([tmp_path / "v.csv"], en.PTA(2), ".")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["v.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "v.csv"]


def test_votes_whose_columns_hold_names_are_others(tmp_path):
    """So that a model does not resume the work of another one, which read them as numbers."""
    (tmp_path / "v.csv").write_text("a,b\n" + "0,1\n1,01\n" * 9)
    options = {"format": None, "columns": None, "id_column": None, "truth": None, "keep": ()}
    options |= {"header": "auto", "batch_rows": 100}

    def known(hold_names):
        estimator = SimpleNamespace(hold_names=hold_names)
        return opened(tmp_path / "v.csv", estimator, **options)[1]

    assert known(lambda _: {"b"}) == known(lambda names: {names[1]})
    assert known(lambda _: {"b"}) != known(lambda _: set())
    assert known(lambda _: {"b"}) != known(None)
