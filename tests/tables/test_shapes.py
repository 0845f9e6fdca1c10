"""Votes in other shapes: a row for each vote, a file for each clustering."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ensemblage import tables
from ensemblage.tables import FileFormatError, OptionError

LONG = (
    "object,member,label\n"
    "a,k2,0\nb,k2,0\nc,k2,1\n"
    "c,type,T cell\na,type,B\nb,type,NA\n"
    "a,k3,2\nc,k3,1.0\n"
)


def columns_of(table):
    return list(table.matrix.T) if table.matrix is not None else table.columns


@pytest.fixture
def read(tmp_path):
    def read_text(text, name="v.csv", **options):
        (tmp_path / name).write_text(text)
        return tables.read(tmp_path / name, layout="long", **options)

    return read_text


class TestLong:
    def test_objects_and_clusterings_come_in_order_of_appearance(self, read):
        table = read(LONG)
        assert (table.names, table.id_name) == (["k2", "type", "k3"], "object")
        assert table.ids.tolist() == ["a", "b", "c"]
        assert [column.tolist() for column in columns_of(table)] == [
            [0, 0, 1],
            ["B", None, "T cell"],
            [2, -1, 1],
        ]

    @pytest.mark.parametrize(
        "header", ["cell,run,cluster", "vote,object,method", "x,y,z", "auto,none,z", "7,8,9"]
    )
    def test_columns_by_name_or_by_place(self, read, header):
        order = {"vote,object,method": (2, 0, 1)}.get(header, (0, 1, 2))
        rows = [("o1", "k", "1"), ("o2", "k", "2"), ("o1", "l", "5"), ("o2", "l", "5")]
        lines = [",".join(row[order[place]] for place in range(3)) for row in rows]
        named = header != "7,8,9"
        text = "\n".join([*([header] if named else []), *lines])
        table = read(text, header=named)
        assert (table.ids.tolist(), table.names) == (["o1", "o2"], ["k", "l"])
        assert table.matrix.tolist() == [[1, 5], [2, 5]]

    def test_typed_files(self, tmp_path):
        columns = {
            "object": pa.array([7, 8, 7, 8]),
            "member": pa.array(["a", "a", "b", "b"]).dictionary_encode(),
            "label": pa.array([1, None, 3, 3]),
        }
        tables.write(tmp_path / "v.parquet", columns)
        table = tables.read(tmp_path / "v.parquet", layout="long")
        assert table.ids.tolist() == [7, 8]
        assert table.matrix.tolist() == [[1, 3], [-1, 3]]
        columns["label"] = pa.array(["x", "x", None, "y"])
        tables.write(tmp_path / "v.parquet", columns)
        table = tables.read(tmp_path / "v.parquet", layout="long")
        assert [column.tolist() for column in table.columns] == [["x", "x"], [None, "y"]]

    @pytest.mark.parametrize(
        "labels",
        [
            [0.0, 0.0, 1.0, 1.0, 0.0, 1.0],
            np.array([0, 0, 1, 1, 0, 1], dtype=np.uint32),
            [False, False, True, True, False, True],
        ],
    )
    def test_a_vote_without_a_row_is_missing_in_every_type(self, tmp_path, labels):
        columns = {"cell": list("abcdad"), "member": list("mmmmnn"), "label": labels}
        tables.write(tmp_path / "v.parquet", columns)
        table = tables.read(tmp_path / "v.parquet", layout="long")
        assert table.matrix.tolist() == [[0, 0], [0, -1], [1, -1], [1, 1]]

    def test_large_labels_stay_different(self, tmp_path):
        large = [2**63 + 1, 2**63 + 2]
        columns = {"cell": ["a", "b"], "member": ["m", "m"], "label": pa.array(large, pa.uint64())}
        tables.write(tmp_path / "1.parquet", columns)
        columns |= {"member": ["n", "n"], "label": pa.array([1, 2], pa.int64())}
        tables.write(tmp_path / "2.parquet", columns)
        read = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
        assert tables.read(read, layout="long").matrix.tolist() == [[large[0], 1], [large[1], 2]]
        tables.write(tmp_path / "2.parquet", columns | {"cell": ["a", "c"]})
        with pytest.raises(
            FileFormatError, match="clustering 'm': 9223372036854775810 and missing"
        ):
            tables.read(read, layout="long")

    @pytest.mark.parametrize("second", ["2.parquet", "2.csv"])
    def test_types_that_differ_by_file(self, tmp_path, second):
        columns = {"cell": [1.0, 2.0], "member": [1.0, 1.0], "cluster": [5.0, 6.0]}
        tables.write(tmp_path / "1.parquet", columns)
        columns = {"cell": [1, 2], "member": [2, 2], "cluster": [7, 7]}
        tables.write(tmp_path / second, {k: np.array(values) for k, values in columns.items()})
        table = tables.read([tmp_path / "1.parquet", tmp_path / second], layout="long")
        assert (table.ids.tolist(), table.names) == ([1, 2], ["1", "2"])
        assert table.matrix.tolist() == [[5, 7], [6, 7]]

    def test_names_in_one_file_and_numbers_in_another(self, tmp_path):
        columns = {"cell": ["a", "b"], "member": ["m", "m"], "cluster": [1, 2]}
        tables.write(tmp_path / "1.parquet", columns)
        columns |= {"member": ["n", "n"], "cluster": ["x", "y"]}
        tables.write(tmp_path / "2.parquet", columns)
        with pytest.raises(FileFormatError, match="Column 'cluster' holds names in"):
            tables.read([tmp_path / "1.parquet", tmp_path / "2.parquet"], layout="long")

    @pytest.mark.parametrize("name", ["cell", "member"])
    def test_nan_is_no_object_and_no_clustering(self, tmp_path, name):
        columns = {"cell": [1.0, 2.0], "member": [1.0, 1.0], "label": [1, 1]}
        columns[name] = [1.0, float("nan")]
        tables.write(tmp_path / "v.parquet", columns)
        with pytest.raises(FileFormatError, match="row 2 is a row without an object or without"):
            tables.read(tmp_path / "v.parquet", layout="long")

    @pytest.mark.parametrize("id_column", ["label", 1, "1"])
    def test_the_column_of_objects_has_no_other_use(self, read, id_column):
        table = read("run,label,cluster\nk,a,1\nk,b,2\n", id_column=id_column)
        assert (table.id_name, table.ids.tolist()) == ("label", ["a", "b"])
        assert table.matrix.tolist() == [[1], [2]]

    @pytest.mark.parametrize("layout", ["long", "members"])
    def test_a_clustering_is_named_once(self, tmp_path, layout):
        (tmp_path / "m.csv").write_text("object,member,label\na,m,1\nb,m,2\n")
        with pytest.raises(FileFormatError, match=r"'m' of .* is named twice"):
            tables.read(tmp_path / "m.csv", layout=layout, columns=["m", "m"])

    @pytest.mark.parametrize("number", ["id", "index", "Unnamed: 0", "row", "vote_id"])
    def test_a_number_of_the_vote_is_no_object(self, read, number):
        rows = [f"{i},c{i % 3},{'ab'[i // 3]},{i // 2}\n" for i in range(6)]
        for header in (f"{number},cell_id,run,label\n", f"{number},cell,member,label\n"):
            table = read("".join([header, *rows]))
            assert (table.id_name, table.ids.tolist()) == (header.split(",")[1], ["c0", "c1", "c2"])
            assert table.matrix.tolist() == [[0, 1], [0, 2], [1, 2]]

    def test_objects_that_all_have_one_vote_raise_a_warning(self, read):
        text = "id,donor,run,label\n1,x,a,0\n2,y,a,1\n3,x,b,0\n4,y,b,1\n"
        with pytest.warns(UserWarning, match="of column 'id' of .* occurs twice, so each object"):
            assert tables.n_objects(read(text)) == 4
        assert read(text, id_column="donor").matrix.tolist() == [[0, 0], [1, 1]]
        assert tables.n_objects(read(text, id_column="id")) == 4
        with pytest.warns(UserWarning, match="of column 'id' of"):  # the first of them
            assert read("id,row_id,run,label\n1,5,a,0\n2,6,a,1\n3,7,b,0\n").ids.tolist() == [
                1,
                2,
                3,
            ]
        one = "id,batch_id,run,label\n1,x,a,0\n2,y,a,1\n3,x,a,0\n"  # no object can repeat
        assert read(one).ids.tolist() == [1, 2, 3]

    def test_a_column_has_one_use(self, read):
        assert read("id,name,label\n1,a,0\n2,a,1\n1,b,0\n2,b,1\n").names == ["a", "b"]
        with pytest.warns(UserWarning, match="each object has one vote"):
            assert read("id,name,label\n1,a,0\n2,a,1\n3,b,0\n4,b,1\n").names == ["a", "b"]

    def test_some_clusterings(self, read):
        assert read(LONG, columns=["k*"]).names == ["k2", "k3"]

    def test_several_files_are_one_table(self, tmp_path):
        (tmp_path / "1.csv").write_text("object,member,label\na,k,0\nb,k,1\n")
        (tmp_path / "2.csv").write_text("object,member,label\na,l,5\nb,l,5\nc,l,6\n")
        table = tables.read([tmp_path / "1.csv", tmp_path / "2.csv"], layout="long")
        assert table.matrix.tolist() == [[0, 5], [1, 5], [-1, 6]]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("object,member,label\na,k,1\na,k,2\n", "object 'a' has several labels in"),
            ("object,member,label\n,k,1\nb,k,2\n", "row 2 is a row without an object or without"),
            ("a,b\n1,2\n1,3\n", "not clear which of them"),
            ("object,u,v,w\na,1,2,3\na,2,2,3\n", "Call them object, member and label"),
            (
                "object,member,label\na,k,1\nb,k,x\nc,k,1\n",
                "object 'b', clustering 'k': 'x' is not a",
            ),
            ("object,member,label\n", "a header and no rows|holds no rows"),
        ],
    )
    def test_what_is_wrong(self, read, text, words):
        with pytest.raises(FileFormatError, match=words):
            read(text, header=True)

    def test_options_of_wide_tables(self, read):
        with pytest.raises(OptionError, match="keep is for wide tables"):
            read(LONG, keep=["label"])
        with pytest.raises(OptionError, match="Unknown layout 'tall'"):
            tables.read("v.csv", layout="tall")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_long_and_wide_forms_are_equal(data, tmp_path):
    n, width = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    cells = st.sampled_from(["1", "2", "3.0", "NA", "nan", "-1", "", "07"])
    words = st.sampled_from(["T cell", 'q "x"', "a,b", "NA", "", "5"])
    rows = [[f"o{i}"] for i in range(n)]
    for _ in range(width):
        kind = data.draw(st.sampled_from([cells, words]))
        column = data.draw(st.lists(kind, min_size=n, max_size=n))
        for row, cell in zip(rows, column, strict=True):
            row.append(cell)
    names = [f"m{place}" for place in range(width)]
    quote = '"{}"'.format
    wide = [",".join(["id", *names])]
    wide += [",".join(quote(cell.replace('"', '""')) for cell in row) for row in rows]
    (tmp_path / "w.csv").write_text("\n".join(wide))
    long = [
        ",".join([row[0], name, quote(row[1 + place].replace('"', '""'))])
        for place, name in enumerate(names)
        for row in rows
    ]
    (tmp_path / "l.csv").write_text("\n".join(["object,member,label", *long]))
    try:
        expected = tables.read(tmp_path / "w.csv", header=True, id_column="id")
    except FileFormatError:
        with pytest.raises(FileFormatError):
            tables.read(tmp_path / "l.csv", header=True, layout="long")
        return
    found = tables.read(tmp_path / "l.csv", header=True, layout="long")
    assert (found.names, found.ids.tolist()) == (expected.names, expected.ids.tolist())
    for one, other in zip(columns_of(found), columns_of(expected), strict=True):
        np.testing.assert_array_equal(one, other)


class TestMembers:
    @pytest.fixture
    def folder(self, tmp_path):
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "kmeans.csv").write_text("cell,label\na,1\nb,1\nc,2\n")
        (tmp_path / "in" / "leiden.csv").write_text("cell,label\nc,T\na,B\nb,\n")
        return tmp_path / "in"

    def test_are_matched_by_id(self, folder):
        table = tables.read(folder, layout="members")
        assert (table.names, table.ids.tolist()) == (["kmeans", "leiden"], ["a", "b", "c"])
        assert table.id_name == "cell"
        assert [column.tolist() for column in table.columns] == [[1, 1, 2], ["B", None, "T"]]
        assert tables.read(folder, layout="members", columns=["k*"]).names == ["kmeans"]

    @pytest.mark.parametrize("name", ["label", "labels", "cluster"])
    def test_true_labels_that_were_kept_are_no_clustering(self, tmp_path, name):
        for run in "ab":
            text = f"id,truth,{name},gt,class\n1,5,0,5,5\n2,6,0,6,6\n3,7,1,7,7\n"
            (tmp_path / f"{run}.csv").write_text(text)
        assert tables.read(tmp_path, layout="members").matrix.tolist() == [[0, 0], [0, 0], [1, 1]]
        assert tables.read_labels(tmp_path / "a.csv").labels.tolist() == [5, 6, 7]

    def test_are_matched_by_position(self, tmp_path):
        np.save(tmp_path / "a.npy", [1, 1, 2])
        (tmp_path / "b.csv.gz").write_bytes(b"5\n5\n6\n")
        table = tables.read([tmp_path / "b.csv.gz", tmp_path / "a.npy"], layout="members")
        assert (table.names, table.ids) == (["b", "a"], None)
        assert table.matrix.tolist() == [[5, 1], [5, 1], [6, 2]]

    def test_lengths_that_differ(self, folder):
        (folder / "third.csv").write_text("cell,label\na,1\nb,1\n")
        with pytest.raises(FileFormatError, match=r"third\.csv has 2, and .*kmeans\.csv has 3"):
            tables.read(folder, layout="members")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("1\n1\n2\n", r"kmeans\.csv has ids and .*third\.csv has none"),
            ("cell,label\na,1\nb,1\nd,1\n", r"third\.csv has no label for the object 'c'"),
            ("id,label\na,1\na,1\nb,1\n", r"third\.csv has several labels for the object 'a'"),
            ("donor,label\na,1\na,1\nb,1\n", r"third\.csv has several labels for the object 'a'"),
            ("label,donor\n1,a\n1,a\n1,b\n", r"third\.csv has none, so their objects"),
            ("cell,x,y\na,1,1\nb,1,1\nc,1,1\n", r"third\.csv has 2 columns of labels"),
        ],
    )
    def test_what_does_not_fit(self, folder, text, words):
        (folder / "third.csv").write_text(text)
        with pytest.raises(FileFormatError, match=words):
            tables.read(folder, layout="members")

    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    def test_an_id_that_all_files_repeat(self, tmp_path, suffix):
        columns = {"patient": np.array(["u1", "u2", "u3", "u3"]), "label": np.arange(4) // 2}
        tables.write(tmp_path / f"a.{suffix}", columns)
        columns = {name: values[::-1] for name, values in columns.items()}
        tables.write(tmp_path / f"b.{suffix}", columns | {"gt": np.arange(4)})
        with pytest.raises(FileFormatError, match="several labels for the object 'u3'"):
            tables.read(tmp_path, layout="members")
        by_place = tables.read(tmp_path, layout="members", id_column="none")
        assert by_place.matrix.tolist() == [[0, 1], [0, 1], [1, 0], [1, 0]]

    @pytest.mark.parametrize("values", [[1.5, 2.5, 3.5], ["x", "x", "x"], [[1], [2], [3]]])
    def test_a_column_that_is_no_id_is_ignored(self, tmp_path, values):
        tables.write(tmp_path / "a.parquet", {"x": pa.array(values), "label": pa.array([1, 1, 2])})
        assert tables.read(tmp_path, layout="members").matrix.tolist() == [[1], [1], [2]]

    def test_two_files_of_one_name(self, folder):
        (folder / "kmeans.tsv").write_text("cell\tlabel\na\t1\nb\t1\nc\t1\n")
        with pytest.raises(FileFormatError, match="both be called 'kmeans'"):
            tables.read(folder, layout="members")
