"""Files of a stream: ids, columns and folders of outputs, and the files that are refused."""

import numpy as np
import pytest
from scale_helpers import in_memory, labels_of, make_votes, run_stream, table_of

import ensemblage as en
from ensemblage import tables
from ensemblage.scale import stream
from ensemblage.tables import parse

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.usefixtures("one_thread")


class TestFiles:
    def test_ids_pass_through(self, tmp_path):
        votes = make_votes(60)
        ids = [f"cell{i}" for i in range(60)]
        one = table_of(votes[:40]).add_column(0, "cell", pa.array(ids[:40]))
        two = table_of(votes[40:]).add_column(0, "cell", pa.array(ids[40:]).dictionary_encode())
        pq.write_table(one, tmp_path / "a.parquet")
        pq.write_table(two, tmp_path / "b.parquet")
        result = run_stream(
            tmp_path, en.EAC(3), tmp_path / "l.parquet", id_column="auto", batch_rows=7
        )
        assert result.id_name == "cell"
        assert pq.read_table(tmp_path / "l.parquet")["cell"].to_pylist() == ids

    @pytest.mark.parametrize(
        ("kinds", "expected"),
        [
            ([pa.int8(), pa.int64()], "int64"),
            ([pa.uint8(), pa.uint16()], "uint64"),
            ([pa.int16(), pa.string()], "string"),
            ([pa.date32(), pa.date32()], "date32[day]"),
            ([pa.float64(), pa.float64()], "string"),
        ],
    )
    def test_ids_of_two_files_get_a_common_type(self, kinds, expected, tmp_path):
        for name, kind in zip("ab", kinds, strict=True):
            ids = pa.array([1, 2, 3], pa.int32()).cast(kind)
            pq.write_table(pa.table({"id": ids, "m": [1, 1, 2]}), tmp_path / f"{name}.parquet")
        run_stream(tmp_path / "*.parquet", en.EAC(2), tmp_path / "l.parquet", id_column="id")
        assert str(pq.read_table(tmp_path / "l.parquet").schema.field("id").type) == expected

    def test_a_folder_gets_a_file_for_each_input(self, tmp_path):
        votes = make_votes(50)
        (tmp_path / "in").mkdir()
        pq.write_table(table_of(votes[:20]), tmp_path / "in" / "a.parquet")
        pq.write_table(table_of(votes[:0]), tmp_path / "in" / "empty.parquet")
        pq.write_table(table_of(votes[20:]), tmp_path / "in" / "b.parquet")
        paths = [tmp_path / "in" / f"{name}.parquet" for name in ("a", "empty", "b")]
        run_stream(paths, en.EAC(3), f"{tmp_path}/out/")
        expected = in_memory(votes, en.EAC(3)).labels_
        found = [pq.read_table(tmp_path / "out" / path.name) for path in paths]
        assert [table.num_rows for table in found] == [20, 0, 30]
        assert found[2]["row"].to_pylist() == list(range(30))
        np.testing.assert_array_equal(np.concatenate([t["label"] for t in found]), expected)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]

    def test_only_the_columns_that_were_named(self, tmp_path):
        votes = make_votes()
        pq.write_table(
            table_of(votes).append_column("note", pa.array(["?"] * 200)), tmp_path / "v.parquet"
        )
        run_stream(
            tmp_path / "v.parquet", en.EAC(3), tmp_path / "l.parquet", columns=["m3", "m0", "m1"]
        )
        np.testing.assert_array_equal(
            labels_of(tmp_path / "l.parquet"), in_memory(votes[:, [3, 0, 1]], en.EAC(3)).labels_
        )

    def test_an_index_of_pandas_is_no_clustering(self, tmp_path):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(
            make_votes(30), columns=list("abcde"), index=[f"o{i}" for i in range(30)]
        )
        frame.to_parquet(tmp_path / "v.parquet")
        result = run_stream(tmp_path / "v.parquet", en.EAC(3), tmp_path / "l.csv", id_column="auto")
        assert len(result.names) == 5
        assert (tmp_path / "l.csv").read_text().splitlines()[1].startswith("o0,")


# -- what is refused -------------------------------------------------------------------------------


class TestComplaints:
    def refuse(self, match, sources, tmp_path, error=tables.FileFormatError, **options):
        with pytest.raises(error, match=match):
            run_stream(
                sources, options.pop("estimator", en.EAC(2)), tmp_path / "l.parquet", **options
            )
        assert not (tmp_path / "l.parquet").exists()

    @pytest.fixture
    def votes(self, tmp_path):
        pq.write_table(table_of(make_votes()), tmp_path / "v.parquet", row_group_size=50)
        return tmp_path / "v.parquet"

    def test_a_file_cut_short(self, votes, tmp_path):
        votes.write_bytes(votes.read_bytes()[:-10])
        self.refuse(r"v\.parquet cannot be read as Parquet", votes, tmp_path)

    def test_a_damaged_row_group(self, votes, tmp_path):
        content = bytearray(votes.read_bytes())
        start = pq.read_metadata(votes).row_group(2).column(0).dictionary_page_offset
        content[start : start + 40] = b"\xff" * 40
        votes.write_bytes(content)
        self.refuse(r"v\.parquet, row group 3 cannot be read", votes, tmp_path, batch_rows=50)

    def test_other_columns_in_another_file(self, votes, tmp_path):
        pq.write_table(pa.table({"m0": [1], "x": [2]}), tmp_path / "w.parquet")
        self.refuse(
            r"w\.parquet are not those of .*v\.parquet: it has 'x' too",
            [votes, tmp_path / "w.parquet"],
            tmp_path,
        )

    @pytest.mark.parametrize("jobs", [1, 3])
    def test_names_in_one_file_and_numbers_in_another(self, jobs, tmp_path):
        pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "v.parquet")
        pq.write_table(pa.table({"a": ["x", "y"]}), tmp_path / "w.parquet")
        words = "Column 'a' holds "
        if jobs == 1:
            words += "names in .*w.parquet, but numbers in .*v.parquet"
        self.refuse(words, tmp_path, tmp_path, n_jobs=jobs)

    def test_an_object_without_a_vote(self, votes, tmp_path):
        silent = np.array([[1, 1, 1, 1, 1], [-1, -1, -1, -1, -1]])
        pq.write_table(table_of(silent), tmp_path / "w.parquet")
        self.refuse(
            r"At least 1 object\(s\) have no vote in any clustering: .*w\.parquet, row 2\. .*later",
            [votes, tmp_path / "w.parquet"],
            tmp_path,
        )
        (tmp_path / "x.csv").write_text("a,b\n1,1\n2,2\n,NA\n")
        self.refuse(r"x\.csv, row 4\.", tmp_path / "x.csv", tmp_path, checkpoint=tmp_path / "c")
        rows = "".join(f"u{row},{row % 2 or ''},NA\n" for row in range(20))
        (tmp_path / "y.csv").write_text(f"id,a,b\n{rows}")
        words = (
            r"At least 10 .*: 'u0' \(.*y\.csv, row 2\); 'u2' .*'u8' \(.*, row 10\); and 5 more\."
        )
        self.refuse(words, tmp_path / "y.csv", tmp_path, id_column="id")

    def test_true_labels_that_are_none(self, votes, tmp_path):
        self.refuse("has no column 'gt'. Its columns: 'm0', 'm1'", votes, tmp_path, truth="gt")
        self.refuse("holds the ids", votes, tmp_path, truth="m0", id_column="m0")
        pq.write_table(
            pa.table({"a": [1, 2], "gt": pa.array([None, None])}), tmp_path / "w.parquet"
        )
        self.refuse(
            "All of the true labels are missing", tmp_path / "w.parquet", tmp_path, truth="gt"
        )
        pq.write_table(pa.table({"a": [1, -1], "gt": [1, 1]}), tmp_path / "x.parquet")
        checkpoint = tmp_path / "c"
        self.refuse(
            "x.parquet, row 2", tmp_path / "x.parquet", tmp_path, truth="gt", checkpoint=checkpoint
        )

    def test_measurements(self, tmp_path):
        pq.write_table(pa.table({"a": [1.0, 2.5]}), tmp_path / "v.parquet")
        self.refuse(
            "column 'a', row 2: 2.5 is not a cluster label", tmp_path / "v.parquet", tmp_path
        )
        (tmp_path / "v.csv").write_text("a,b\n1,2\n2,2\n2.5,1\n")
        self.refuse("v.csv, row 4, column 'a'", tmp_path / "v.csv", tmp_path)

    def test_no_rows(self, tmp_path):
        pq.write_table(pa.table({"a": pa.array([], pa.int8())}), tmp_path / "v.parquet")
        self.refuse("holds no rows", tmp_path / "v.parquet", tmp_path)
        (tmp_path / "v.csv").write_text("")
        self.refuse("is empty", tmp_path / "v.csv", tmp_path)
        (tmp_path / "v.csv").write_text("a,b\n")
        self.refuse("has a header and no rows", tmp_path / "v.csv", tmp_path, header=True)

    def test_no_file(self, tmp_path):
        self.refuse("There is no file", tmp_path / "v.parquet", tmp_path, FileNotFoundError)
        self.refuse("No file matches", tmp_path / "*.parquet", tmp_path, FileNotFoundError)
        (tmp_path / "empty").mkdir()
        self.refuse("holds no file of votes", tmp_path / "empty", tmp_path)

    def test_formats_that_have_no_batches(self, tmp_path):
        np.save(tmp_path / "v.npy", make_votes())
        self.refuse("is NPY, and csv", tmp_path / "v.npy", tmp_path)

    def test_more_clusters_than_groups_and_then_fewer(self, votes, tmp_path):
        self.refuse("n_clusters", votes, tmp_path, ValueError, estimator=en.EAC(10_000))
        assert not (tmp_path / "l.parquet.parts").exists()
        stream.consensus(votes, en.EAC(2), tmp_path / "l.parquet")

    @pytest.mark.parametrize("method", ["cspa", "hgpa", "ecmc"])
    def test_levels_that_need_all_objects(self, method, votes, tmp_path):
        estimator = en.METHODS[method](2, level="objects")
        self.refuse(
            "objects would have to be in memory", votes, tmp_path, ValueError, estimator=estimator
        )
        groups = en.Ensemble.of_groups(np.array([[0], [1]], np.int32), np.array([3, 4]), [[0, 1]])
        with pytest.raises(ValueError, match="only the 2 microclusters are known"):
            estimator.fit(groups)

    def test_a_folder_that_is_not_there(self, votes, tmp_path):
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            run_stream(votes, en.EAC(2), tmp_path / "nowhere" / "l.parquet")

    def test_a_folder_that_may_not_be_written(self, votes, tmp_path):
        shut = tmp_path / "shut"
        shut.mkdir()
        shut.chmod(0o500)
        try:
            if shut.owner() == "root":
                pytest.skip("root may write everywhere")
            with pytest.raises(PermissionError, match="cannot be"):
                run_stream(votes, en.EAC(2), shut / "l.parquet")
        finally:
            shut.chmod(0o700)

    def test_names_of_outputs_that_clash(self, votes, tmp_path):
        (tmp_path / "in").mkdir()
        pq.write_table(table_of(make_votes()), tmp_path / "in" / "v.parquet")
        with pytest.raises(tables.FileFormatError, match="would both get"):
            run_stream([votes, tmp_path / "in" / "v.parquet"], en.EAC(2), f"{tmp_path}/out/")
        with pytest.raises(tables.FileFormatError, match="is one of the inputs"):
            run_stream(votes, en.EAC(2), f"{tmp_path}/")

    def test_an_id_column_with_the_name_of_a_result(self, tmp_path):
        pq.write_table(pa.table({"label": [1, 2], "a": [1, 2]}), tmp_path / "v.parquet")
        self.refuse(
            "id column is called 'label'", tmp_path / "v.parquet", tmp_path, id_column="label"
        )

    def test_confidence_at_several_k(self, votes, tmp_path):
        self.refuse(
            "one number of clusters", votes, tmp_path, ValueError, cuts=[2, 3], confidence=True
        )


@pytest.mark.parametrize("name", ["v.csv", "v.csv.gz"])
def test_text_is_parsed_twice(name, tmp_path, monkeypatch):
    """Once in each pass; the first rows alone decide what its columns are."""
    tables.write(tmp_path / name, {f"m{m}": column for m, column in enumerate(make_votes().T)})
    parsed, real = [], parse.Text._attempt

    def spy(self, types, n_before, head, *, whole):
        parsed.append(head)
        return real(self, types, n_before, head, whole=whole)

    monkeypatch.setattr(parse.Text, "_attempt", spy)
    run_stream(tmp_path / name, en.EAC(2), tmp_path / "l.csv", id_column="auto")
    assert [head is None for head in parsed] == [False, True, True]
