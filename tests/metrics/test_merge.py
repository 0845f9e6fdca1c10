"""`ensemblage.refine.merge`, beside a twin that tries every merge and compares again."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import ensemblage as en
from ensemblage.refine import merge
from ensemblage.testing.strategies import votes

SPLIT = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 2, 1], [1, 2, 1], [1, 2, 2]])


def agreement(a, b, metric):
    """Of two columns of labels over the objects that have both, by scikit-learn."""
    both = (a != -1) & (b != -1)
    if not both.any():
        return 0.0
    score = adjusted_rand_score if metric == "ari" else normalized_mutual_info_score
    one, other = (len(set(x[both].tolist())) for x in (a, b))
    if metric == "nmi" and min(one, other) == 1:
        return float(one == other)
    return score(a[both], b[both])


def gain_of(matrix, m, pair, metric):
    """The mean change over the other clusterings if two clusters of one are merged."""
    before, others = matrix[:, m], np.delete(matrix, m, axis=1).T
    after = np.where(before == pair[1], pair[0], before)
    return np.mean(
        [agreement(after, other, metric) - agreement(before, other, metric) for other in others]
    )


def clusters_of(column):
    return sorted(set(column.tolist()) - {-1})


def all_gains(matrix, metric, compared):
    part = matrix[:, compared]
    return [
        gain_of(part, m, pair, metric)
        for m in range(len(compared))
        for pair in combinations([c for c in clusters_of(part[:, m]) if c != 99], 2)
    ]


@settings(deadline=None)
@given(
    votes(max_objects=14, max_clusterings=4),
    st.sampled_from(["nmi", "ari"]),
    st.sampled_from(["ignore", "cluster"]),
)
@example(SPLIT, "nmi", "ignore")
@example(SPLIT, "ari", "cluster")
def test_every_merge_is_the_best_one(matrix, metric, missing):
    found = merge(matrix, metric, missing=missing)
    now = np.where((matrix == -1) & (missing == "cluster"), 99, matrix)
    compared = [m for m, column in enumerate(matrix.T) if len(clusters_of(column)) > 1]
    left = None
    for step in found.merges:
        place = compared.index(step.member)
        gain = gain_of(now[:, compared], place, (step.kept, step.merged), metric)
        assert step.gain == pytest.approx(gain, abs=1e-9)
        assert gain >= max(all_gains(now, metric, compared)) - 1e-9
        assert gain > 0
        now[now[:, step.member] == step.merged, step.member] = step.kept
        left = [c for c in clusters_of(now[:, step.member]) if c != 99]
    np.testing.assert_array_equal(found.votes, np.where(matrix == -1, -1, now))
    assert found.n_clusters.tolist() == [len(clusters_of(column)) for column in found.votes.T]
    if len(compared) > 1 and (left is None or len(left) > 1):  # nothing is gained any more
        assert max(all_gains(now, metric, compared)) <= 1e-9


def test_many_updates_leave_the_gains_exact():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 200)
    # Each clustering splits other true groups, into three parts.
    matrix = np.column_stack([
        3 * truth + np.where(np.isin(truth, (m, m + 1)), rng.integers(0, 3, 200), 0)
        for m in range(4)
    ])  # fmt: skip
    for metric in ("nmi", "ari"):
        found = merge(matrix, metric)
        assert len(found.merges) == 4 * 4
        now = matrix.copy()
        for step in found.merges:
            gain = gain_of(now, step.member, (step.kept, step.merged), metric)
            assert step.gain == pytest.approx(gain, abs=1e-12)
            now[now[:, step.member] == step.merged, step.member] = step.kept
        for column in found.votes.T:
            assert en.metrics.ari(column, truth) == 1.0


@settings(deadline=None)
@given(votes(max_objects=14, max_clusterings=4), st.just(0.0) | st.floats(1e-9, 1))
def test_a_share_of_the_gain_is_the_first_merges_that_reach_it(matrix, p):
    whole, part = merge(matrix), merge(matrix, p=p)
    n = len(part.merges)
    assert part.merges == whole.merges[:n]
    assert part.gains.sum() >= p * whole.gains.sum() - 1e-9
    if n:
        assert p > 0
        assert part.gains[:-1].sum() < p * whole.gains.sum()


def test_names_of_clusters_change_nothing_but_names():
    pd = pytest.importorskip("pandas")
    names = np.array(["x", "y", "z"])
    table = pd.DataFrame(names[SPLIT], columns=["a", "b", "c"], index=list("pqrstu"))
    found = merge(table)
    plain = merge(SPLIT)
    assert [step.member for step in found.merges] == ["abc"[step.member] for step in plain.merges]
    assert found.votes.index.tolist() == list("pqrstu")
    assert found.votes.columns.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(found.votes.to_numpy(), names[plain.votes])
    np.testing.assert_array_equal(found.gains, plain.gains)


def test_tables_of_polars_and_arrow_come_back_as_such():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = {"a": [0, 0, 0, 1], "b": ["x", "y", None, "z"], "c": [0, 0, 1, 1]}
    for table in (pl.DataFrame(columns), pa.table(columns)):
        found = merge(table)
        assert type(found.votes) is type(table)
        assert found.votes.shape == (4, 3)


def test_missing_votes_stay_missing():
    matrix = SPLIT.copy()
    matrix[0, 1] = -1
    for missing in ("ignore", "cluster"):
        found = merge(matrix, missing=missing)
        np.testing.assert_array_equal(found.votes == -1, matrix == -1)
    floats = np.where(matrix == -1, np.nan, matrix)
    np.testing.assert_array_equal(merge(floats).votes, merge(matrix).votes)


@pytest.mark.parametrize(
    "matrix",
    [[[0], [1]], [[0, 0], [0, 1]], [[0, 0], [0, 0]], [[0, 0], [1, 1]], [[0, -1], [1, -1]]],
)
def test_nothing_to_merge(matrix):
    found = merge(np.array(matrix))
    assert found.merges == []
    assert found.gains.shape == (0,)
    np.testing.assert_array_equal(found.votes, matrix)


@pytest.mark.parametrize(
    ("options", "parameter"),
    [({"metric": "vi"}, "metric"), ({"p": 1.5}, "p"), ({"missing": "drop"}, "missing")],
)
def test_parameters_are_checked(options, parameter):
    with pytest.raises(en.ParameterError) as caught:
        merge(SPLIT, **options)
    assert caught.value.parameter == parameter


def test_groups_without_objects_are_refused():
    groups = en.Ensemble.of_groups(
        np.array([[0, 0], [1, 1]], dtype=np.int32), np.array([2, 2]), [[0, 1], [0, 1]]
    )
    with pytest.raises(ValueError, match="needs a label for each of the 4 objects"):
        merge(groups)
