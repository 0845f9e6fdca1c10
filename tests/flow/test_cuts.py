import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

from ensemblage.flow import TransferCut, agglomerate, cut_tree

LINKAGES = ["average", "complete", "single"]


@st.composite
def distances(draw, ties=False):
    n = draw(st.integers(1, 9))
    elements = st.integers(0, 4).map(float) if ties else st.floats(0.01, 1)
    condensed = draw(npst.arrays(np.float64, n * (n - 1) // 2, elements=elements, unique=not ties))
    return squareform(condensed) if n > 1 else np.zeros((1, 1))


def partition(labels):
    return {tuple(np.flatnonzero(labels == c)) for c in set(labels.tolist())}


@pytest.mark.parametrize("linkage", LINKAGES)
@given(distance=distances(), seed=st.integers(0, 5))
def test_equal_to_merging_the_closest_pair(linkage, distance, seed):
    weights = np.random.default_rng(seed).integers(1, 5, len(distance)).astype(float)
    for w in (None, weights):
        heights, partitions = twins.merge_closest(distance, linkage, w)
        tree = agglomerate(distance.copy(), linkage, w)
        np.testing.assert_allclose(tree[:, 2], heights, rtol=1e-12)
        for k in range(1, len(distance) + 1):
            clusters = partitions[len(distance) - k]
            assert partition(cut_tree(tree, k)) == {tuple(sorted(c)) for c in clusters}


@pytest.mark.parametrize("linkage", LINKAGES)
@given(distance=distances(ties=True))
def test_ties_leave_exactly_k_clusters_in_a_valid_tree(linkage, distance):
    n = len(distance)
    tree = agglomerate(distance.copy(), linkage)
    assert (np.diff(tree[:, 2]) >= 0).all()
    if n > 1:
        assert is_valid_linkage(tree)
    for k in range(1, n + 1):
        labels = cut_tree(tree, k)
        assert sorted(set(labels.tolist())) == list(range(k))
        firsts = [labels.tolist().index(c) for c in range(k)]
        assert firsts == sorted(firsts)
    if linkage == "single" and n > 1:  # single link has one set of heights whatever the ties
        expected = scipy_linkage(squareform(distance), "single")[:, 2]
        np.testing.assert_allclose(tree[:, 2], expected)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_the_same_tree_as_scipy(linkage):
    points = np.random.default_rng(0).normal(size=(200, 3))
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    expected = scipy_linkage(squareform(distance, checks=False), linkage)
    np.testing.assert_allclose(agglomerate(distance, linkage), expected, rtol=1e-9)


def test_rounding_above_the_diagonal_does_not_matter():
    rng = np.random.default_rng(5)
    points = rng.normal(size=(60, 2))
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    noisy = distance + np.triu(rng.uniform(0, 1e-9, distance.shape))
    np.testing.assert_array_equal(agglomerate(noisy, "average"), agglomerate(distance, "average"))


def test_weights_make_the_tree_that_of_the_objects():
    rng = np.random.default_rng(1)
    points, sizes = rng.normal(size=(12, 2)), rng.integers(1, 6, 12)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    objects = np.repeat(np.arange(12), sizes)
    of_objects = agglomerate(np.ascontiguousarray(distance[np.ix_(objects, objects)]), "average")
    of_groups = agglomerate(distance, "average", sizes)
    np.testing.assert_allclose(of_groups[:, 2], of_objects[-11:, 2], rtol=1e-12)
    for k in range(1, 13):
        np.testing.assert_array_equal(cut_tree(of_groups, k)[objects], cut_tree(of_objects, k))


# -- transfer cut ----------------------------------------------------------------------------------

E2_GRAPH = np.array([[1, 0, 1, 0, 0], [1, 0, 0, 1, 0], [0, 1, 0, 1, 0], [0, 1, 0, 0, 1.0]])


def test_worked_transfer_cut_with_and_without_multiplicities():
    weighted = TransferCut(E2_GRAPH, np.array([3.0, 1, 2, 2]))
    np.testing.assert_allclose(weighted.eigenvalues(5), [1, 0.908248, 0.5, 0.091752, 0], atol=5e-7)
    rows = weighted.embedding(2)
    expected = [[0.668545, 0.743671], [0.958908, 0.283718], [0.817645, -0.575723],
                [0.668545, -0.743671]]  # fmt: skip
    np.testing.assert_allclose(np.abs(rows), np.abs(expected), atol=5e-7)
    assert (np.sign(rows[:, 1]) == np.sign(rows[0, 1]) * np.array([1, 1, -1, -1])).all()
    plain = TransferCut(E2_GRAPH)
    np.testing.assert_allclose(plain.eigenvalues(5), [1, 0.853553, 0.5, 0.146447, 0], atol=5e-7)


@given(
    npst.arrays(np.float64, st.tuples(st.integers(1, 9), st.integers(1, 6)),
                elements=st.floats(0.1, 1)),
    st.integers(1, 6),
)  # fmt: skip
def test_transfer_cut_agrees_with_its_definition(B, k):
    values, rows = twins.transfer_cut(B, k)
    cut = TransferCut(B)
    np.testing.assert_allclose(cut.eigenvalues(k), values[:k], atol=1e-12)
    found = cut.embedding(k)
    gaps = np.abs(np.diff(values, append=-1))
    if len(values) and (gaps[: min(k, len(values))] > 1e-6).all():
        # Vectors are unique up to sign, so inner products of rows are unique.
        np.testing.assert_allclose(found @ found.T, rows @ rows.T, atol=1e-6)


def test_leading_vectors_survive_a_solver_that_gives_up(monkeypatch):
    """SciPy's default eigensolver fails on some matrices; the slower one stands in for it."""
    from ensemblage.flow import _eigen

    matrix = np.random.default_rng(0).normal(size=(50, 50))
    matrix = matrix + matrix.T
    expected = _eigen.LeadingVectors(matrix)(5)
    solve = _eigen.eigh

    def give_up(a, *, driver=None, **options):
        if driver is None:
            raise _eigen.LinAlgError("Internal Error.")
        return solve(a, driver=driver, **options)

    monkeypatch.setattr(_eigen, "eigh", give_up)
    values, vectors = _eigen.LeadingVectors(matrix)(5)
    np.testing.assert_allclose(values, expected[0], atol=1e-10)
    np.testing.assert_allclose(np.abs(vectors), np.abs(expected[1]), atol=1e-8)
