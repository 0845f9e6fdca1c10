"""Votes on a Dask cluster: the labels of memory, whatever the partitions."""

import os
from decimal import Decimal
from pathlib import Path

import joblib
import numpy as np
import pytest
from scale_helpers import in_memory, labels_of, make_votes, write_parts

import ensemblage as en
from ensemblage import tables
from ensemblage.scale import _index, stream
from ensemblage.scale import dask as on_dask

pytest.importorskip("dask.distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are killed as POSIX does")


def frame_of_many_kinds(votes):
    """Return the votes as names, categories, nullable numbers, floats and numbers."""
    words = np.array(["delta", "beta", "alpha", "gamma", "epsilon", None], dtype=object)
    frame = pd.DataFrame({f"m{m}": column for m, column in enumerate(votes.T)})
    frame["m0"] = pd.array(words[votes[:, 0]], dtype="string")
    frame["m1"] = pd.Categorical(words[votes[:, 1]])
    frame["m2"] = frame["m2"].where(votes[:, 2] >= 0).astype("Int16")
    frame["m3"] = frame["m3"].where(votes[:, 3] >= 0).astype(float)
    return frame


# -- collections -----------------------------------------------------------------------------------


class TestDataFrame:
    @pytest.fixture
    def frame(self):
        frame = frame_of_many_kinds(make_votes()).set_index(np.linspace(0, 1, 200))
        return dd.from_pandas(frame, npartitions=4)

    def test_labels_are_those_of_memory(self, client, frame):
        whole = frame.compute()
        found = on_dask.consensus(frame, en.PTGP(3, random_state=0), client=client)
        assert isinstance(found, dd.Series)
        assert found.npartitions == frame.npartitions
        assert found.divisions == frame.divisions
        expected = en.PTGP(3, random_state=0).fit_predict(whole)
        pd.testing.assert_series_equal(client.compute(found).result(), expected)

    def test_they_need_no_cluster_any_more(self, client, frame):
        found = on_dask.consensus(frame, en.EAC(3), client=client)
        expected = en.EAC(3).fit_predict(frame.compute())
        np.testing.assert_array_equal(found.compute(scheduler="sync"), expected)

    def test_clusters_are_numbered_by_size_where_that_is_asked_for(self, client, frame):
        found = on_dask.consensus(frame, en.EAC(3), client=client, by_size=True)
        expected = en.metrics.by_size(en.EAC(3).fit_predict(frame.compute()))
        np.testing.assert_array_equal(found.compute(scheduler="sync"), expected)

    def test_they_become_a_column_of_the_votes(self, client, frame):
        votes = frame.clear_divisions()
        labels = on_dask.consensus(votes, en.EAC(3), client=client, columns=["m1", "m2", "m4"])
        found = client.compute(votes.assign(label=labels)).result()
        expected = in_memory(frame.compute()[["m1", "m2", "m4"]], en.EAC(3)).labels_
        np.testing.assert_array_equal(found["label"], expected)

    def test_empty_partitions(self, client, frame):
        parts = [frame.partitions[i] for i in range(4)]
        nothing = parts[0].map_partitions(lambda part: part.iloc[:0], meta=frame._meta)
        pieces = [nothing, parts[0], nothing, *parts[1:], nothing]
        cut = dd.from_delayed([d for piece in pieces for d in piece.to_delayed()], meta=frame._meta)
        assert 0 in client.compute(cut.map_partitions(len)).result().tolist()
        found = client.compute(on_dask.consensus(cut, en.EAC(3), client=client)).result()
        np.testing.assert_array_equal(found, in_memory(frame.compute(), en.EAC(3)).labels_)

    def test_confidence_and_cuts(self, client, frame):
        fitted = in_memory(frame.compute(), en.PTA(4))
        found = on_dask.consensus(frame, en.PTA(4), client=client, confidence=True)
        found = client.compute(found).result()
        np.testing.assert_array_equal(found["label"], fitted.labels_)
        np.testing.assert_array_equal(found["confidence"], fitted.confidence_)
        found = on_dask.consensus(frame, en.PTA(4), client=client, cuts=[2, 4])
        found = client.compute(found).result()
        assert list(found.columns) == ["k2", "k4"]
        np.testing.assert_array_equal(found["k2"], fitted.cut(2))

    @pytest.mark.parametrize("target", ["l.parquet", "l.csv", "out/"])
    def test_to_files(self, client, frame, target, tmp_path):
        output = f"{tmp_path}/{target}"
        whole = frame.compute()
        whole["cell"] = [f"c{i}" for i in range(200)]
        named = dd.from_pandas(whole, npartitions=4)
        result = on_dask.consensus(named, en.EAC(3), output, client=client, id_column="cell")
        assert (result.n_objects, result.id_name) == (200, "cell")
        paths = sorted(Path(output).iterdir()) if target == "out/" else [Path(output)]
        assert len(paths) == (4 if target == "out/" else 1)
        found = [tables.read(path, id_column="cell") for path in paths]
        np.testing.assert_array_equal(
            np.concatenate([table.ids for table in found]), [f"c{i}" for i in range(200)]
        )
        labels = np.concatenate([np.ravel(table.matrix) for table in found])
        np.testing.assert_array_equal(labels, in_memory(frame.compute(), en.EAC(3)).labels_)
        assert [path.name for path in tmp_path.iterdir()] == [target.rstrip("/")]

    @pytest.mark.parametrize("name", ["l.parquet", "l.csv"])
    def test_columns_pass_through(self, client, name, tmp_path):
        votes = pd.DataFrame(make_votes(), columns=list("abcde"))
        whole = votes.assign(batch=np.arange(200) % 7, share=np.arange(200) / 8, note="q, r")
        frame = dd.from_pandas(whole, npartitions=3)
        keep = ["note", "share", "batch"]
        on_dask.consensus(frame, en.EAC(3), tmp_path / name, client=client, keep=keep)
        found = tables.read_features(tmp_path / name, id_column="row").columns
        assert list(found) == ["label", *keep]
        np.testing.assert_array_equal(found["label"], in_memory(votes, en.EAC(3)).labels_)
        for column in keep:
            np.testing.assert_array_equal(found[column], whole[column])

    @pytest.mark.parametrize(
        ("values", "texts"),
        [
            (pd.array([2**53 + 1, None, 3, 2**53 + 1, 5, 6], "Int64"), None),
            (pd.array([1, None, 2.5, 3, 4, 5], "Float64"), ["1.0", "", "2.5", "3.0", "4.0", "5.0"]),
            (pd.array(["a", None, "c", "d", "e", "f"], "string"), None),
            (pd.Categorical(["a", None, "c", "a", "b", "c"]), None),
            (pd.Categorical([2**70, None, 3, 4, 5, 6]), None),
            (pd.array([True, None, False] * 2, "boolean"), None),
            (np.array([1.0, np.nan, 2, 3, 4, 5]), ["1.0", "", "2.0", "3.0", "4.0", "5.0"]),
            (np.array([2**70, None, "x", 1, 2, 3], object), None),
            (
                pd.to_datetime(["2020-01-01", None, "2021-01-01T03"] * 2, format="ISO8601"),
                ["2020-01-01", "", "2021-01-01T03:00:00"] * 2,
            ),
            (
                pd.to_datetime(["2020-01-01", None, "2021-01-01"] * 2, utc=True),
                ["2020-01-01T00:00:00+00:00", "", "2021-01-01T00:00:00+00:00"] * 2,
            ),
        ],
    )
    def test_ids_do_not_depend_on_the_partition(self, client, values, texts, tmp_path):
        votes = {"a": [0, 0, 1, 1, 0, 1], "b": [0, 0, 1, 1, 0, 0]}
        frame = dd.from_pandas(pd.DataFrame({7: values, **votes}), npartitions=2)
        texts = texts or ["" if pd.isna(value) else str(value) for value in values]
        use = {"id_column": 7, "client": client}
        on_dask.consensus(frame, en.EAC(2), tmp_path / "l.csv", **use)
        rows = (tmp_path / "l.csv").read_text().splitlines()
        assert [row.split(",")[0] for row in rows] == ["7", *texts]
        on_dask.consensus(frame, en.EAC(2), tmp_path / "l.parquet", **use)
        assert pq.read_table(tmp_path / "l.parquet").column("7").null_count == texts.count("")

    def test_names_of_the_output_differ(self, client, tmp_path):
        frame = pd.DataFrame({7: [0, 1], "7": [0, 1], "a": [0, 1], "b": [0, 1]})
        votes = dd.from_pandas(frame, npartitions=1)
        with pytest.raises(ValueError, match="written alike"):
            on_dask.consensus(votes, en.EAC(2), tmp_path / "l.csv", keep=["7"], id_column=7)

    def test_categories_beyond_64_bits(self, client):
        labels = pd.Categorical([2**70, 2**71, 2**70, 2**71])
        frame = pd.DataFrame({"a": labels, "b": [0, 1, 0, 1]})
        found = on_dask.consensus(dd.from_pandas(frame, npartitions=2), en.EAC(2), client=client)
        assert client.compute(found).result().tolist() == [0, 1, 0, 1]

    def test_times_that_are_missing_and_tuples_with_nan(self, client):
        times = np.array([np.datetime64("2020"), np.datetime64("NaT")] * 3, object)
        tuples = [(0, float("nan")), (1, 2)] * 3
        with dask.config.set({"dataframe.convert-string": False}):
            first, second = (
                dd.from_pandas(pd.DataFrame({"a": labels, "b": [0, 1] * 3}), npartitions=2)
                for labels in (times, tuples)
            )
            found = on_dask.consensus(first, en.EAC(2), client=client)
            assert client.compute(found).result().tolist() == [0, 1] * 3
            with pytest.raises(ValueError, match="Use None in place of NaN"):
                on_dask.consensus(second, en.EAC(2), client=client)

    @pytest.mark.parametrize("converts", [True, False])
    def test_objects_are_what_dask_makes_of_them(self, client, converts):
        """docs/scale.md: by default it makes texts of them, so 2 is not 2.0 and -1 is a name."""
        labels = [*map(Decimal, (-1, 1, 2)), Decimal("NaN"), Decimal(1), Decimal("2.0")]
        frame = pd.DataFrame({"a": pd.Series(labels, dtype=object), "b": [0, 0, 1, 1, 0, 1]})
        with dask.config.set({"dataframe.convert-string": converts}):
            votes = dd.from_pandas(frame, npartitions=2)
            found = client.compute(on_dask.consensus(votes, en.EAC(2), client=client)).result()
        if converts:
            texts = [None if label.is_nan() else str(label) for label in labels]
            frame["a"] = pd.Series(texts, dtype="string")
        expected = in_memory(frame, en.EAC(2))
        np.testing.assert_array_equal(found, expected.labels_)
        assert expected.microclusters_.table[:, 0].max() + 1 == (4 if converts else 2)

    def test_scores(self, client, tmp_path):
        votes, truth = make_votes(), np.arange(200) % 3
        frame = pd.DataFrame(votes, columns=list("abcde")).assign(gt=truth)
        frame = dd.from_pandas(frame, npartitions=3)
        output = tmp_path / "l.parquet"
        result = on_dask.consensus(frame, en.EAC(3), output, client=client, truth="gt")
        expected = in_memory(votes, en.EAC(3)).labels_
        np.testing.assert_array_equal(labels_of(output), expected)
        assert result.scores["label"].nmi == en.metrics.nmi(truth, expected)

    def test_numbers_of_any_size_and_with_fractions(self, client):
        frame = pd.DataFrame(
            {
                "a": [1.0, 2.0, 1.0, np.nan, 1.0, 2.5, 2.5, 1e300],
                "b": np.array([2**64 - 1, 3, 2**64 - 1, 3, 3, 3, 2**63 + 1, 3], dtype=np.uint64),
                "c": [True, False] * 4,
                "d": [-(2**63), 2**63 - 1, 5, 5, 5, -(2**63), 2**63 - 1, 5],
            }
        )
        with pytest.warns(en.FeaturesAsVotesWarning, match="2.5"):
            found = on_dask.consensus(
                dd.from_pandas(frame, npartitions=3), en.EAC(3), client=client
            )
        expected = in_memory(frame, en.EAC(3)).labels_
        np.testing.assert_array_equal(client.compute(found).result(), expected)


class TestArray:
    @pytest.mark.parametrize("kind", ["int8", "float", "U", "object"])
    def test_labels_are_those_of_memory(self, client, kind):
        votes = make_votes()
        if kind == "U":
            votes = np.array(["u", "v", "w", "x", "y", "z"])[votes]
        elif kind == "object":
            votes = np.array(["u", 1, ("w", 2), "x", "y", None], dtype=object)[votes]
        else:
            votes = np.where(votes < 0, np.nan if kind == "float" else -1, votes).astype(kind)
        array = da.from_array(votes, chunks=(60, 2))
        found = on_dask.consensus(array, en.EAC(3), client=client)
        assert found.chunks == (array.chunks[0],)
        expected = in_memory(votes, en.EAC(3)).labels_
        np.testing.assert_array_equal(client.compute(found).result(), expected)

    def test_chunks_of_unknown_size(self, client):
        votes = make_votes(gaps=False)
        array = da.from_array(votes, chunks=(60, 5))
        array = array[array[:, 0] < 2]
        found = on_dask.consensus(array, en.PTA(3), client=client, cuts=[2, 3])
        fitted = en.PTA(3).fit(votes[votes[:, 0] < 2])
        expected = np.column_stack([fitted.cut(2), fitted.cut(3)])
        np.testing.assert_array_equal(client.compute(found).result(), expected)


# -- files -----------------------------------------------------------------------------------------


class TestFiles:
    @pytest.mark.parametrize("method", ["ptgp", "pta", "eac", "vote"])
    def test_labels_are_those_of_a_stream(self, client, method, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)  # the workers stand elsewhere
        votes = make_votes()
        write_parts(votes, tmp_path)
        seed = {"random_state": 0} if method == "ptgp" else {}
        options = {"id_column": "cell", "confidence": True}
        estimator = en.METHODS[method](3, **seed)
        stream.consensus("v*.parquet", estimator, "s.parquet", **options)
        result = on_dask.consensus(
            "v*.parquet", estimator, "d.parquet", client=client, task_rows=30, **options
        )
        assert pq.read_table("d.parquet").equals(pq.read_table("s.parquet"))
        np.testing.assert_array_equal(labels_of("d.parquet"), in_memory(votes, estimator).labels_)
        assert result.n_objects == 200
        assert not Path("d.parquet.parts").exists()

    def test_a_folder_and_several_formats(self, client, tmp_path):
        votes = make_votes(90)
        (tmp_path / "in").mkdir()
        words = np.array(["a", "b", "c", "d", "e", None], dtype=object)
        for place, suffix in enumerate(["parquet", "csv", "arrow"]):
            rows = votes[30 * place : 30 * place + 30]
            columns = {"m0": words[rows[:, 0]], **{f"m{m}": rows[:, m] for m in range(1, 5)}}
            path = tmp_path / "in" / f"{place}.{suffix}"
            if suffix == "arrow":
                table = pa.table(columns)
                with pa.ipc.new_file(path, table.schema) as writer:
                    writer.write_table(table, max_chunksize=7)
            else:
                tables.write(path, columns)
        on_dask.consensus(
            tmp_path / "in", en.EAC(3), f"{tmp_path}/out/", client=client, task_rows=8
        )
        found = [
            tables.read(tmp_path / "out" / name, id_column="row").matrix.ravel()
            for name in ("0.parquet", "1.csv", "2.parquet")
        ]
        np.testing.assert_array_equal(np.concatenate(found), in_memory(votes, en.EAC(3)).labels_)

    def test_files_without_rows(self, client, tmp_path):
        votes = make_votes(50)
        paths = write_parts(votes, tmp_path, n_files=2)
        empty = pq.read_table(paths[0]).slice(0, 0)
        for name in ("none.arrow", "none.parquet"):  # no record batch, and no row group
            with pa.OSFile(str(tmp_path / name), "wb") as file:
                writer = pa.ipc.new_file if name == "none.arrow" else pq.ParquetWriter
                writer(file, empty.schema).close()
            paths.insert(1, tmp_path / name)
        output = tmp_path / "l.parquet"
        on_dask.consensus(paths, en.EAC(3), output, client=client, id_column="cell")
        np.testing.assert_array_equal(labels_of(output), in_memory(votes, en.EAC(3)).labels_)

    def test_a_run_goes_on_from_what_is_finished(self, client, tmp_path, monkeypatch):
        votes = make_votes()
        paths = write_parts(votes, tmp_path)
        output = tmp_path / "l.parquet"

        def fail(*_):
            raise OSError("no room")

        with monkeypatch.context() as patched:
            patched.setattr("ensemblage.scale._passes.replacing", fail)
            with pytest.raises(OSError, match="no room"):
                on_dask.consensus(
                    paths, en.EAC(3), output, client=client, task_rows=30, id_column="cell"
                )
        assert len(list((tmp_path / "l.parquet.parts").glob("part-*"))) > 3
        result = on_dask.consensus(
            paths, en.EAC(3), output, client=client, task_rows=30, id_column="cell"
        )
        assert result.estimator is None  # its labels were kept
        np.testing.assert_array_equal(labels_of(output), in_memory(votes, en.EAC(3)).labels_)


def test_indices_merge_as_if_read_at_once(tmp_path):
    votes = make_votes(120)
    words = np.array(["a", "b", "c", "d", "e", None], dtype=object)
    wide = np.where(votes[:, 1] < 0, -1, votes[:, 1] + 2**62 * (votes[:, 1] > 1))
    table = pa.table({"x": words[votes[:, 0]], "y": wide, "z": votes[:, 2] * 1000})
    pq.write_table(table, tmp_path / "v.parquet", row_group_size=10)
    (source,) = tables.scan(tmp_path / "v.parquet", id_column=None, batch_rows=7)
    spans = source.spans(25)
    assert spans[0] == (0, 20)
    assert spans[-1][1] == 120
    whole = _index.index_of(source)
    parts = [_index.packed(_index.index_of(source, *span)) for span in spans]
    found = _index.merged([_index.merged(parts[:2]), _index.merged(parts[2:])])
    assert [each["n_rows"] for each in found.learned] == [stop - start for start, stop in spans]
    one, other = whole.groups.codes(), _index.unpacked(found).groups.codes()
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(whole.groups.sizes(), found.sizes)
    for m in range(3):
        assert list(whole.labels[m].meaning(one[1][m])) == list(
            found.labels[m].meaning(other[1][m])
        )


# -- ensembles -------------------------------------------------------------------------------------


def test_generating_on_a_cluster_gives_equal_votes(client):
    features = np.random.default_rng(0).normal(size=(120, 4))
    options = {"n_members": 6, "method": ["kmeans", "rpcl"], "random_state": 3}
    expected = en.ensembles.generate(features, n_jobs=1, **options)
    with joblib.parallel_config(backend="dask", client=client):
        found = en.ensembles.generate(features, **options)
    np.testing.assert_array_equal(found, expected)
