"""Parquet, NPY, NPZ and MAT: the same table from each, and what is refused."""

import gzip
import io
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from ensemblage import tables
from ensemblage.tables import FileFormatError, read_labels

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

VOTES = np.array([[1, 1], [1, 2], [2, -1]])


@pytest.fixture
def arrow(tmp_path):
    def read(columns, **options):
        pq.write_table(pa.table(columns), tmp_path / "votes.parquet")
        return tables.read(tmp_path / "votes.parquet", **options)

    return read


class TestParquet:
    def test_integers_with_nulls(self, arrow):
        table = arrow({"m1": [1, 1, 2], "m2": [1, 2, None]})
        assert table.matrix.dtype == np.int8
        np.testing.assert_array_equal(table.matrix, VOTES)

    def test_floats_booleans_names_and_dictionaries(self, arrow):
        table = arrow(
            {
                "whole": [1.0, float("nan"), 2.0],
                "yes": [True, False, None],
                "name": ["a", None, "a"],
                "coded": pa.array(["x", "y", None]).dictionary_encode(),
                "none": pa.nulls(3),
            }
        )
        assert [column.tolist() for column in table.columns] == [
            [1, -1, 2],
            [1, 0, -1],
            ["a", None, "a"],
            ["x", "y", None],
            [-1, -1, -1],
        ]

    def test_many_chunks_of_names(self, tmp_path):
        values = ["a", "b", None, "c", "a", "b"]
        pq.write_table(pa.table({"m": values}), tmp_path / "v.parquet", row_group_size=2)
        assert tables.read(tmp_path / "v.parquet").columns[0].tolist() == values

    def test_rows_that_pandas_numbers_otherwise(self, tmp_path):
        frame = pd.DataFrame({"a": [0, 1] * 6, "b": [0, 0, 1] * 4})
        for i in range(3):
            frame[4 * i : 4 * i + 4].to_parquet(tmp_path / f"{i}.parquet")
        with pytest.warns(UserWarning, match=r"1.parquet in pandas numbers its rows from 4 by 1"):
            assert tables.read(tmp_path / "1.parquet").ids is None
        frame[::2].to_parquet(tmp_path / "even.parquet")
        with pytest.warns(UserWarning, match=r"from 0 by 2.* counted from 0.*index=True"):
            tables.scan(tmp_path / "even.parquet")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tables.read(tmp_path / "1.parquet", id_column=None)
            tables.read([tmp_path / f"{i}.parquet" for i in range(3)])
            frame[:4].to_parquet(tmp_path / "again.parquet")
            tables.read([tmp_path / "0.parquet", tmp_path / "again.parquet"])
            frame[::2].to_parquet(tmp_path / "even.parquet", index=True)
            assert tables.read(tmp_path / "even.parquet").ids.tolist() == [0, 2, 4, 6, 8, 10]

    def test_ids_by_name_by_content_and_by_pandas(self, arrow, tmp_path):
        assert arrow({"id": ["a", "b"], "m": [1, 1]}).ids.tolist() == ["a", "b"]
        assert arrow({"who": [7, 8, 9], "m": [1, 1, 2]}).id_name == "who"
        assert arrow({"who": [7, 8, 9], "m": [1, 1, 2]}, id_column=None).ids is None
        frame = pd.DataFrame({"m1": [1, 1], "m2": [1, 2]}, index=pd.Index(["a", "b"], name="gene"))
        frame.to_parquet(tmp_path / "pandas.parquet")
        table = tables.read(tmp_path / "pandas.parquet")
        assert (table.id_name, table.names) == ("gene", ["m1", "m2"])
        frame.reset_index(drop=True).to_parquet(tmp_path / "plain.parquet")
        assert tables.read(tmp_path / "plain.parquet").ids is None

    def test_standard_input_without_being_told(self, monkeypatch):
        buffer = io.BytesIO()
        pq.write_table(pa.table({"m1": [1, 1], "m2": [1, 2]}), buffer)
        stream = io.BytesIO(buffer.getvalue())
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
        assert tables.read("-").matrix.tolist() == [[1, 1], [1, 2]]

    def test_fractions_name_their_place(self, arrow):
        with pytest.raises(FileFormatError, match=r"column 'm', row 2: 0\.5 .*EnsembleClustering"):
            arrow({"m": [1.0, 0.5]})

    def test_types_that_are_no_labels(self, arrow):
        with pytest.raises(FileFormatError, match=r"column 'm': values of type list"):
            arrow({"m": [[1], [2]]})

    def test_nothing_inside(self, arrow):
        with pytest.raises(FileFormatError, match="no rows"):
            arrow({"m": pa.array([], pa.int64())})

    def test_truncated_or_something_else(self, arrow, tmp_path):
        arrow({"m1": list(range(5)) * 100, "m2": [1] * 500})
        file = tmp_path / "votes.parquet"
        whole = file.read_bytes()
        for damaged in (whole[:-30], whole[: len(whole) // 2], b"m1,m2\n1,2\n", b""):
            file.write_bytes(damaged)
            with pytest.raises(FileFormatError, match="cannot be read as Parquet"):
                tables.read(file)


class TestNpy:
    def test_keeps_integers(self, tmp_path):
        np.save(tmp_path / "v.npy", VOTES)
        table = tables.read(tmp_path / "v.npy")
        assert table.matrix.dtype == np.int8
        np.testing.assert_array_equal(table.matrix, VOTES)
        assert table.names == ["c1", "c2"]

    def test_takes_whole_floats_strings_booleans_and_gzip(self, tmp_path):
        np.save(tmp_path / "f.npy", np.array([[1.0, np.nan]]))
        assert tables.read(tmp_path / "f.npy").matrix.tolist() == [[1, -1]]
        np.save(tmp_path / "s.npy", np.array([["a", "b"]]))
        assert [c.tolist() for c in tables.read(tmp_path / "s.npy").columns] == [["a"], ["b"]]
        np.save(tmp_path / "b.npy", np.array([[True, False]]))
        assert tables.read(tmp_path / "b.npy").matrix.tolist() == [[1, 0]]
        packed = tmp_path / "f.npy.gz"
        packed.write_bytes(gzip.compress((tmp_path / "f.npy").read_bytes()))
        assert tables.read(packed).matrix.tolist() == [[1, -1]]

    def test_takes_an_id_column_only_if_told(self, tmp_path):
        np.save(tmp_path / "v.npy", np.array([[900, 1], [901, 1], [902, 2]]))
        assert tables.read(tmp_path / "v.npy").ids is None
        table = tables.read(tmp_path / "v.npy", id_column=0)
        assert (table.ids.tolist(), table.matrix.dtype) == ([900, 901, 902], np.uint8)

    @pytest.mark.parametrize(
        ("array", "words"),
        [
            (np.array([1, 2]), "shape 2, but votes are a 2-D array"),
            (np.zeros((2, 2, 2), int), "shape 2 by 2 by 2"),
            (np.zeros((0, 3), int), "empty array"),
            (np.array([[1, 2], [3, 0.5]]), "row 2, column 2: 0.5 .*EnsembleClustering"),
            (np.array([[1, np.inf]]), "row 1, column 2: inf"),
            (np.array([[1j]]), "values of type complex128"),
            (np.array([(1, 2)], dtype=[("a", int), ("b", int)]), "structures"),
        ],
    )
    def test_refuses(self, tmp_path, array, words):
        np.save(tmp_path / "v.npy", array)
        with pytest.raises(FileFormatError, match=words):
            tables.read(tmp_path / "v.npy")

    def test_never_unpickles(self, tmp_path):
        np.save(tmp_path / "v.npy", np.array([[None]]), allow_pickle=True)
        with pytest.raises(FileFormatError, match="Python objects"):
            tables.read(tmp_path / "v.npy")

    def test_truncated_or_something_else(self, tmp_path):
        file = tmp_path / "v.npy"
        np.save(file, np.ones((50, 3), int))
        for damaged in (file.read_bytes()[:200], b"1,2\n3,4\n", b""):
            file.write_bytes(damaged)
            with pytest.raises(FileFormatError, match="cannot be read as NPY"):
                tables.read(file)


class TestNpz:
    def test_finds_the_votes_and_what_belongs_to_them(self, tmp_path):
        np.savez(tmp_path / "v.npz", other=np.eye(3), votes=VOTES, gt=[0, 0, 1], x=[0.5, 1, 2])
        table = tables.read(tmp_path / "v.npz")
        np.testing.assert_array_equal(table.matrix, VOTES)
        assert {name: value.tolist() for name, value in table.extra.items()} == {"gt": [0, 0, 1]}

    def test_takes_the_only_table_or_the_one_asked_for(self, tmp_path):
        np.savez(tmp_path / "v.npz", anything=VOTES, more=[1, 2])
        np.testing.assert_array_equal(tables.read(tmp_path / "v.npz").matrix, VOTES)
        np.savez(tmp_path / "v.npz", a=VOTES, b=VOTES + 1)
        assert tables.read(tmp_path / "v.npz", key="b").matrix.min() == 0
        with pytest.raises(FileFormatError, match=r"2 arrays.*a 3 by 2, b 3 by 2"):
            tables.read(tmp_path / "v.npz")
        with pytest.raises(FileFormatError, match=r"no array 'c'. It holds: a 3 by 2"):
            tables.read(tmp_path / "v.npz", key="c")

    def test_reads_votes_beside_objects_but_not_the_objects(self, tmp_path):
        objects = np.array([{"a": 1}], dtype=object)
        np.savez(tmp_path / "v.npz", votes=VOTES, notes=objects)
        np.testing.assert_array_equal(tables.read(tmp_path / "v.npz").matrix, VOTES)
        with pytest.raises(FileFormatError, match="Python objects"):
            tables.read(tmp_path / "v.npz", key="notes")

    def test_truncated_or_something_else(self, tmp_path):
        file = tmp_path / "v.npz"
        np.savez(file, votes=VOTES)
        whole = file.read_bytes()
        np.save(tmp_path / "a.npy", VOTES)
        for damaged in (whole[:100], b"1,2\n", b"", (tmp_path / "a.npy").read_bytes()):
            file.write_bytes(damaged)
            with pytest.raises(FileFormatError, match="cannot be read as NPZ"):
                tables.read(file)

    def test_another_archive_is_not_taken_for_one(self, tmp_path):
        (tmp_path / "v.zip").write_bytes(b"PK\x03\x04 and so on")
        with pytest.raises(FileFormatError, match=r"zip archive.*\.xlsx.*format='npz'"):
            tables.read(tmp_path / "v.zip")


class TestMat:
    def test_reads_a_pool(self, tmp_path):
        members = np.array([[1, 1], [1, 2], [2, 2]], dtype=np.uint8)
        savemat(tmp_path / "pool.mat", {"members": members, "gt": np.array([[1], [1], [2]])})
        table = tables.read(tmp_path / "pool.mat")
        assert table.matrix.dtype == np.uint8
        np.testing.assert_array_equal(table.matrix, members)
        assert table.extra["gt"].tolist() == [1, 1, 2]
        assert read_labels(tmp_path / "pool.mat").labels.tolist() == [1, 1, 2]

    def test_reads_doubles_that_are_whole_and_another_name(self, tmp_path):
        savemat(tmp_path / "p.mat", {"E": VOTES.astype(float), "gt": np.array([1.0, 1, 2])})
        np.testing.assert_array_equal(tables.read(tmp_path / "p.mat").matrix, VOTES)

    def test_refuses_cells(self, tmp_path):
        cells = np.empty((1, 2), dtype=object)
        cells[:] = [[np.eye(2), "text"]]
        savemat(tmp_path / "p.mat", {"members": cells})
        with pytest.raises(
            FileFormatError, match="cells, structures, sparse matrices or Python objects"
        ):
            tables.read(tmp_path / "p.mat")

    def test_refuses_other_versions_and_damage(self, tmp_path):
        file = tmp_path / "p.mat"
        savemat(file, {"members": np.ones((50, 5), int)})
        whole = file.read_bytes()
        for damaged in (whole[:300], b"1,2\n" * 100, b""):
            file.write_bytes(damaged)
            with pytest.raises(FileFormatError, match="cannot be read as MAT"):
                tables.read(file)
        head = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF" + bytes(100)
        file.write_bytes(head)
        with pytest.raises(FileFormatError, match=r"version 7\.3"):
            tables.read(file)


class TestLabels:
    def test_one_column_with_ids_or_without(self, tmp_path):
        file = tmp_path / "t.csv"
        file.write_text("id,class\na,x\nb,y\nc,\n")
        assert read_labels(file).labels.tolist() == ["x", "y", None]
        assert read_labels(file).ids.tolist() == ["a", "b", "c"]
        file.write_text("3\n3\n4\n")
        assert read_labels(file).labels.tolist() == [3, 3, 4]

    def test_of_several_columns_one_must_have_a_telling_name(self, tmp_path):
        file = tmp_path / "t.csv"
        file.write_text("m,label\n1,2\n1,3\n")
        assert read_labels(file).labels.tolist() == [2, 3]
        file.write_text("m,n\n1,2\n1,3\n")
        with pytest.raises(FileFormatError, match="2 columns of labels"):
            read_labels(file)

    def test_arrays_and_parquet(self, tmp_path):
        np.save(tmp_path / "t.npy", [1, 1, 2])
        assert read_labels(tmp_path / "t.npy").labels.tolist() == [1, 1, 2]
        np.save(tmp_path / "t.npy", VOTES)
        with pytest.raises(FileFormatError, match="one column"):
            read_labels(tmp_path / "t.npy")
        pq.write_table(pa.table({"label": [1, 1, 2]}), tmp_path / "t.parquet")
        assert read_labels(tmp_path / "t.parquet").labels.tolist() == [1, 1, 2]
