"""Votes in a stream: the labels of memory, whatever the batches and threads."""

import tracemalloc

import names
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scale_helpers import in_memory, labels_of, make_votes, run_stream, table_of

import ensemblage as en
from ensemblage import tables
from ensemblage.scale import _output, _passes
from ensemblage.testing import strategies

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ipc = pytest.importorskip("pyarrow.ipc")

pytestmark = pytest.mark.usefixtures("one_thread")
WORDS = np.array(["a", "b", "c", "d", "e", "f", None], dtype=object)
HYPOTHESIS = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


class TestEqualsMemory:
    @pytest.mark.parametrize("method", names.METHODS)
    def test_by_every_method(self, method, tmp_path):
        votes = make_votes()
        options = (
            {"random_state": 0} if "random_state" in en.METHODS[method]._get_param_names() else {}
        )
        estimator = en.METHODS[method](3, **options)
        pq.write_table(table_of(votes), tmp_path / "v.parquet", row_group_size=37)
        result = run_stream(
            tmp_path / "v.parquet",
            estimator,
            tmp_path / "l.parquet",
            confidence=True,
            batch_rows=50,
        )
        expected = in_memory(votes, en.METHODS[method](3, **options))
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
        run_stream(
            paths,
            en.EAC(k),
            folder / "l.parquet",
            batch_rows=data.draw(st.integers(1, 50)),
            n_jobs=data.draw(st.integers(1, 3)),
        )
        np.testing.assert_array_equal(
            labels_of(folder / "l.parquet"), in_memory(votes, en.EAC(k)).labels_
        )

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
        run_stream(folder / "v.csv", en.EAC(k), folder / "l.csv", batch_rows=rows, header=True)
        table = tables.read(folder / "v.csv", header=True, id_column=None)
        expected = in_memory(tables.votes_of(table), en.EAC(k)).labels_
        found = tables.read(folder / "l.csv").columns or tables.read(folder / "l.csv").matrix.T
        np.testing.assert_array_equal(np.asarray(found)[-1], expected)

    def test_of_numbers_that_need_64_bits(self, tmp_path):
        column = np.array([2**63 + 5, 3, 2**64 - 1, 2**62, 3, 2**63 + 5], dtype=np.uint64)
        other = np.array([-(2**63), 2**63 - 1, -1, 4, 2**63 - 1, -(2**63)])
        pq.write_table(
            pa.table({"a": column, "b": other}), tmp_path / "v.parquet", row_group_size=2
        )
        result = run_stream(tmp_path / "v.parquet", en.EAC(3), tmp_path / "l.parquet", batch_rows=2)
        table = tables.read(tmp_path / "v.parquet")
        expected = en.EAC(3).fit(tables.votes_of(table))
        np.testing.assert_array_equal(labels_of(tmp_path / "l.parquet"), expected.labels_)
        assert list(result.estimator._ensemble.labels[0]) == [2**63 + 5, 3, 2**64 - 1, 2**62]

    def test_where_numbers_are_written_in_several_ways(self, tmp_path):
        (tmp_path / "v.csv").write_text("a,b\n1,x\n1.0,x\n 01,y\n2,y\n+2,NA\n")
        run_stream(tmp_path / "v.csv", en.EAC(2), tmp_path / "l.csv", batch_rows=2)
        table = tables.read(tmp_path / "v.csv", id_column=None)
        expected = en.EAC(2).fit_predict(tables.votes_of(table))
        lines = ["row,label", *(f"{i},{label}" for i, label in enumerate(expected))]
        assert (tmp_path / "l.csv").read_text().split() == lines

    def test_at_several_k(self, tmp_path):
        votes = make_votes()
        pq.write_table(table_of(votes), tmp_path / "v.parquet")
        run_stream(tmp_path / "v.parquet", en.PTA(5), tmp_path / "l.parquet", cuts=range(2, 6))
        fitted = en.PTA(5).fit(votes)
        found = pq.read_table(tmp_path / "l.parquet")
        assert found.column_names == ["row", "k2", "k3", "k4", "k5"]
        for k in range(2, 6):
            np.testing.assert_array_equal(found[f"k{k}"], fitted.cut(k))

    def test_of_one_row(self, tmp_path):
        pq.write_table(pa.table({"a": [4], "b": ["x"]}), tmp_path / "v.parquet")
        run_stream(tmp_path / "v.parquet", en.EAC(1), tmp_path / "l.parquet")
        assert labels_of(tmp_path / "l.parquet").tolist() == [0]

    @pytest.mark.parametrize("suffix", ["parquet", "csv"])
    def test_scores(self, suffix, tmp_path, monkeypatch):
        votes = make_votes(300)
        truth = np.array(["x", "y", "z", None], dtype=object)[np.arange(300) % 3]
        truth[::17] = None
        columns = {"gt": truth, **{f"m{m}": column for m, column in enumerate(votes.T)}}
        tables.write(tmp_path / f"v.{suffix}", columns)
        monkeypatch.setattr(_passes, "PIECE_ROWS", 70)
        result = run_stream(
            tmp_path / f"v.{suffix}",
            en.PTA(4),
            tmp_path / "l.parquet",
            cuts=[2, 4],
            truth="gt",
            batch_rows=40,
        )
        fitted = en.PTA(4).fit(votes)
        for k in (2, 4):
            labels = fitted.cut(k)
            np.testing.assert_array_equal(labels_of(tmp_path / "l.parquet", f"k{k}"), labels)
            assert result.scores[f"k{k}"] == (
                en.metrics.nmi(truth, labels),
                en.metrics.ari(truth, labels),
                pytest.approx(en.metrics.ensemble_nmi(labels, votes), abs=1e-12),
            )

    def test_the_fitted_estimator_predicts(self, tmp_path):
        votes = make_votes(gaps=False)
        pq.write_table(table_of(votes), tmp_path / "v.parquet")
        estimator = en.PTGP(3, random_state=0)
        result = run_stream(tmp_path / "v.parquet", estimator, tmp_path / "l.parquet")
        assert not hasattr(estimator, "labels_")  # a clone was fitted
        new = np.vstack([votes[:20], [[7, 7, 7, 7, 7]]])
        expected = en.PTGP(3, random_state=0).fit(votes).predict(new)
        np.testing.assert_array_equal(result.estimator.predict(en.Ensemble(new)), expected)


def test_pieces_do_not_change_anything(tmp_path, monkeypatch):
    votes = make_votes(500)
    pq.write_table(table_of(votes[:330]), tmp_path / "a.parquet", row_group_size=64)
    pq.write_table(table_of(votes[330:]), tmp_path / "b.parquet", row_group_size=64)
    monkeypatch.setattr(_passes, "PIECE_ROWS", 50)
    for jobs in (1, 3):
        run_stream(
            tmp_path / "[ab].parquet", en.EAC(3), tmp_path / "l.parquet", batch_rows=33, n_jobs=jobs
        )
        np.testing.assert_array_equal(
            labels_of(tmp_path / "l.parquet"), in_memory(votes, en.EAC(3)).labels_
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
        run_stream(path, en.Vote(3), tmp_path / "l.parquet", batch_rows=1 << 14, n_jobs=2)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert pa.total_allocated_bytes() - before < 5e6
    assert peaks[1] < 1.3 * peaks[0] + 2e6
    assert peaks[1] < 10e6
