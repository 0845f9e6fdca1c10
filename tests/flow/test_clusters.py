from types import SimpleNamespace

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st

from ensemblage import flow
from ensemblage.flow import _contingency, _membership, compiling
from ensemblage.testing.strategies import votes


def prepared(matrix):
    groups, _ = flow.microclusters(matrix)
    counts = flow.overlaps(groups.table, groups.sizes)
    return counts, flow.owners(groups.table), groups


def nmi_of(groups):
    return flow.member_nmi(groups.table, groups.sizes)


def entropies_of(groups):
    return flow.cluster_entropies(groups.table, groups.sizes)


def object_sets(groups):
    """Return each cluster as a set of objects, clustering by clustering."""
    votes_ = groups.table[groups.of_object]
    return [
        set(np.flatnonzero(column == c).tolist())
        for column in votes_.T
        for c in range(column.max() + 1)
    ]


def test_worked_likeness_of_clusters(e2):
    counts, owner, _ = prepared(e2)
    np.testing.assert_array_equal(counts.diagonal(), [4, 4, 3, 3, 2])
    np.testing.assert_array_equal(owner, [0, 0, 1, 1, 1])
    likeness = flow.jaccard(counts)
    found = [likeness[i, j] for i, j in ((0, 2), (0, 3), (1, 3), (1, 4), (0, 1))]
    np.testing.assert_allclose(found, [0.75, 1 / 6, 0.4, 0.5, 0])
    np.testing.assert_array_equal(likeness.diagonal(), 1)


def test_worked_entropies_and_weights(e2, e3):
    _, _, groups = prepared(e2)
    np.testing.assert_allclose(entropies_of(groups), [0.811278, 1, 0, 0.918296, 0], atol=5e-7)
    assert nmi_of(groups)[0, 1] == pytest.approx(0.419937, abs=5e-7)
    _, _, groups = prepared(e3)
    mean = flow.clustering_weights(nmi_of(groups), 1.0)
    np.testing.assert_allclose(mean, [0.778252, 1, 0.884351], atol=5e-7)


@given(votes())
def test_overlaps_and_likeness_agree_with_sets(matrix):
    counts, owner, groups = prepared(matrix)
    sets = object_sets(groups)
    assert len(owner) == len(sets) == len(counts)
    expected = np.array([[len(a & b) for b in sets] for a in sets], dtype=float)
    np.testing.assert_array_equal(counts, expected)
    ratio = np.array([[len(a & b) / len(a | b) for b in sets] for a in sets])
    np.testing.assert_allclose(flow.jaccard(counts), ratio)


@given(votes())
def test_entropies_agree_with_their_definition(matrix):
    _, owner, groups = prepared(matrix)
    sets, found = object_sets(groups), entropies_of(groups)
    for u, cluster in enumerate(sets):
        total = 0.0
        for m in range(matrix.shape[1]):
            parts = np.array([len(cluster & sets[v]) for v in np.flatnonzero(owner == m)])
            if parts.sum():
                p = parts[parts > 0] / parts.sum()
                total -= (p * np.log2(p)).sum()
        assert found[u] == pytest.approx(total, abs=1e-9)


@given(votes())
def test_member_nmi_agrees_with_its_definition(matrix):
    found = nmi_of(prepared(matrix)[2])
    for a in range(matrix.shape[1]):
        for b in range(a):
            both = ((matrix[:, a] >= 0) & (matrix[:, b] >= 0)).any()
            expected = twins.nmi(matrix[:, a], matrix[:, b], "max") if both else 0.0
            assert found[a, b] == pytest.approx(expected, abs=1e-9)


@given(votes(), st.data())
def test_members_compared_with_some_others(matrix, data):
    _, _, groups = prepared(matrix)
    n = matrix.shape[1]
    some = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True)))
    found = flow.member_nmi(groups.table, groups.sizes, some)
    np.testing.assert_allclose(found, nmi_of(groups)[:, some], atol=1e-14)


@given(votes())
def test_sparse_tables_of_fine_clusterings_give_the_same(matrix):
    counts, _, groups = prepared(matrix)
    nmi, entropies = nmi_of(groups), entropies_of(groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_contingency, "_MOSTLY_EMPTY", 0)
        patch.setattr(_contingency, "_FEW_CELLS", -1)
        np.testing.assert_allclose(nmi_of(groups), nmi, atol=1e-13)
        np.testing.assert_allclose(entropies_of(groups), entropies, atol=1e-12)
        np.testing.assert_array_equal(prepared(matrix)[0], counts)


def test_a_column_of_ids_takes_little_memory():
    """A dense table of these clusters would take 29 GB."""
    table = np.column_stack([np.arange(60_000), np.arange(60_000) % 7]).astype(np.int32)
    nmi = flow.member_nmi(table, np.ones(60_000, dtype=np.int64))
    assert nmi[0, 1] == pytest.approx(np.log(7) / np.log(60_000), abs=1e-4)
    entropies = flow.cluster_entropies(table, np.ones(60_000, dtype=np.int64))
    assert entropies[:60_000].max() == 0.0
    assert entropies[60_000:] == pytest.approx(np.log2(60_000 / 7), abs=1e-3)


def test_weights_without_anything_in_common():
    np.testing.assert_array_equal(flow.clustering_weights(np.ones((1, 1)), 2.0), [1])
    np.testing.assert_array_equal(flow.clustering_weights(np.eye(3), 2.0), [1, 1, 1])


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_the_tree_of_objects(linkage):
    """Microclusters whose objects are not at distance 0: merges inside them take part."""
    rng = np.random.default_rng(0)
    sizes = np.array([3, 1, 4, 2, 5, 1, 2])
    inner = rng.uniform(0.01, 0.2, 7)
    points = rng.normal(size=(7, 2))
    between = 0.2 + np.linalg.norm(points[:, None] - points[None], axis=2) / 10
    of_object = rng.permutation(np.repeat(np.arange(7), sizes)).astype(np.int32)
    _, of_object = np.unique(of_object, return_inverse=True)
    distance = between[np.ix_(of_object, of_object)]
    same = of_object[:, None] == of_object[None, :]
    distance = np.where(same, inner[of_object][:, None], distance)
    np.fill_diagonal(distance, 0)
    tree = flow.agglomerate(between.copy(), linkage, sizes)
    found = flow.tree_of_objects(tree, of_object.astype(np.int32), inner)
    heights, partitions = twins.merge_closest(distance, linkage)
    np.testing.assert_allclose(found[:, 2], heights, rtol=1e-12)
    inside = [p for p in range(len(partitions)) if p == 0 or heights[p - 1] > 0.2]
    for p in inside:  # cuts inside a microcluster choose among equals
        labels = flow.cut_tree(found, len(partitions[p]))
        expected = {tuple(sorted(c)) for c in partitions[p]}
        assert {tuple(np.flatnonzero(labels == c)) for c in set(labels.tolist())} == expected


@given(votes(), st.data())
def test_what_labels_share_with_clusters(matrix, data):
    groups, _ = flow.microclusters(matrix)
    n = len(groups.sizes)
    labels = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    found = flow.overlaps_with(labels, 3, groups.table, groups.sizes)
    of_object = labels[groups.of_object]
    for label in range(3):
        own = set(np.flatnonzero(of_object == label).tolist())
        assert found[label].tolist() == [len(own & other) for other in object_sets(groups)]


@given(votes(max_clusterings=9))
def test_kernels_count_as_numpy_does(matrix):
    groups, _ = flow.microclusters(matrix)
    weights = np.linspace(0.5, 2.0, matrix.shape[1])
    strength = np.random.default_rng(0).random(len(flow.owners(groups.table)))

    def everything():
        return (
            flow.overlaps(groups.table, groups.sizes),
            flow.cluster_entropies(groups.table, groups.sizes, weights),
            nmi_of(groups),
            flow.shared_coassociation(groups.table, strength, weights),
        )

    with compiling.kernels_for(everything=True):
        compiled = everything()
    with compiling.kernels_for(everything=False):
        plain = everything()
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(
        plain[3], flow.graded_coassociation(groups.table, np.diag(strength), weights)
    )


@given(st.integers(60, 200), st.integers(1, 6), st.integers(0, 99))
def test_bits_of_clusters_count_as_numpy_does(n, n_clusterings, seed):
    table = np.random.default_rng(seed).integers(-1, 4, (n, n_clusterings)).astype(np.int32)
    sizes = np.ones(n, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch, compiling.kernels_for(everything=True):
        patch.setattr(_contingency, "_add_rows", None)  # it must not be called
        by_bits = flow.overlaps(table, sizes)
    with compiling.kernels_for(everything=False):
        np.testing.assert_array_equal(by_bits, flow.overlaps(table, sizes))
    sizes[-1] = 2
    with compiling.kernels_for(everything=True):
        counted = flow.overlaps(table, sizes)
    last = np.repeat(table[-1], table.max(axis=0) + 1) == np.concatenate(
        [np.arange(number) for number in table.max(axis=0) + 1]
    )
    np.testing.assert_array_equal(counted, by_bits + np.outer(last, last))


def repeated(matrix, times):
    """Return votes in which every clustering occurs so often, under other names."""
    return np.hstack([np.where(matrix < 0, -1, matrix + 10 * i) for i in range(times)])


@given(votes(gaps=False), st.integers(2, 4))
def test_equal_clusters_count_as_often_as_they_occur(matrix, times):
    groups, _ = flow.microclusters(repeated(matrix, times))
    weights = np.linspace(0.5, 2.0, groups.table.shape[1])

    def everything():
        return (
            flow.cluster_entropies(groups.table, groups.sizes, weights),
            nmi_of(groups),
            coassociation_of(
                flow.merged_membership(groups.table, weights[flow.owners(groups.table)])
            ),
        )

    def coassociation_of(members):
        return (members @ (members > 0).T.astype(float)).toarray()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_membership, "FEWEST", 1)
        distinct = _membership.distinct_clusters(groups.table)
        assert distinct is not None
        assert distinct.members.shape[1] <= len(distinct.of_cluster) / times
        merged = everything()
    for one, other in zip(merged, everything(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)


def test_clusters_are_compared_as_sets_where_votes_are_missing(monkeypatch):
    monkeypatch.setattr(_membership, "FEWEST", 1)
    gaps = np.array([[0, 0], [0, 0], [1, -1]], dtype=np.int32)
    assert _membership.distinct_clusters(gaps) is None
    different = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.int32)
    assert _membership.distinct_clusters(different) is None
    sums_that_collide = np.ones((2, 3))
    monkeypatch.setattr(
        _membership.np.random,
        "default_rng",
        lambda _: SimpleNamespace(integers=lambda *_, **__: sums_that_collide),
    )
    assert _membership.distinct_clusters(np.array([[0, 0], [1, 1], [1, 2]], dtype=np.int32)) is None
