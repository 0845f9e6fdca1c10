"""Votes in a stream: the labels of memory, whatever the files, batches and threads."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import quorate as qr
from quorate import files
from quorate.scale import _output, _passes, stream
from quorate.testing import strategies

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ipc = pytest.importorskip("pyarrow.ipc")

WORDS = np.array(["a", "b", "c", "d", "e", "f", None], dtype=object)
HYPOTHESIS = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def make_votes(n=200, n_clusterings=5, seed=0, gaps=True):
    rng = np.random.default_rng(seed)
    votes = np.repeat((np.arange(n) % 3)[:, None], n_clusterings, axis=1)
    wrong = rng.random(votes.shape) < 0.2
    votes[wrong] = rng.integers(-1 if gaps else 0, 5, wrong.sum())
    votes[(votes < 0).all(axis=1), 0] = 0
    return votes


def table_of(votes, **types):
    return pa.table({f"m{m}": pa.array(column) for m, column in enumerate(votes.T)})


def labels_of(path, column="label"):
    return pq.read_table(path).column(column).to_numpy()


def in_memory(votes, estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit_predict(votes)


def run(sources, estimator, output, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return stream.consensus(sources, estimator, output, **options)


# -- the same labels -------------------------------------------------------------------------------


class TestEqualsMemory:
    @pytest.mark.parametrize("method", list(qr.METHODS))
    def test_by_every_method(self, method, tmp_path):
        votes = make_votes()
        options = (
            {"random_state": 0} if "random_state" in qr.METHODS[method]._get_param_names() else {}
        )
        estimator = qr.METHODS[method](3, **options)
        pq.write_table(table_of(votes), tmp_path / "v.parquet", row_group_size=37)
        result = run(
            tmp_path / "v.parquet",
            estimator,
            tmp_path / "l.parquet",
            confidence=True,
            batch_rows=50,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = qr.METHODS[method](3, **options).fit(votes)
        found = pq.read_table(tmp_path / "l.parquet")
        assert found.column_names == ["row", "label", "confidence"]
        assert found["row"].to_pylist() == list(range(len(votes)))
        np.testing.assert_array_equal(found["label"], expected.labels_)
        np.testing.assert_array_equal(found["confidence"], expected.confidence_)
        assert result.n_objects == len(votes)
        assert result.n_microclusters == expected.n_microclusters_
        assert not (tmp_path / "l.parquet.parts").exists()

    @HYPOTHESIS
    @given(data=st.data())
    def test_however_it_is_cut(self, data, tmp_path_factory):
        folder = tmp_path_factory.mktemp("stream")
        votes = data.draw(strategies.votes(max_objects=40))
        n = len(votes)
        named = data.draw(st.lists(st.booleans(), min_size=votes.shape[1], max_size=votes.shape[1]))
        n_files = data.draw(st.integers(1, 3))
        ends = sorted(
            data.draw(st.lists(st.integers(0, n), min_size=n_files - 1, max_size=n_files - 1))
        )
        paths = []
        for place, (start, stop) in enumerate(zip([0, *ends], [*ends, n], strict=True)):
            columns = {}
            for m, column in enumerate(votes[start:stop].T):
                if named[m]:
                    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
                    words = pa.array(WORDS[column].tolist(), pa.string())
                    kind = data.draw(st.sampled_from(kinds))
                    columns[f"m{m}"] = (
                        words.dictionary_encode().cast(kind)
                        if pa.types.is_dictionary(kind)
                        else words.cast(kind)
                    )
                else:
                    kinds = [
                        pa.int8(),
                        pa.int64(),
                        pa.float32(),
                        pa.dictionary(pa.int32(), pa.int16()),
                    ]
                    kind = data.draw(st.sampled_from(kinds))
                    missing = data.draw(st.sampled_from([-1, None]))
                    values = pa.array([missing if v < 0 else int(v) for v in column], pa.int16())
                    columns[f"m{m}"] = (
                        values.dictionary_encode()
                        if pa.types.is_dictionary(kind)
                        else values.cast(kind)
                    )
            path = folder / f"v{place}.parquet"
            if data.draw(st.booleans()):
                pq.write_table(
                    pa.table(columns), path, row_group_size=data.draw(st.integers(1, 20))
                )
            else:
                path = path.with_suffix(".arrow")
                with ipc.new_file(path, pa.table(columns).schema) as writer:
                    writer.write_table(pa.table(columns), max_chunksize=20)
            paths.append(path)
        k = min(2, len(np.unique(votes, axis=0)))
        run(
            paths,
            qr.EAC(k),
            folder / "l.parquet",
            batch_rows=data.draw(st.integers(1, 50)),
            n_jobs=data.draw(st.integers(1, 3)),
        )
        np.testing.assert_array_equal(labels_of(folder / "l.parquet"), in_memory(votes, qr.EAC(k)))

    @HYPOTHESIS
    @given(votes=strategies.votes(max_objects=30), rows=st.integers(1, 40), named=st.booleans())
    def test_of_text(self, votes, rows, named, tmp_path_factory):
        folder = tmp_path_factory.mktemp("text")
        cells = np.where(votes < 0, "", votes.astype(str))
        if named:
            cells = np.where(votes < 0, "NA", WORDS[votes]).astype(str)
        lines = [
            ",".join(f"m{m}" for m in range(votes.shape[1])),
            *(",".join(row) for row in cells),
        ]
        (folder / "v.csv").write_text("\n".join(lines) + "\n")
        k = min(2, len(np.unique(votes, axis=0)))
        run(folder / "v.csv", qr.EAC(k), folder / "l.csv", batch_rows=rows, header=True)
        table = files.read_table(folder / "v.csv", header=True, id_column=None)
        expected = in_memory(files.votes_of(table), qr.EAC(k))
        found = (
            files.read_table(folder / "l.csv").columns
            or files.read_table(folder / "l.csv").matrix.T
        )
        np.testing.assert_array_equal(np.asarray(found)[-1], expected)

    def test_of_numbers_that_need_64_bits(self, tmp_path):
        column = np.array([2**63 + 5, 3, 2**64 - 1, 2**62, 3, 2**63 + 5], dtype=np.uint64)
        other = np.array([-(2**63), 2**63 - 1, -1, 4, 2**63 - 1, -(2**63)])
        pq.write_table(
            pa.table({"a": column, "b": other}), tmp_path / "v.parquet", row_group_size=2
        )
        result = run(tmp_path / "v.parquet", qr.EAC(3), tmp_path / "l.parquet", batch_rows=2)
        table = files.read_table(tmp_path / "v.parquet")
        expected = qr.EAC(3).fit(files.votes_of(table))
        np.testing.assert_array_equal(labels_of(tmp_path / "l.parquet"), expected.labels_)
        assert list(result.estimator._ensemble.labels[0]) == [2**63 + 5, 3, 2**64 - 1, 2**62]

    def test_where_numbers_are_written_in_several_ways(self, tmp_path):
        (tmp_path / "v.csv").write_text("a,b\n1,x\n1.0,x\n 01,y\n2,y\n+2,NA\n")
        run(tmp_path / "v.csv", qr.EAC(2), tmp_path / "l.csv", batch_rows=2)
        table = files.read_table(tmp_path / "v.csv", id_column=None)
        expected = qr.EAC(2).fit_predict(files.votes_of(table))
        lines = ["row,label", *(f"{i},{label}" for i, label in enumerate(expected))]
        assert (tmp_path / "l.csv").read_text().split() == lines

    def test_at_several_k(self, tmp_path):
        votes = make_votes()
        pq.write_table(table_of(votes), tmp_path / "v.parquet")
        run(tmp_path / "v.parquet", qr.PTA(5), tmp_path / "l.parquet", cuts=range(2, 6))
        fitted = qr.PTA(5).fit(votes)
        found = pq.read_table(tmp_path / "l.parquet")
        assert found.column_names == ["row", "k2", "k3", "k4", "k5"]
        for k in range(2, 6):
            np.testing.assert_array_equal(found[f"k{k}"], fitted.cut(k))

    def test_of_one_row(self, tmp_path):
        pq.write_table(pa.table({"a": [4], "b": ["x"]}), tmp_path / "v.parquet")
        run(tmp_path / "v.parquet", qr.EAC(1), tmp_path / "l.parquet")
        assert labels_of(tmp_path / "l.parquet").tolist() == [0]

    @pytest.mark.parametrize("suffix", ["parquet", "csv"])
    def test_scores(self, suffix, tmp_path, monkeypatch):
        votes = make_votes(300)
        truth = np.array(["x", "y", "z", None], dtype=object)[np.arange(300) % 3]
        truth[::17] = None
        columns = {"gt": truth, **{f"m{m}": column for m, column in enumerate(votes.T)}}
        files.write_table(tmp_path / f"v.{suffix}", columns)
        monkeypatch.setattr(_passes, "PIECE_ROWS", 70)
        result = run(
            tmp_path / f"v.{suffix}",
            qr.PTA(4),
            tmp_path / "l.parquet",
            cuts=[2, 4],
            truth="gt",
            batch_rows=40,
        )
        fitted = qr.PTA(4).fit(votes)
        for k in (2, 4):
            labels = fitted.cut(k)
            np.testing.assert_array_equal(labels_of(tmp_path / "l.parquet", f"k{k}"), labels)
            assert result.scores[f"k{k}"] == (
                qr.metrics.nmi(truth, labels),
                qr.metrics.ari(truth, labels),
                pytest.approx(qr.metrics.ensemble_nmi(labels, votes), abs=1e-12),
            )

    def test_the_fitted_estimator_predicts(self, tmp_path):
        votes = make_votes(gaps=False)
        pq.write_table(table_of(votes), tmp_path / "v.parquet")
        estimator = qr.PTGP(3, random_state=0)
        result = run(tmp_path / "v.parquet", estimator, tmp_path / "l.parquet")
        assert not hasattr(estimator, "labels_")  # a clone was fitted
        new = np.vstack([votes[:20], [[7, 7, 7, 7, 7]]])
        expected = qr.PTGP(3, random_state=0).fit(votes).predict(new)
        np.testing.assert_array_equal(result.estimator.predict(qr.Ensemble(new)), expected)


# -- files -----------------------------------------------------------------------------------------


class TestFiles:
    def test_ids_pass_through(self, tmp_path):
        votes = make_votes(60)
        ids = [f"cell{i}" for i in range(60)]
        one = table_of(votes[:40]).add_column(0, "cell", pa.array(ids[:40]))
        two = table_of(votes[40:]).add_column(0, "cell", pa.array(ids[40:]).dictionary_encode())
        pq.write_table(one, tmp_path / "a.parquet")
        pq.write_table(two, tmp_path / "b.parquet")
        result = run(tmp_path, qr.EAC(3), tmp_path / "l.parquet", id_column="auto", batch_rows=7)
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
        run(tmp_path / "*.parquet", qr.EAC(2), tmp_path / "l.parquet", id_column="id")
        assert str(pq.read_table(tmp_path / "l.parquet").schema.field("id").type) == expected

    def test_a_folder_gets_a_file_for_each_input(self, tmp_path):
        votes = make_votes(50)
        (tmp_path / "in").mkdir()
        pq.write_table(table_of(votes[:20]), tmp_path / "in" / "a.parquet")
        pq.write_table(table_of(votes[:0]), tmp_path / "in" / "empty.parquet")
        pq.write_table(table_of(votes[20:]), tmp_path / "in" / "b.parquet")
        paths = [tmp_path / "in" / f"{name}.parquet" for name in ("a", "empty", "b")]
        run(paths, qr.EAC(3), f"{tmp_path}/out/")
        expected = in_memory(votes, qr.EAC(3))
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
        run(tmp_path / "v.parquet", qr.EAC(3), tmp_path / "l.parquet", columns=["m3", "m0", "m1"])
        np.testing.assert_array_equal(
            labels_of(tmp_path / "l.parquet"), in_memory(votes[:, [3, 0, 1]], qr.EAC(3))
        )

    def test_an_index_of_pandas_is_no_clustering(self, tmp_path):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(
            make_votes(30), columns=list("abcde"), index=[f"o{i}" for i in range(30)]
        )
        frame.to_parquet(tmp_path / "v.parquet")
        result = run(tmp_path / "v.parquet", qr.EAC(3), tmp_path / "l.csv", id_column="auto")
        assert len(result.names) == 5
        assert (tmp_path / "l.csv").read_text().splitlines()[1].startswith("o0,")

    def test_csv_without_pyarrow(self, tmp_path, monkeypatch):
        import importlib.util

        real = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name == "pyarrow" else real(name)
        )
        (tmp_path / "v.csv").write_text("id,a,b\nx,1,1\ny,1,2\nz,2,2\n")
        run(tmp_path / "v.csv", qr.EAC(2), tmp_path / "l.csv", id_column="id", confidence=True)
        assert (tmp_path / "l.csv").read_text().startswith("id,label,confidence\nx,0,")
        with pytest.raises(files.FileFormatError, match=r"quorate\[io\]"):
            run(tmp_path / "v.csv", qr.EAC(2), tmp_path / "l.parquet")


# -- what is refused -------------------------------------------------------------------------------


class TestComplaints:
    def refuse(self, match, sources, tmp_path, error=files.FileFormatError, **options):
        with pytest.raises(error, match=match):
            run(sources, options.pop("estimator", qr.EAC(2)), tmp_path / "l.parquet", **options)
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
            r"without a vote in any clustering: .*w\.parquet, row 2",
            [votes, tmp_path / "w.parquet"],
            tmp_path,
        )
        (tmp_path / "x.csv").write_text("a,b\n1,1\n2,2\n,NA\n")
        self.refuse(r"x\.csv, row 4\.", tmp_path / "x.csv", tmp_path, checkpoint=tmp_path / "c")

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
        self.refuse("holds no rows", tmp_path / "v.csv", tmp_path, header=True)

    def test_no_file(self, tmp_path):
        self.refuse("There is no file", tmp_path / "v.parquet", tmp_path, FileNotFoundError)
        self.refuse("No file matches", tmp_path / "*.parquet", tmp_path, FileNotFoundError)
        (tmp_path / "empty").mkdir()
        self.refuse("holds no file of votes", tmp_path / "empty", tmp_path)

    def test_formats_that_have_no_batches(self, tmp_path):
        np.save(tmp_path / "v.npy", make_votes())
        self.refuse("is NPY, and csv", tmp_path / "v.npy", tmp_path)

    def test_more_clusters_than_groups_and_then_fewer(self, votes, tmp_path):
        self.refuse("n_clusters", votes, tmp_path, ValueError, estimator=qr.EAC(10_000))
        with pytest.warns(UserWarning, match="Its index of the votes is used again"):
            stream.consensus(votes, qr.EAC(2), tmp_path / "l.parquet")

    @pytest.mark.parametrize("method", ["cspa", "hgpa", "ecmc"])
    def test_levels_that_need_all_objects(self, method, votes, tmp_path):
        estimator = qr.METHODS[method](2, level="objects")
        self.refuse("needs all objects in memory", votes, tmp_path, ValueError, estimator=estimator)
        groups = qr.Ensemble.of_groups(np.array([[0], [1]], np.int32), np.array([3, 4]), [[0, 1]])
        with pytest.raises(ValueError, match="only the 2 microclusters are known"):
            estimator.fit(groups)

    def test_a_folder_that_is_not_there(self, votes, tmp_path):
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            run(votes, qr.EAC(2), tmp_path / "nowhere" / "l.parquet")

    def test_a_folder_that_may_not_be_written(self, votes, tmp_path):
        shut = tmp_path / "shut"
        shut.mkdir()
        shut.chmod(0o500)
        try:
            if shut.owner() == "root":
                pytest.skip("root may write everywhere")
            with pytest.raises(PermissionError, match="cannot be"):
                run(votes, qr.EAC(2), shut / "l.parquet")
        finally:
            shut.chmod(0o700)

    def test_names_of_outputs_that_clash(self, votes, tmp_path):
        (tmp_path / "in").mkdir()
        pq.write_table(table_of(make_votes()), tmp_path / "in" / "v.parquet")
        with pytest.raises(files.FileFormatError, match="would both get"):
            run([votes, tmp_path / "in" / "v.parquet"], qr.EAC(2), f"{tmp_path}/out/")
        with pytest.raises(files.FileFormatError, match="is one of the inputs"):
            run(votes, qr.EAC(2), f"{tmp_path}/")

    def test_an_id_column_with_the_name_of_a_result(self, tmp_path):
        pq.write_table(pa.table({"label": [1, 2], "a": [1, 2]}), tmp_path / "v.parquet")
        self.refuse(
            "id column is called 'label'", tmp_path / "v.parquet", tmp_path, id_column="label"
        )

    def test_confidence_at_several_k(self, votes, tmp_path):
        self.refuse(
            "one number of clusters", votes, tmp_path, ValueError, cuts=[2, 3], confidence=True
        )


# -- memory ----------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_the_rows(tmp_path, monkeypatch):
    """Both passes over 3·10^6 rows take what they take over a tenth of them."""
    monkeypatch.setattr(_output, "_ROWS_OF_GROUP", 1 << 14)
    kinds = np.random.default_rng(0).integers(0, 4, (50, 4)).astype(np.uint8)
    peaks = []
    for n in (300_000, 3_000_000):
        rows = kinds[np.arange(n) % 50]
        path = tmp_path / f"v{n}.parquet"
        pq.write_table(table_of(rows), path, row_group_size=100_000)
        del rows
        tracemalloc.start()
        before = pa.total_allocated_bytes()
        run(path, qr.Vote(3), tmp_path / "l.parquet", batch_rows=1 << 14, n_jobs=2)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert pa.total_allocated_bytes() - before < 5e6
    assert peaks[1] < 1.3 * peaks[0] + 2e6
    assert peaks[1] < 10e6


def test_pieces_do_not_change_anything(tmp_path, monkeypatch):
    votes = make_votes(500)
    pq.write_table(table_of(votes[:330]), tmp_path / "a.parquet", row_group_size=64)
    pq.write_table(table_of(votes[330:]), tmp_path / "b.parquet", row_group_size=64)
    monkeypatch.setattr(_passes, "PIECE_ROWS", 50)
    for jobs in (1, 3):
        run(
            tmp_path / "[ab].parquet", qr.EAC(3), tmp_path / "l.parquet", batch_rows=33, n_jobs=jobs
        )
        np.testing.assert_array_equal(
            labels_of(tmp_path / "l.parquet"), in_memory(votes, qr.EAC(3))
        )
