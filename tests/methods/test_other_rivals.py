"""SRW, NMF, ECPCS and Vote: worked numbers, their objects, what is their own."""

import warnings

import numpy as np
import pytest
import similarity_twins
from hypothesis import given
from hypothesis import strategies as st
from planted import noisy

import ensemblage as en
from ensemblage import flow, metrics
from ensemblage.testing.strategies import votes

NAMES = ["ecpcs", "nmf", "srw", "vote"]


# -- SRW -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["coassociation", "exponential"])
@pytest.mark.parametrize("seeds", ["merge", "largest"])
def test_srw_on_the_worked_example(e2, seeds, weights):
    # Candidates y1, y3, y4; y3 and y4 merge, or y1 and y3 are the largest. y2 goes to y1 by 0.6.
    est = en.SRW(2, seeds=seeds, weights=weights).fit(e2)
    assert est.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert est.cut(3).tolist() == [0, 0, 0, 0, 1, 1, 2, 2]
    assert est.cut(4).tolist() == [0, 0, 0, 1, 2, 2, 3, 3]  # too few candidates: all of them


def plain_srw(matrix, k, seeds, n_neighbors, beta, unreached):
    """Label objects as METHODS.md section 5 says, given the seed regions of each object."""
    W = similarity_twins.srw_graph(matrix, n_neighbors, beta)
    X = similarity_twins.srw_chances(W, seeds, k)
    A = similarity_twins.eac(matrix)
    labels = X.argmax(axis=1)
    sizes = np.bincount(seeds[seeds >= 0], minlength=k)
    clear = np.sort(X, axis=1)[:, -2] < X.max(axis=1) - 1e-9 if k > 1 else np.ones(len(X), bool)
    stranded = X.sum(axis=1) == 0
    for i in np.flatnonzero(stranded):
        if unreached == "one class":
            labels[i], clear[i] = sizes.argmax(), True
            continue
        part = np.zeros(len(X), bool)
        part[i] = True
        for _ in range(len(X)):
            part |= (W[part] > 0).any(axis=0)
        means = [A[np.ix_(part, seeds == q)].mean() for q in range(k)]
        best = np.flatnonzero(np.array(means) > max(means) - 1e-12)
        labels[i] = max(best, key=lambda q: sizes[q])
        clear[i] = True
    return labels, clear


@given(
    matrix=votes(max_objects=20),
    n_neighbors=st.none() | st.integers(1, 6),
    seeds=st.sampled_from(["merge", "largest"]),
    weights=st.sampled_from(["coassociation", "exponential"]),
    unreached=st.sampled_from(["similar", "one class"]),
    data=st.data(),
)
def test_srw_labels_are_those_of_the_objects(
    matrix, n_neighbors, seeds, weights, unreached, data, monkeypatch_module
):
    monkeypatch_module.setattr("ensemblage.methods.srw._BETA", 6.0)  # where plain algebra suffices
    k = data.draw(st.integers(1, len(en.microclusters(matrix).sizes)))
    est = en.SRW(k, n_neighbors=n_neighbors, seeds=seeds, weights=weights, unreached=unreached)
    est._by_rule = False  # also where no vote links groups, it is the walk that is tested here
    est.fit(matrix)
    of_object = est.microclusters_.of_object
    region = est._seed_regions(k)[of_object]
    beta = 6.0 if weights == "exponential" else None
    labels, clear = plain_srw(matrix, k, region, n_neighbors, beta, unreached)
    assert est.n_clusters_ == k
    found = np.full(k, -1)
    found[region[region >= 0]] = est.labels_[region >= 0]  # how SRW has numbered the regions
    np.testing.assert_array_equal(found[labels][clear], est.labels_[clear])


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_seeds_of_srw():
    matrix, _ = noisy([40, 30, 20], 4, 0.1)
    est = en.SRW(3).fit(matrix)
    sizes = est.microclusters_.sizes
    candidates = np.flatnonzero(sizes >= 2)
    region = est._seed_regions(3)
    np.testing.assert_array_equal(np.flatnonzero(region >= 0), candidates)
    A = est.similarity_[np.ix_(candidates, candidates)]
    expected = flow.cut_tree(flow.agglomerate(1 - A, "average", sizes[candidates]), 3)
    np.testing.assert_array_equal(region[candidates], expected)
    assert (est._seed_regions(len(candidates) + 1) >= 0).all()
    largest = en.SRW(3, seeds="largest").fit(matrix)._seed_regions(3)
    assert sizes[largest >= 0].min() >= sizes[largest < 0].max()


def test_exponential_weights_see_through_noise():
    matrix, truth = noisy([50, 30, 40], 12, 0.2, gaps=0.05)
    assert metrics.ari(truth, en.SRW(3, weights="exponential").fit_predict(matrix)) > 0.9


def test_unreached_objects():
    # Two pairs that agree with nobody else; only one of them is a seed when k = 2.
    matrix = np.array([[0, 0]] * 4 + [[0, 1]] * 3 + [[5, 5]] * 2 + [[5, 6]])
    similar = en.SRW(2, seeds="largest").fit_predict(matrix)
    assert similar.tolist() == [0] * 4 + [1] * 3 + [0] * 3  # no agreement: the largest region
    one = en.SRW(2, seeds="largest", unreached="one class").fit_predict(matrix)
    assert one.tolist() == similar.tolist()
    # With one neighbour each the graph falls into microclusters, but similarity still speaks.
    matrix = np.array([[0, 0, 0]] * 4 + [[1, 1, 1]] * 3 + [[1, 1, 2]] * 2)
    for unreached, last in (("similar", 1), ("one class", 0)):
        est = en.SRW(2, seeds="largest", n_neighbors=1, unreached=unreached)
        assert est.fit_predict(matrix).tolist() == [0] * 4 + [1] * 3 + [last] * 2


# -- NMF -------------------------------------------------------------------------------------------


def test_nmf_on_the_worked_example(e2):
    assert en.NMF(2, random_state=0).fit_predict(e2).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@given(matrix=votes())
def test_nmf_multiplies_with_coassociation(matrix):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        est = en.NMF(1, max_iter=1, random_state=0).fit(matrix)
    n = est.n_microclusters_
    expected = flow.coassociation(est.microclusters_.table)
    np.testing.assert_allclose(est._similarity_sums(np.eye(n)), expected, atol=1e-15)


@pytest.mark.parametrize("gaps", [0.0, 0.05])
def test_nmf_keeps_the_best_of_its_starts(gaps):
    matrix, truth = noisy([50, 30, 40], 10, 0.2, gaps=gaps)
    est = en.NMF(3, n_starts=4, random_state=3).fit(matrix)
    assert metrics.ari(truth, est.labels_) > 0.9
    assert est.n_iter_ == 200
    children = np.random.default_rng(est._seed).spawn(4)
    sizes, product = est.microclusters_.sizes, est._similarity_sums
    starts = [flow.Factors(c.random((len(sizes), 3)), c.random(3)) for c in children]
    results = flow.improve(product, sizes, starts, 200)
    best = min(results, key=lambda factors: flow.squared_residual(product, sizes, factors))
    labels = flow.factor_labels(best)[est.microclusters_.of_object]
    assert metrics.ari(labels, est.labels_) == 1.0


# -- Vote ------------------------------------------------------------------------------------------


def test_vote_by_hand():
    matrix = np.array(
        [[0, 1, 0, 7], [0, 1, 0, 7], [0, 1, 1, 7], [1, 0, 1, 7], [1, 0, 1, 8], [1, 0, 0, 8]]
    )
    est = en.Vote(2).fit(matrix)
    assert est.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert est.reference_ == 0  # equal to the second; the first of them


def test_reference_of_vote():
    two = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    three = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    five = np.array([0, 0, 1, 2, 2, 3, 4, 4])
    matrix = np.column_stack([two, five, three, three])
    est = en.Vote(3).fit(matrix)
    assert est.reference_ == 2
    np.testing.assert_array_equal(est.labels_, three)
    np.testing.assert_array_equal(est.cut(2), two)
    # Nobody has four: five are merged to four. Nobody has six.
    with pytest.warns(en.FewerClustersWarning, match="found 3 of the 4 requested clusters"):
        assert en.Vote(4).fit(matrix).reference_ == 1  # outvoted, in the end, by the threes
    with pytest.warns(en.FewerClustersWarning, match="of the 6 requested clusters"):
        assert en.Vote(6).fit(np.column_stack([matrix, np.arange(8) // 7])).reference_ == 1


def test_a_reference_is_merged_by_what_the_others_say():
    fine = np.repeat(np.arange(6), 5)
    left, right = np.repeat([0, 0, 1, 1, 1, 1], 5), np.repeat([0, 0, 0, 0, 1, 1], 5)
    est = en.Vote(3).fit(np.column_stack([fine, left, right]))
    assert est.reference_ == 0
    assert est._merged(0, 3).tolist() == [0, 0, 1, 1, 2, 2]
    assert est._merged(0, 6).tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_array_equal(est.labels_, fine // 2)


@pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")
@given(matrix=votes(), data=st.data())
def test_votes_agree_with_their_own_consensus(matrix, data):
    """One more round, on the objects themselves, changes nothing where rounds have ended."""
    groups = en.microclusters(matrix)
    # Fewer clusters than groups that votes link are joined by another rule.
    k = data.draw(st.integers(flow.links_of(groups.table).n_groups, len(groups.sizes)))
    est = en.Vote(k).fit(matrix)
    codes = est.microclusters_.table[est.microclusters_.of_object]
    everyone = np.ones(len(matrix), dtype=np.int64)
    inputs = flow.membership(codes.astype(np.int32)), everyone, flow.owners(codes)
    reference = est._reference(k)
    label_of = est._merged(reference, k)
    start = np.append(label_of, -1)[codes[:, reference]]
    found = flow.vote(*inputs, start, 20)
    assert len(set(zip(found.tolist(), est.labels_.tolist(), strict=True))) == est.n_clusters_


def test_vote_is_for_the_names_that_keep_most_objects():
    matrix, truth = noisy([50, 30, 40], 9, 0.25, gaps=0.05)
    est = en.Vote(3).fit(matrix)
    assert metrics.ari(truth, est.labels_) > 0.9
    for column in matrix.T:
        voted = column >= 0
        shared = np.zeros((3, 3))
        np.add.at(shared, (est.labels_[voted], column[voted]), 1)
        label_of = flow.match(shared)
        kept = shared[label_of, np.arange(3)].sum()
        assert kept == similarity_twins.most_kept(shared)


# -- all four --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: en.SRW(2, n_neighbors=0), "'n_neighbors' parameter of SRW"),
        (lambda: en.SRW(2, seeds="random"), "'seeds' parameter of SRW"),
        (lambda: en.SRW(2, weights=3), "'weights' parameter of SRW"),
        (lambda: en.SRW(2, unreached=None), "'unreached' parameter of SRW"),
        (lambda: en.NMF(2, n_starts=0), "'n_starts' parameter of NMF"),
        (lambda: en.NMF(2, max_iter=1.5), "'max_iter' parameter of NMF"),
        (lambda: en.NMF(2, random_state="x"), "'random_state' parameter of NMF"),
        (lambda: en.ECPCS(2, variant="hm"), "'variant' parameter of ECPCS"),
        (lambda: en.ECPCS(2, linkage="ward"), "'linkage' parameter of ECPCS"),
        (lambda: en.ECPCS(2, n_steps="auto"), "'n_steps' parameter of ECPCS"),
    ],
)
def test_parameters_that_make_no_sense(make, message, e3):
    with pytest.raises(ValueError, match=message):
        make().fit(e3)


@pytest.mark.parametrize("name", NAMES)
def test_what_would_not_fit_is_refused(name, e3, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "10")
    matrix = np.where(np.arange(24).reshape(8, 3) == 5, -1, e3)
    with pytest.raises(en.MemoryBudgetError, match=en.METHODS[name].__name__):
        en.METHODS[name](2).fit(matrix)


@pytest.mark.parametrize("name", NAMES)
def test_labels_do_not_depend_on_any_order(name):
    """Where groups are clear, also for the method that draws random numbers."""
    matrix, truth = noisy([60, 50, 40], 9, 0.1)
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(len(matrix)), rng.permutation(9)
    seed = {"random_state": 0} if name in ("nmf", "ecpcs") else {}
    a = en.METHODS[name](3, **seed).fit(matrix)
    b = en.METHODS[name](3, **seed).fit(matrix[rows][:, columns])
    assert metrics.ari(a.labels_[rows], b.labels_) == 1.0
    assert metrics.ari(truth, a.labels_) > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_half_a_million_objects(name):
    rng = np.random.default_rng(0)
    rows, _ = noisy([150, 100, 80], 10, 0.15)
    matrix = rows[rng.integers(0, len(rows), 494_020)].astype(np.int8)
    est = en.METHODS[name](3).fit(en.Ensemble(matrix))
    assert est.n_clusters_ == 3
