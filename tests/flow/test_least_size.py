"""The least-size cut beside a program written from its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensemblage import flow


def twin(tree, sizes, similarity, mass, k, least):
    """Return labels by METHODS2 section 23.2, node by node, with sets of leaves."""
    n = len(sizes)
    leaves = {i: {i} for i in range(n)}
    for step, (a, b) in enumerate(tree[:, :2].astype(int)):
        leaves[n + step] = leaves[a] | leaves[b]

    def objects(node):
        return sum(int(sizes[i]) for i in leaves[node])

    while least > 1:
        current, closed, aside = [2 * n - 2], [], []
        while len(current) + len(closed) < k:
            openable = [node for node in current if node >= n]
            if not openable:
                break
            node = min(openable, key=lambda c: (-tree[c - n, 2], -objects(c), min(leaves[c])))
            current.remove(node)
            a, b = sorted(tree[node - n, :2].astype(int), key=objects)
            if objects(b) < least:
                closed.append(node)
            elif objects(a) < least:
                current.append(b)
                aside.append(a)
            else:
                current += [a, b]
        clusters = current + closed
        if len(clusters) == k:
            labels = np.empty(n, dtype=int)
            for label, node in enumerate(clusters):
                labels[list(leaves[node])] = label
            for part in aside:
                mean = [
                    sum(
                        mass[i] * mass[j] * similarity[i, j]
                        for i in leaves[part]
                        for j in leaves[c]
                    )
                    / sum(mass[i] * mass[j] for i in leaves[part] for j in leaves[c])
                    for c in clusters
                ]
                best = min(
                    (c for c, m in zip(clusters, mean, strict=True) if m >= max(mean) - 1e-12),
                    key=lambda c: (-objects(c), min(leaves[c])),
                )
                labels[list(leaves[part])] = clusters.index(best)
            return labels
        least //= 2
    return flow.cut_tree(tree, k)


def cut(tree, sizes, similarity, mass, k, least):
    sized = flow.sized_tree(tree, sizes)
    parts = flow.least_size_parts(sized, k, least)
    if parts is None:
        return flow.cut_tree(tree, k)
    rows = np.concatenate([np.empty(0, int), *map(sized.leaves, parts.set_aside)])
    weights = np.zeros((len(sizes), len(parts.clusters)))
    for label, node in enumerate(parts.clusters):
        weights[sized.leaves(node), label] = mass[sized.leaves(node)]
    sums = similarity[rows] @ weights
    return flow.attach(sized, parts, sums, weights.sum(axis=0), mass[rows])


def same_partition(a, b):
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@given(data=st.data())
def test_it_is_the_cut_of_the_definition(data):
    n = data.draw(st.integers(1, 12))
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    sizes = rng.integers(1, data.draw(st.sampled_from([2, 4, 30])), n)
    # Few values make many ties, in heights and in means.
    similarity = rng.integers(0, data.draw(st.sampled_from([3, 1000])), (n, n)) / 1000
    similarity = np.maximum(similarity, similarity.T)
    tree = flow.agglomerate(1.0 - similarity, "average", sizes)
    k = data.draw(st.integers(1, n))
    least = data.draw(st.integers(1, int(sizes.sum())))
    mass = sizes if data.draw(st.booleans()) else np.ones(n, dtype=np.int64)
    found = cut(tree, sizes, similarity, mass, k, least)
    assert len(np.unique(found)) == k
    assert same_partition(found, twin(tree, sizes, similarity, mass, k, least))


def test_an_outlier_does_not_use_up_a_cluster():
    # Two groups at height 0.6, and an object that joins last.
    places = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 50.0])
    distance = np.abs(np.subtract.outer(places, places)) / 100
    sizes = np.ones(7, dtype=np.int64)
    tree = flow.agglomerate(distance.copy(), "average", sizes)
    assert flow.cut_tree(tree, 2).tolist() == [0] * 6 + [1]
    found = cut(tree, sizes, 1 - distance, sizes, 2, 2)
    assert same_partition(found, np.array([0, 0, 0, 1, 1, 1, 1]))


@pytest.mark.parametrize(("k", "least"), [(7, 5), (1, 7), (7, 1)])
def test_it_gives_exactly_k(k, least):
    rng = np.random.default_rng(0)
    distance = rng.random((7, 7))
    sizes = np.ones(7, dtype=np.int64)
    tree = flow.agglomerate(distance + distance.T, "average", sizes)
    found = cut(tree, sizes, np.eye(7), sizes, k, least)
    assert len(np.unique(found)) == k


def test_leaves_are_where_the_tree_says():
    tree = np.array([[0, 2, 0.1, 2], [1, 3, 0.2, 2], [4, 5, 0.5, 4]])
    sized = flow.sized_tree(tree, np.array([3, 1, 2, 1]))
    assert sorted(sized.leaves(4).tolist()) == [0, 2]
    assert sorted(sized.leaves(6).tolist()) == [0, 1, 2, 3]
    assert (sized.objects[4], sized.objects[6], sized.first[5]) == (5, 7, 1)


# -- groups that are clearly apart -----------------------------------------------------------------


def size_of_clear_group(tree, sizes, k, least):
    """Return the least size that clear groups leave, from all splits that did not count."""
    n = len(sizes)
    objects = [*sizes.tolist()]
    for a, b in tree[:, :2].astype(int):
        objects.append(objects[a] + objects[b])
    while least > 1:
        current, refused, counted = [2 * n - 2], [], []
        first = [*range(n)]
        for a, b in tree[:, :2].astype(int):
            first.append(min(first[a], first[b]))
        n_closed = 0
        while len(current) + n_closed < k and any(node >= n for node in current):
            node = min(
                (c for c in current if c >= n),
                key=lambda c: (-tree[c - n, 2], -objects[c], first[c]),
            )
            current.remove(node)
            small, large = sorted(tree[node - n, :2].astype(int), key=lambda c: objects[c])
            apart = 1 - tree[node - n, 2]
            if objects[small] >= least:
                counted.append(apart)
                current += [small, large]
                continue
            refused.append((objects[small], apart))
            if objects[large] >= least:
                current.append(large)
            else:
                n_closed += 1
        if len(current) + n_closed == k:
            limit = max(counted, default=0.0) / 2
            clear = [o for o, apart in refused if limit > 1e-12 and o >= 5 and apart <= limit]
            return min(clear, default=least)
        least //= 2
    return 1


@given(data=st.data())
def test_clear_groups_lower_the_least_size(data):
    n = data.draw(st.integers(2, 12))
    sizes = np.array(data.draw(st.lists(st.integers(1, 12), min_size=n, max_size=n)))
    similarity = np.array(
        data.draw(
            st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9]), min_size=n * n, max_size=n * n)
        )
    ).reshape(n, n)
    similarity = np.maximum(similarity, similarity.T)
    tree = flow.agglomerate(1 - similarity, "average", weights=sizes.astype(float))
    k = data.draw(st.integers(1, n))
    least = data.draw(st.integers(2, int(sizes.sum())))
    sized = flow.sized_tree(tree, sizes)
    parts = flow.least_size_parts(sized, k, least, keep_clear=True)
    lowered = size_of_clear_group(tree, sizes, k, least)
    expected = flow.least_size_parts(sized, k, lowered)
    assert (parts is None) == (expected is None)
    if parts is not None:
        assert parts.clusters == expected.clusters
        assert parts.set_aside == expected.set_aside


def test_parts_join_by_ratio_however_small_similarities_are():
    """Certainties of fine clusters may be as small as 1e-27."""
    merges = np.array([[0, 2, 0.9, 2], [1, 3, 1.0, 3]])
    tree = flow.sized_tree(merges, np.array([50, 40, 1]))
    parts = flow.Parts([0, 1], [2], [1.0], [])
    similarity = np.array([[0.0, 40e-20]])
    mass = np.array([50, 40])
    labels = flow.attach(tree, parts, similarity, mass, np.array([1]))
    assert labels.tolist() == [0, 1, 1]


def test_of_equal_means_the_larger_cluster_gets_the_part():
    merges = np.array([[0, 2, 0.9, 2], [1, 3, 1.0, 3]])
    for sizes, expected in (([40, 50, 1], [0, 1, 1]), ([50, 40, 1], [0, 1, 0])):
        tree = flow.sized_tree(merges, np.array(sizes))
        mass = np.array(sizes[:2])
        for rounding in (0.0, 1e-14, -1e-14):
            similarity = 0.5 * mass[None] * [1.0 + rounding, 1.0]
            labels = flow.attach(tree, flow.Parts([0, 1], [2], [1.0], []), similarity, mass,
                                 np.array([1]))  # fmt: skip
            assert labels.tolist() == expected


@pytest.mark.parametrize(
    ("objects", "height", "clear"), [(5, 0.75, 5), (4, 0.75, None), (19, 0.75, 19), (5, 0.74, None)]
)
def test_a_clear_group_has_five_objects_and_half_of_the_similarity(objects, height, clear):
    merges = np.array([[0, 1, 0.5, 2], [2, 3, height, 3]])
    tree = flow.sized_tree(merges, np.array([100, 100, objects]))
    assert flow.least_size_parts(tree, 2, 20, keep_clear=True).clear_group == clear


@pytest.mark.parametrize(
    ("sizes", "merges", "k", "clear"),
    [
        ([100, 100, 8, 5], [(0, 1, 0.5), (2, 4, 0.75), (3, 5, 0.8)], 2, 5),
        ([100, 100, 100, 5], [(0, 1, 0.5), (2, 4, 0.6), (3, 5, 0.75)], 3, 5),
        ([100, 100, 5], [(0, 1, 1.0), (2, 3, 1.0)], 2, None),
    ],
)
def test_the_smallest_clear_group_beside_the_last_split(sizes, merges, k, clear):
    tree = flow.sized_tree(np.array([(*merge, 0) for merge in merges]), np.array(sizes))
    assert flow.least_size_parts(tree, k, 20, keep_clear=True).clear_group == clear


def test_of_equal_heights_the_node_with_more_objects_is_split():
    merges = np.array([[0, 1, 0.5, 2], [2, 3, 0.5, 2], [4, 5, 1.0, 4]])
    for sizes, clusters in (([9, 9, 3, 3], {0, 1, 5}), ([3, 3, 9, 9], {2, 3, 4})):
        parts = flow.least_size_parts(flow.sized_tree(merges, np.array(sizes)), 3, 2)
        assert set(parts.clusters) == clusters


def test_a_branch_of_just_the_least_size_leaves_its_small_part():
    merges = [(3, 4, 0.1), (0, 1, 0.8), (6, 2, 0.9), (7, 5, 1.0)]
    tree = flow.sized_tree(np.array([(*m, 0) for m in merges]), np.array([20, 3, 30, 40, 40]))
    parts = flow.least_size_parts(tree, 4, 20)
    assert (set(parts.clusters), parts.set_aside) == ({0, 2, 3, 4}, [1])


def test_rows_of_a_part_count_by_their_mass():
    merges = np.array([[2, 3, 0.1, 2], [0, 4, 0.9, 3], [1, 5, 1.0, 4]])
    tree, similarity = flow.sized_tree(merges, np.array([40, 50, 9, 1])), np.diag([40.0, 50.0])
    parts, mass = flow.Parts([0, 1], [4], [1.0], []), np.array([40, 50])
    for row_mass, label in (([9, 1], 0), ([1, 9], 1), ([1, 1], 1)):
        found = flow.attach(tree, parts, similarity, mass, np.array(row_mass))
        assert found.tolist() == [0, 1, label, label]
