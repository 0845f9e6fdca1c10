"""Ids that were detected must differ in all rows of a file, in memory, in a stream and on Dask."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scale_helpers import Stop, stop_after

import ensemblage as en
from ensemblage import tables
from ensemblage.flow.text_keys import text_keys
from ensemblage.scale import _ids, stream
from ensemblage.scale import dask as on_dask
from ensemblage.tables import FileFormatError, ids
from ensemblage.tables.source import JUDGED_ROWS

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pytest.importorskip("dask.distributed")

N = JUDGED_ROWS + 100  # the last rows are beyond those that are judged at first
TEXTS = [f"cell-{7919 * i % N}" for i in range(N)]  # in no order
KINDS = {
    "texts": TEXTS,
    "numbers": [7919 * i % N for i in range(N)],
    "sorted": list(range(N)),
    "times": (np.datetime64("2020-01-01", "s") + np.arange(N)).tolist(),
    "days": (np.datetime64("2020-01-01") + np.arange(N)).tolist(),
    "gaps": [None if i % 5 == 2 else text for i, text in enumerate(TEXTS)],
}


def write(path, values, **repeats):
    """Write votes beside ids, of which `repeats` name rows and the rows they are copied from."""
    values = list(values)
    for row, source in repeats.items():
        values[int(row.removeprefix("row"))] = values[source]
    votes = np.arange(len(values)) % 3
    tables.write(path, {"id": np.array(values, dtype=object), "a": votes, "b": votes})
    return path


@pytest.fixture(params=["memory", "stream", "dask"])
def read(request, tmp_path):
    """Find a consensus of files by each engine; return the ids of its output."""

    def run(files, **options):
        output = tmp_path / "labels.parquet"
        if request.param == "memory":
            return tables.read(files, **options).ids.tolist()
        options = {"id_column": "auto", **options}
        if request.param == "stream":
            stream.consensus(files, en.EAC(3), output, **options)
        else:
            client = request.getfixturevalue("client")
            on_dask.consensus(files, en.EAC(3), output=output, client=client, **options)
        return pa.parquet.read_table(output)["id"].to_pylist()

    return run


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_repetition_in_the_last_rows_is_an_error(kind, suffix, read, tmp_path):
    path = write(tmp_path / f"votes.{suffix}", KINDS[kind], **{f"row{N - 3}": 4, f"row{N - 2}": 9})
    above = int(suffix == "csv")  # its header is a row
    words = rf"is in rows {5 + above} and {N - 2 + above}\. Correct it"
    with pytest.raises(FileFormatError, match=words) as error:
        read([path])
    assert error.value.__cause__ is None
    assert [file.name for file in tmp_path.iterdir()] == [path.name]  # nothing is left
    found = read([path], id_column="id")
    assert len(found) == N
    assert found[N - 3] == found[4]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_repetition_in_a_small_table_is_an_error(suffix, read, tmp_path):
    path, above = tmp_path / f"votes.{suffix}", int(suffix == "csv")
    votes = np.arange(8) % 2
    names = np.array([f"c{i}" for i in (0, 1, 2, 3, 4, 5, 1, 7)], dtype=object)
    tables.write(path, {"cell": names, "a": votes, "b": votes})
    with pytest.raises(FileFormatError, match=rf"'c1' is in rows {2 + above} and {7 + above}"):
        read([path])
    tables.write(path, {"sample": np.array(["s1", "s1", "s2", "s3"]), "a": votes[:4]})
    assert tables.read(path).names == ["sample", "a"]  # a batch, or a clustering


@pytest.mark.parametrize("kind", KINDS)
def test_ids_that_differ_are_accepted(kind, read, tmp_path):
    assert len(read([write(tmp_path / "votes.csv", KINDS[kind])])) == N


def test_each_file_is_judged_alone(read, tmp_path):
    """Files of one experiment often number their rows from 0."""
    first, second = (write(tmp_path / f"{name}.csv", TEXTS[:50]) for name in "ab")
    assert read([first, second]) == TEXTS[:50] * 2
    write(second, TEXTS[:50], row40=30)
    with pytest.raises(FileFormatError, match=rf"of {second} .*is in rows 32 and 42"):
        read([first, second])


def test_the_last_rows_of_a_second_file_are_compared(read, tmp_path):
    first, second = (write(tmp_path / f"{name}.csv", TEXTS) for name in "ab")
    assert len(read([first, second])) == 2 * N
    write(second, TEXTS, **{f"row{N - 3}": 4})
    with pytest.raises(FileFormatError, match=rf"of {second} .*is in rows 6 and {N - 1}"):
        read([first, second])


@pytest.mark.parametrize("few", [0, N])
def test_ids_in_memory_are_compared_by_keys_or_one_by_one(few, tmp_path, monkeypatch):
    monkeypatch.setattr(ids, "_FEW", few)
    path = tmp_path / "votes.parquet"
    assert len(tables.read(write(path, TEXTS)).ids) == N
    with pytest.raises(FileFormatError, match=rf"'cell-0' is in rows 1 and {N}\."):
        tables.read(write(path, TEXTS, **{f"row{N - 1}": 0}))


def test_equal_keys_of_different_ids_are_no_repetition(tmp_path, monkeypatch):
    path = write(tmp_path / "votes.csv", TEXTS)
    for module in (ids, _ids):
        monkeypatch.setattr(module, "id_keys", lambda column: np.zeros(len(column), np.uint64))
    assert len(tables.read(path).ids) == N
    stream.consensus(path, en.EAC(3), tmp_path / "labels.csv", id_column="auto", batch_rows=500)


@pytest.mark.parametrize("in_file", [1000, N])
def test_a_resumed_run_compares_ids_with_those_read_before(in_file, tmp_path, monkeypatch):
    monkeypatch.setattr("ensemblage.scale._passes.PIECE_ROWS", 4000)
    monkeypatch.setattr(_ids, "_IN_FILE", in_file)
    path = write(tmp_path / "votes.csv", TEXTS, **{f"row{N - 1}": 10})
    run = {"id_column": "auto", "batch_rows": 700, "n_jobs": 1}
    with monkeypatch.context() as patch:
        stop_after(patch, "write_index", 3)
        with pytest.raises(Stop):
            stream.consensus(path, en.EAC(3), tmp_path / "labels.csv", **run)
    assert list((tmp_path / "labels.csv.parts").glob("ids-*"))
    with pytest.raises(FileFormatError, match=rf"is in rows 12 and {N + 1}"):
        stream.consensus(path, en.EAC(3), tmp_path / "labels.csv", **{**run, "batch_rows": 900})


def test_keys_of_rows_that_are_read_again_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr("ensemblage.scale._passes.PIECE_ROWS", 4000)
    monkeypatch.setattr(_ids, "_IN_FILE", 1000)
    path, real, found = write(tmp_path / "votes.csv", TEXTS), _ids._repeated_keys, []

    def repeated_keys(files):
        found.append(real(files))
        return found[-1]

    monkeypatch.setattr(_ids, "_repeated_keys", repeated_keys)
    for method, n, rows in (("write_index", 2, 700), ("write_labels", 1, 900)):
        with monkeypatch.context() as patch:
            stop_after(patch, method, n)
            with pytest.raises(Stop):
                stream.consensus(
                    path, en.EAC(3), tmp_path / "l.csv", id_column="auto", batch_rows=rows, n_jobs=1
                )
        kept = list((tmp_path / "l.csv.parts").glob("ids-*"))
        assert bool(kept) == (method == "write_index")  # none are left once they are compared
    assert [len(keys) for keys in found] == [0]


@pytest.mark.parametrize(
    ("damaged", "words"),
    [(True, "cannot be read .it is damaged"), (False, "differs in whether ids may repeat")],
)
def test_keys_belong_to_a_run_that_compares_ids(damaged, words, tmp_path, monkeypatch):
    monkeypatch.setattr("ensemblage.scale._passes.PIECE_ROWS", 4000)
    path = write(tmp_path / "votes.csv", TEXTS)
    run = {"id_column": "auto", "batch_rows": 700, "n_jobs": 1}
    with monkeypatch.context() as patch:
        stop_after(patch, "write_index", 3)
        with pytest.raises(Stop):
            stream.consensus(path, en.EAC(3), tmp_path / "labels.csv", **run)
    if damaged:
        keys = next((tmp_path / "labels.csv.parts").glob("ids-*"))
        keys.write_bytes(keys.read_bytes()[:-8])
    else:
        run["id_column"] = "id"
    with pytest.raises(ValueError, match=words):
        stream.consensus(path, en.EAC(3), tmp_path / "labels.csv", **run)


def test_columns_that_turn_out_to_hold_names_are_read_again(read, tmp_path):
    """The keys of the first attempt are not counted twice, and those of the second are compared."""
    votes = ["1", "2"] * (N // 2)
    votes[N // 2 :] = ["x", "y"] * (N // 4)
    rows = [f"{text},{vote},{vote}" for text, vote in zip(TEXTS, votes, strict=False)]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(["id,a,b", *rows, *(f"more-{i},x,y" for i in range(N))]) + "\n")
    assert len(read([path])) == 2 * N
    path.write_text(path.read_text() + "more-9,x,y\n")
    with pytest.raises(FileFormatError, match=rf"'more-9' is in rows {N + 11} and {2 * N + 2}"):
        read([path])


@given(
    files=st.lists(st.lists(st.integers(0, 60)), max_size=5),
    at_once=st.sampled_from([2, 8, 64]),
    step=st.sampled_from([1, 2]),
)
def test_repeated_keys_are_those_that_counting_finds(files, at_once, step):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ids, "_AT_ONCE", at_once)
        patch.setattr(_ids, "_STEP", step)
        found = _ids._repeated_keys([np.sort(np.array(f, np.uint64)) for f in files if f])
    every = [key for file in files for key in file]
    assert found.tolist() == sorted({key for key in every if every.count(key) > 1})


def slow_key(text):
    """Return FNV-1a for 64 bits, as it is published."""
    key = 0xCBF29CE484222325
    for byte in text.encode():
        key = (key ^ byte) * 0x100000001B3 % 2**64
    return key


@pytest.mark.parametrize("kind", ["string", "large_string"])
@given(texts=st.lists(st.text(max_size=8), max_size=12), start=st.integers(0, 3))
def test_keys_of_texts_are_their_hashes(kind, texts, start):
    column = pa.array(texts, kind)[start:]
    assert ids.id_keys(column).tolist() == [slow_key(text) for text in texts[start:]]
    assert text_keys(np.zeros(1, np.int64), np.zeros(0, np.uint8)).tolist() == []


@pytest.mark.parametrize("engine", [tables.read, "stream"])
@pytest.mark.parametrize("missing", ["", "NA", "nan"])
def test_missing_ids_of_text_files_may_repeat(tmp_path, engine, missing):
    """R writes missing ids as NA."""
    rows = [
        f"{missing if row in (3, 5, N - 1) else text},{row % 3}" for row, text in enumerate(TEXTS)
    ]
    (tmp_path / "v.csv").write_text("\n".join(["id,a", *rows]))
    if engine == "stream":
        options = {"id_column": "auto", "n_jobs": 1}
        stream.consensus(tmp_path / "v.csv", en.EAC(2), tmp_path / "l.csv", **options)
        written = (tmp_path / "l.csv").read_text().splitlines()[4]
    else:
        written = engine(tmp_path / "v.csv").ids[3]
    assert written.split(",")[0] == missing
