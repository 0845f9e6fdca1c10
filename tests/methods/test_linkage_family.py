"""EAC, WEAC, WCT, SRS, LWEA, ECMC: methods that agglomerate a similarity, beside their objects."""

import itertools

import numpy as np
import pytest
import similarity_twins
from hypothesis import example, given
from hypothesis import strategies as st
from planted import PLACES, at
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform
from sklearn.exceptions import ConvergenceWarning

import ensemblage as en
from ensemblage import flow
from ensemblage.testing.strategies import votes

LINKAGES = ["average", "complete", "single"]
EXACT = {"eac": similarity_twins.eac, "weac": similarity_twins.weac, "wct": similarity_twins.wct}
BY_LEVEL = {"srs": similarity_twins.srs, "lwea": similarity_twins.lwea}
TWINS = EXACT | BY_LEVEL
FAMILY = sorted([*TWINS, "ecmc"])
WITH_LEVELS = ["ecmc", "lwea", "srs"]
SILENT = np.array([[0, 0, -1], [0, 1, -1]])  # one clustering has no votes


def of_objects(est):
    of_object = est.microclusters_.of_object
    return est.similarity_[np.ix_(of_object, of_object)]


def object_tree(name, matrix, linkage):
    """Fit, and return the estimator with its tree of objects."""
    if name in EXACT:
        est = en.METHODS[name](1, linkage=linkage).fit(matrix)
        inner = 1 - est.similarity_.diagonal()
        return est, flow.tree_of_objects(est.linkage_matrix_, est.microclusters_.of_object, inner)
    est = en.METHODS[name](1, linkage=linkage, level="objects").fit(matrix)
    return est, est.linkage_matrix_


def partition(labels):
    return {tuple(np.flatnonzero(labels == c)) for c in np.unique(labels)}


def blobs(n, n_clusterings, seed, gaps=0.0):
    """Votes on four noisy groups: each vote is wrong one time in four."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    shape = (n, n_clusterings)
    matrix = np.where(rng.random(shape) < 0.25, rng.integers(0, 4, shape), truth[:, None])
    missing = rng.random(shape) < gaps
    missing[:, 0] = False
    return np.where(missing, -1, matrix)


# -- worked numbers (METHODS.md) -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("linkage", "last"), [("single", 0.5), ("complete", 1.0), ("average", 0.9375)]
)
def test_worked_trees_of_eac(e2, linkage, last):
    est, tree = object_tree("eac", e2, linkage)
    np.testing.assert_allclose(tree[:, 2], [0, 0, 0, 0, 0.5, 0.5, last])
    if linkage != "single":
        assert est.linkage_matrix_[:, :2].tolist() == [[0, 1], [2, 3], [4, 5]]
        assert est.cut(2).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_worked_weac(e2, e3):
    est = en.WEAC(2).fit(e2)
    np.testing.assert_allclose(est.similarity_, en.EAC(2).fit(e2).similarity_)
    est = en.WEAC(2).fit(e3)
    np.testing.assert_allclose(est.weights_, np.square([0.778252, 1, 0.884351]), atol=5e-6)
    expected = [0.581196, 0.327537, 0, 0.746341, 0, 0.253659]
    np.testing.assert_allclose(at(est.similarity_, *PLACES), expected, atol=5e-7)
    np.testing.assert_array_equal(est.similarity_.diagonal(), 1)
    equal = en.WEAC(2, beta=0).fit(e3).similarity_
    np.testing.assert_allclose(equal, en.EAC(2).fit(e3).similarity_)


def test_worked_wct(e2, e3):
    found = at(en.WCT(2).fit(e2).similarity_, *PLACES)
    np.testing.assert_allclose(found, [0.666667, 1 / 3, 1 / 6, 2 / 3, 0.566667, 0.9], atol=5e-7)
    found = at(en.WCT(2, decay=0.9).fit(e2).similarity_, *PLACES)
    np.testing.assert_allclose(found, [0.6875, 0.375, 0.1875, 0.6875, 0.6375, 0.95], atol=5e-7)
    found = at(en.WCT(2).fit(e3).similarity_, *PLACES)
    expected = [0.933333, 0.766667, 0.266667, 0.833333, 0.426667, 0.593333]
    np.testing.assert_allclose(found, expected, atol=5e-7)
    alone = [[0], [1], [2], [1]]
    np.testing.assert_array_equal(en.WCT(2).fit(alone).similarity_, np.eye(3))


def test_worked_srs(e2, e3):
    est = en.SRS(2).fit(e2)
    expected = [0.577067, 0.520178, 0.561067, 0.3344, 0.053067, 0.008267, 0.297156, 0.097156,
                0.370489]  # fmt: skip
    np.testing.assert_allclose(at(est.similarity_, "11", "33", "44", *PLACES), expected, atol=5e-7)
    two = en.SRS(2, n_iterations=2).fit(e2).similarity_
    np.testing.assert_allclose(at(two, *PLACES), [0.2, 0, 0, 0.2, 0, 0.2], atol=1e-12)
    found = at(en.SRS(2).fit(e3).similarity_, "11", "33", "44", *PLACES)
    expected = [0.441214, 0.386748, 0.487269, 0.346092, 0.220945, 0.034388, 0.312555, 0.064922,
                0.206696]  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=5e-7)


def test_worked_lwea(e2, e3):
    est = en.LWEA(2, level="objects").fit(e2)
    np.testing.assert_allclose(est.certainties_, [0.362730, 0.286505, 1, 0.317312, 1], atol=5e-7)
    np.testing.assert_allclose(
        est.similarity_.diagonal(), [0.681365, 0.340021, 0.301908, 0.643252], atol=5e-7
    )
    np.testing.assert_allclose(
        at(est.similarity_, *PLACES), [0.181365, 0, 0, 0.158656, 0, 0.143252], atol=5e-7
    )
    heights = [0.318635, 0.318635, 0.356748, 0.698092, 0.818635, 0.856748, 0.980168]
    np.testing.assert_allclose(est.linkage_matrix_[:, 2], heights, atol=5e-7)
    assert est.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    micro = en.LWEA(2).fit(e2)
    np.testing.assert_allclose(micro.linkage_matrix_[:, 2], heights[-3:], atol=5e-7)
    np.testing.assert_array_equal(micro.labels_, est.labels_)
    np.testing.assert_allclose(
        en.LWEA(2).fit(e3).certainties_,
        [0.508614, 0.188876, 1, 0.465219, 1, 0.202183, 1],
        atol=5e-7,
    )


# -- beside the objects themselves -----------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(TWINS))
@given(matrix=votes(max_objects=16))
@example(matrix=SILENT)
def test_similarities_are_those_of_the_objects(name, matrix):
    est = en.METHODS[name](1).fit(matrix)
    found, expected = of_objects(est), TWINS[name](matrix)
    if name in BY_LEVEL:  # an object and itself are another matter
        np.fill_diagonal(found, 0)
        np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_array_equal(est.similarity_, est.similarity_.T)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("name", sorted(TWINS))
@given(matrix=votes(max_objects=16))
@example(matrix=SILENT)
def test_trees_are_those_of_the_objects(name, linkage, matrix):
    """Every merge joins a closest pair of clusters of objects, at their distance, ties or not."""
    _, tree = object_tree(name, matrix, linkage)
    distance = 1 - TWINS[name](matrix)
    similarity_twins.check_tree(distance, linkage, tree)


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("name", sorted(TWINS))
def test_partitions_are_those_of_scipy_on_the_objects(name, linkage, gaps):
    """At every k where ties do not decide.

    There SciPy says the same of objects in any order, and single link, which SciPy takes from one
    spanning tree in an order of its own, cuts between different heights.
    """
    matrix = blobs(60, 10, seed=5, gaps=gaps)
    _, tree = object_tree(name, matrix, linkage)
    distance = 1 - TWINS[name](matrix)
    np.fill_diagonal(distance, 0)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(60) for _ in range(20)]
    trees = [
        scipy_linkage(squareform(distance[np.ix_(order, order)], checks=False), linkage)
        for order in orders
    ]
    if linkage == "single":  # one set of heights whatever the ties
        np.testing.assert_allclose(tree[:, 2], trees[0][:, 2], atol=1e-9)
    compared = 0
    for k in range(1, 60):
        theirs = [
            partition(flow.cut_tree(other, k)[np.argsort(order)])
            for other, order in zip(trees, orders, strict=True)
        ]
        between = linkage != "single" or trees[0][-k + 1, 2] - trees[0][-k, 2] > 1e-9 or k == 1
        if all(found == theirs[0] for found in theirs) and between:
            compared += 1
            assert partition(flow.cut_tree(tree, k)) == theirs[0]
    assert compared > (40 if linkage == "average" and name != "eac" else 0)  # EAC ties most


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("name", WITH_LEVELS)
def test_levels_agree_where_identical_rows_stay_together(name, linkage):
    matrix = blobs(90, 6, seed=1)
    micro = en.METHODS[name](2, linkage=linkage).fit(matrix)
    objects = en.METHODS[name](2, linkage=linkage, level="objects").fit(matrix)
    of_object = micro.microclusters_.of_object
    assert len(objects.linkage_matrix_) == len(matrix) - 1
    if (micro.similarity_.max(axis=1) > micro.similarity_.diagonal() + 1e-12).any():
        assert name == "ecmc"  # then the trees may differ, and nothing is promised
        return
    together = 0
    for k in range(1, micro.n_microclusters_):
        labels = objects.cut(k)
        firsts = labels[np.unique(of_object, return_index=True)[1]]
        tied = np.diff(objects.linkage_matrix_[:, 2])[len(matrix) - 1 - k : len(matrix) - k] < 1e-9
        if (firsts[of_object] == labels).all() and not tied.any():
            together += 1
            np.testing.assert_array_equal(micro.cut(k), labels)
    assert together > 0


@given(matrix=votes(max_objects=14), linkage=st.sampled_from(LINKAGES))
def test_ecmc_links_the_objects_themselves(matrix, linkage):
    est = en.ECMC(1, linkage=linkage, level="objects").fit(matrix)
    similarity_twins.check_tree(1 - of_objects(est), linkage, est.linkage_matrix_)


def test_a_row_may_be_nearer_to_another_than_to_its_like():
    """With missing votes LWEA's objects may be; level="objects" is exact all the same."""
    matrix = np.array([[0, 0], [0, 0], [0, -1], [0, 1], [1, 0], [1, 1], [1, 1], [2, 0]])
    est = en.LWEA(2, level="objects").fit(matrix)
    s = est.similarity_
    assert (s.max(axis=1) > s.diagonal())[est.microclusters_.sizes > 1].any()
    similarity_twins.check_tree(1 - similarity_twins.lwea(matrix), "average", est.linkage_matrix_)


def test_weights_of_nothing():
    """A clustering that agrees with no other weighs nothing; identical rows are still alike."""
    matrix = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, -1, -1], [0, -1, -1]])
    est = en.WEAC(2).fit(np.column_stack([matrix, matrix[:, 1:]]))
    assert est.weights_[0] == 0
    np.testing.assert_array_equal(est.similarity_.diagonal(), 1)
    assert est.similarity_[4, :4].tolist() == [0, 0, 0, 0]


def test_a_clustering_in_which_nobody_voted():
    matrix = blobs(30, 4, seed=0)
    empty = np.insert(matrix, 2, -1, axis=1)
    for name in ("eac", "wct", "srs", "ecmc"):
        a, b = (en.METHODS[name](3).fit(m).similarity_ for m in (matrix, empty))
        np.testing.assert_allclose(a, b, atol=1e-9)
    for name in ("weac", "lwea"):
        assert en.METHODS[name](3).fit(empty).n_clusters_ == 3


@pytest.mark.parametrize("name", FAMILY)
def test_similarities_do_not_depend_on_any_order(name):
    matrix = blobs(60, 5, seed=2, gaps=0.1)
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(len(matrix)), rng.permutation(matrix.shape[1])
    a = of_objects(en.METHODS[name](2).fit(matrix))
    b = of_objects(en.METHODS[name](2).fit(matrix[rows][:, columns]))
    np.testing.assert_allclose(a[np.ix_(rows, rows)], b, atol=1e-7 if name == "ecmc" else 1e-12)


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("linkage", LINKAGES)
def test_threads_change_no_bit(name, linkage):
    matrix = blobs(400, 7, seed=4, gaps=0.05)
    fits = [en.METHODS[name](4, linkage=linkage, n_jobs=n).fit(matrix) for n in (1, 3)]
    np.testing.assert_array_equal(fits[0].similarity_, fits[1].similarity_)
    np.testing.assert_array_equal(fits[0].linkage_matrix_, fits[1].linkage_matrix_)


# -- ties ------------------------------------------------------------------------------------------


def what_is_merged(name, est):
    """Return the distances that a method merges by, and its weights."""
    weights = None if name == "pta" else est.microclusters_.sizes
    return 1.0 - est.similarity_, weights


@pytest.mark.parametrize("ties", ["mean", "later", "octave"])
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("name", [*FAMILY, "ecpcs", "pta"])
def test_ties_reach_the_tree(name, linkage, ties):
    est = en.METHODS[name](3, linkage=linkage, ties=ties).fit(blobs(50, 4, seed=3))
    distance, weights = what_is_merged(name, est)
    expected = flow.agglomerate(distance, linkage, weights, ties)
    if name == "ecmc" and ties == "mean":  # what still ties goes by structure, not by order
        order = np.argsort(flow.structure(*est.microclusters_[:2]), kind="stable")
        distance = 1.0 - est.similarity_[np.ix_(order, order)]
        moved = flow.agglomerate(distance, linkage, weights[order], ties)
        expected = flow.with_leaves(moved, order)
    np.testing.assert_array_equal(est.linkage_matrix_[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    np.testing.assert_allclose(est.linkage_matrix_[:, 2], expected[:, 2], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", WITH_LEVELS)
@pytest.mark.parametrize("ties", ["later", "octave"])
def test_objects_in_their_order_decide_ties_of_objects(name, ties):
    est = en.METHODS[name](3, linkage="complete", ties=ties, level="objects").fit(
        blobs(40, 3, seed=3)
    )
    expected = flow.agglomerate(1.0 - of_objects(est), "complete", ties=ties)
    np.testing.assert_array_equal(est.linkage_matrix_, expected)


def test_ties_by_mean_keep_outliers_from_swallowing_the_rest():
    """Four groups of equal size, and objects that differ from all others."""
    truth = np.repeat(np.arange(4), 30)
    rng = np.random.default_rng(0)
    matrix = np.where(rng.random((120, 8)) < 0.3, rng.integers(0, 4, (120, 8)), truth[:, None])
    by_mean = en.EAC(4, linkage="complete").fit(matrix)
    by_order = en.EAC(4, linkage="complete", ties="later").fit(matrix)
    assert en.metrics.ari(truth, by_mean.labels_) > en.metrics.ari(truth, by_order.labels_) + 0.2


@pytest.mark.parametrize("linkage", ["complete", "single"])
@pytest.mark.parametrize("name", ["eac", "weac", "wct"])
def test_ties_by_mean_ignore_the_order_of_objects(name, linkage):
    """Microclusters of sizes 1, 2, 4, ... leave no tie to the order."""
    rng = np.random.default_rng(0)
    groups = np.unique(rng.integers(0, 3, (9, 3)), axis=0)
    matrix = np.repeat(groups, 2 ** np.arange(len(groups)), axis=0)
    order = rng.permutation(len(matrix))
    one = en.METHODS[name](2, linkage=linkage).fit(matrix)
    other = en.METHODS[name](2, linkage=linkage).fit(matrix[order])
    for k in range(1, one.n_microclusters_ + 1):
        assert partition(one.cut(k)[order]) == partition(other.cut(k))


@pytest.mark.parametrize("name", [*FAMILY, "ecpcs", "pta"])
def test_an_unknown_rule_for_ties(name, e2):
    with pytest.raises(ValueError, match=r"'ties' parameter .* must be one of 'mean', 'later'"):
        en.METHODS[name](2, ties="first").fit(e2)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILY)
def test_an_unknown_linkage(name, e2):
    with pytest.raises(ValueError, match=r"'linkage' parameter .* must be one of 'average'"):
        en.METHODS[name](2, linkage="ward").fit(e2)


@pytest.mark.parametrize(
    ("name", "parameter", "value", "words"),
    [
        ("weac", "beta", -1, "from 0 up"),
        ("wct", "decay", 1.5, "from 0 to 1"),
        ("wct", "decay", "0.8", "from 0 to 1"),
        ("srs", "decay", -0.1, "from 0 to 1"),
        ("srs", "n_iterations", 1, "whole number from 2 up"),
        ("srs", "level", "rows", "'microclusters', 'objects'"),
        ("lwea", "theta", 0, "above 0"),
        ("ecmc", "low", True, "from 0 to 1"),
        ("ecmc", "high", 0.1, "below high="),
        ("ecmc", "penalty", 0.0, "above 0"),
        ("ecmc", "max_iter", 0, "whole number from 1 up"),
        ("ecmc", "tol", -1, "above 0"),
    ],
)
def test_wrong_parameters(name, parameter, value, words, e2):
    with pytest.raises(ValueError, match=words):
        en.METHODS[name](2, **{parameter: value}).fit(e2)


@pytest.mark.parametrize("name", FAMILY)
def test_what_does_not_fit_is_refused(name, e3, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "100")
    with pytest.raises(en.MemoryBudgetError, match="4 microclusters"):
        en.METHODS[name](2).fit(e3)


def test_objects_that_do_not_fit_are_refused(monkeypatch):
    matrix = np.tile(blobs(20, 3, seed=0), (20, 1))
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1000000")
    with pytest.raises(en.MemoryBudgetError, match=r"400 objects .* level=\"microclusters\""):
        en.ECMC(2, level="objects").fit(matrix)
    assert en.ECMC(2).fit(matrix).n_clusters_ == 2


def test_a_completion_that_does_not_end():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        est = en.ECMC(2, max_iter=2).fit(blobs(60, 6, seed=0))
    assert est.n_iter_ == 2


@pytest.mark.parametrize("seed", [2, 59])
def test_ecmc_does_not_give_up_on_entries_of_very_unequal_size(seed):
    """LAPACK's default eigensolver fails on iterates of these ensembles."""
    rng = np.random.default_rng(seed)
    votes = rng.integers(0, 4, (120, 5))
    base = rng.integers(0, 4, 120)
    votes = np.where(rng.random((120, 5)) < 0.6, base[:, None], votes)
    assert en.ECMC(4).fit(votes).n_clusters_ == 4


@pytest.mark.parametrize("sizes", [(3, 5, 7), (3, 3, 2, 6), (2, 3, 5)])
def test_clusterings_with_nothing_in_common_weigh_the_same(sizes):
    votes = np.array(list(itertools.product(*map(range, sizes))))
    np.testing.assert_array_equal(en.WEAC(2).fit(votes).weights_, 1.0)
