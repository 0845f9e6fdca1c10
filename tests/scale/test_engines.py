"""One ensemble, one method, one seed: the same labels in memory, streamed in batches, on Dask."""

import names
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planted import noisy
from scale_helpers import in_memory, labels_of, pq, run_stream, table_of

import ensemblage as en
from ensemblage import flow
from ensemblage.methods import _shared_clusters
from ensemblage.scale import dask as on_dask
from ensemblage.testing.strategies import odd_votes

pytest.importorskip("dask.distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

#: There are twenty methods, and each example is fitted three times.
FEW = settings(
    max_examples=settings().max_examples // 6,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")
@pytest.mark.filterwarnings("ignore::ensemblage.TransposedVotesWarning")
@pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")
@pytest.mark.parametrize("name", names.METHODS)
@FEW
@given(data=st.data())
def test_engines_are_equal(name, data, client, tmp_path):
    votes = data.draw(odd_votes(max_objects=12, max_clusterings=4))
    k = data.draw(st.integers(1, len(np.unique(votes, axis=0))))
    rows = data.draw(st.integers(1, len(votes)))
    estimator = en.METHODS[name](k)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    check_engines(votes, estimator, rows, client, tmp_path)


@pytest.mark.parametrize("name", ["eac", "weac", "lwea", "auto"])
def test_engines_are_equal_where_the_tree_is_made_without_pairs(
    name, client, tmp_path, monkeypatch
):
    monkeypatch.setattr(_shared_clusters, "MOST_PAIRED", 0)
    monkeypatch.setattr(flow, "average_link", None)  # which is not called
    votes = noisy([40, 30, 20], 6, 0.4, seed=3)[0]
    estimator = en.Consensus(3, random_state=0) if name == "auto" else en.METHODS[name](3)
    check_engines(votes, estimator, 17, client, tmp_path)


@pytest.mark.parametrize("k", [3, "auto"])
def test_names_and_confidence_are_equal(k, client, tmp_path):
    words = np.array(["gamma", "alpha", "a longer name"])
    frame = pd.DataFrame(words[noisy([20, 15, 10], 5, 0.3, seed=1)[0]], columns=list("abcde"))
    estimator = en.Consensus(k, random_state=0)
    fitted = in_memory(frame, estimator)
    expected = pd.DataFrame({"label": fitted.labels_, "confidence": fitted.confidence_})

    path, output = tmp_path / "votes.parquet", tmp_path / "l.parquet"
    frame.to_parquet(path, row_group_size=7)
    run_stream(path, estimator, output, batch_rows=7, confidence=True)
    pd.testing.assert_frame_equal(pd.read_parquet(output)[list(expected)], expected)

    parts = dd.from_pandas(frame, npartitions=4)
    found = on_dask.consensus(parts, estimator, client=client, confidence=True)
    pd.testing.assert_frame_equal(client.compute(found).result(), expected)


def check_engines(votes, estimator, rows, client, tmp_path):
    """Compare the labels of memory, of a stream and of Dask, in batches of so many rows."""
    expected = in_memory(votes, estimator).labels_

    pq.write_table(table_of(votes), tmp_path / "votes.parquet", row_group_size=rows)
    run_stream(tmp_path / "votes.parquet", estimator, tmp_path / "l.parquet", batch_rows=rows)
    np.testing.assert_array_equal(labels_of(tmp_path / "l.parquet"), expected)

    chunks = da.from_array(votes, chunks=(rows, votes.shape[1]))
    found = on_dask.consensus(chunks, estimator, client=client)
    np.testing.assert_array_equal(client.compute(found).result(), expected)
