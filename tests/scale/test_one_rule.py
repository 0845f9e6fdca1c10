"""One rule for missing votes, whole numbers and names: memory, stream and Dask give equal labels.

Each odd table is written to files; what is read into memory, streamed in small batches and read by
the workers of a cluster must have the same microclusters and the same labels.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scale_helpers import in_memory, run_stream

import ensemblage as en
from ensemblage import tables
from ensemblage.scale import dask as on_dask

pytest.importorskip("dask.distributed")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

SIX = ["", "NA", "NaN", "nan", "-1", "-1.0"]


def ints_then_floats(folder):
    (folder / "a.csv").write_text("m,n\n" + "1,5\n2,5\n1,6\n" * 4)
    (folder / "b.csv").write_text("m,n\n" + "1.0,6.0\n2.0,\n3.0,5.00\n" * 4)
    floats = pa.array([1.0, 2.0, np.nan, 3.0])
    pq.write_table(
        pa.table({"m": floats, "n": pa.array([5, 6, 6, None], pa.int8())}), folder / "c.parquet"
    )


def categories_in_another_order(folder):
    one = pd.DataFrame({"m": pd.Categorical(list("xyzx"), list("xyz")), "n": list("aabb")})
    two = pd.DataFrame({"m": pd.Categorical(list("zyxx"), list("zyx")), "n": list("baba")})
    one.to_parquet(folder / "a.parquet")
    two.to_parquet(folder / "b.parquet")
    two.astype(object).to_csv(folder / "c.csv", index=False)


def names_with_spaces_and_quotes(folder):
    rows = ['T cell,"a ""b"""', ' T cell ,"a ""b"""', '"x, y",c', '"x, y", c', '"two\nlines",c']
    (folder / "a.csv").write_text("\n".join(["type,other", *rows, "B,c"]))
    (folder / "b.tsv").write_text('type\tother\nT cell\t"a ""b"""\n\tc\nx, y\tc\n')


def missing_in_six_ways(folder):
    rows = [f"{spelling},{place % 2},x" for place, spelling in enumerate(SIX)]
    (folder / "a.csv").write_text("\n".join(["m,n,o", *rows, "3,1,y", "3,0,y", "4,0,NA"]))
    pq.write_table(
        pa.table(
            {"m": pa.array([3, None, -1]), "n": pa.array([0.0, np.nan, 1.0]), "o": ["x", "z", None]}
        ),
        folder / "b.parquet",
    )


def ids_with_gaps(folder):
    (folder / "a.csv").write_text("id,m,n\n7,1,1\n12,1,1\n30,2,1\n31,2,2\n")
    (folder / "b.csv").write_text("id,m,n\n001,1,1\nx,2,2\n,2,1\n")


def a_header_that_looks_like_votes(folder):
    (folder / "a.csv").write_text("id,1,2\na,1,2\nb,1,2\nc,2,1\n")


def a_blank_name_beside_one_called_c1(folder):
    (folder / "a.csv").write_text(",c0,c1,c2\na,0,1,1\nb,0,1,1\nc,1,0,0\nd,1,0,0\n")


def late_names_and_late_numbers(folder):
    (folder / "a.csv").write_text(
        "m,n\n" + "1,1\n" * 20_000 + "1.0,2\n" + " 2 ,2\n+2,NA\n0x,\n"[:12]
    )
    (folder / "b.csv").write_text("m,n\n" + "7,1\n" * 3 + " 2,+2\n")


def names_after_the_first_rows(folder):
    rows = ["1,5\n"] * 17_000 + ["red,5\nblue,6\n"] * 20_000 + ["01,6\n1,5\n"]
    (folder / "a.csv").write_text("m,n\n" + "".join(rows))


TABLES = [
    ints_then_floats,
    categories_in_another_order,
    names_with_spaces_and_quotes,
    missing_in_six_ways,
    ids_with_gaps,
    a_header_that_looks_like_votes,
    a_blank_name_beside_one_called_c1,
    late_names_and_late_numbers,
    names_after_the_first_rows,
]


def written(path):
    return tables.read(path, id_column=0)


@pytest.mark.parametrize("write", TABLES, ids=lambda write: write.__name__)
def test_memory_stream_and_dask_are_equal(write, tmp_path, client):
    (tmp_path / "in").mkdir()
    write(tmp_path / "in")
    options = {"id_column": "id" if write is ids_with_gaps else "auto"}
    table = tables.read(tmp_path / "in", **options)
    expected = in_memory(en.Ensemble(tables.votes_of(table)), en.EAC(2))
    for rows in (2, 1 << 20):
        if rows == 2 and tables.n_objects(table) > 1000:
            continue
        result = run_stream(
            tmp_path / "in", en.EAC(2), tmp_path / "s.csv", batch_rows=rows, n_jobs=2, **options
        )
        assert result.n_microclusters == expected.n_microclusters_
        streamed = written(tmp_path / "s.csv")
        np.testing.assert_array_equal(streamed.matrix.ravel(), expected.labels_)
        if table.ids is not None:
            assert tables.as_texts(streamed.ids) == tables.as_texts(table.ids)
    on_dask.consensus(tmp_path / "in", en.EAC(2), tmp_path / "d.csv", client=client, **options)
    assert (tmp_path / "d.csv").read_bytes() == (tmp_path / "s.csv").read_bytes()


@pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")
def test_frames_files_and_arrays_are_equal(tmp_path, client):
    frame = pd.DataFrame(
        {
            "whole": [1.0, np.nan, 2.0, 1.0, 2.0, -1.0],
            "nullable": pd.array([1, None, 2, 1, 2, -1], dtype="Int64"),
            "names": ["T cell", None, 'q "x"', "T cell", "a,b", "a,b"],
            "kinds": pd.Categorical(["u", "v", None, "u", "u", "v"], ["v", "u"]),
        }
    )
    expected = in_memory(frame, en.EAC(2))
    frame.to_csv(tmp_path / "v.csv", index=False)
    frame.to_parquet(tmp_path / "v.parquet")
    for name in ("v.csv", "v.parquet"):
        votes = tables.votes_of(tables.read(tmp_path / name, id_column=None))
        np.testing.assert_array_equal(
            in_memory(en.Ensemble(votes), en.EAC(2)).labels_, expected.labels_
        )
    array = frame.astype(object).where(frame.notna(), None).to_numpy()
    np.testing.assert_array_equal(in_memory(array, en.EAC(2)).labels_, expected.labels_)
    parts = on_dask.consensus(dd.from_pandas(frame, npartitions=3), en.EAC(2), client=client)
    np.testing.assert_array_equal(parts.compute(scheduler="sync"), expected.labels_)


def test_long_and_wide_forms_give_equal_labels(tmp_path):
    wide = "id,k2,type,k3\na,0,T,2\nb,0,,NA\nc,1,B,1.0\nd,1,B,1\n"
    (tmp_path / "w.csv").write_text(wide)
    header, *rows = [line.split(",") for line in wide.splitlines()]
    long = [
        f"{row[0]},{name},{cell}"
        for place, name in enumerate(header[1:], 1)
        for row in rows
        for cell in [row[place]]
    ]
    (tmp_path / "l.csv").write_text("\n".join(["object,member,label", *long]))
    run_stream(tmp_path / "w.csv", en.EAC(2), tmp_path / "s.csv", id_column="id")
    for path, layout in (("w.csv", "wide"), ("l.csv", "long")):
        votes = tables.votes_of(tables.read(tmp_path / path, layout=layout))
        labels = in_memory(en.Ensemble(votes), en.EAC(2)).labels_
        np.testing.assert_array_equal(labels, written(tmp_path / "s.csv").matrix.ravel())
