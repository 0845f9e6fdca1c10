"""Weights of clusterings: w of one is as if it were there w times, 0 as if it did not vote."""

import names
import numpy as np
import pandas as pd
import pytest
import twins
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ensemblage as en
from ensemblage import flow, metrics
from ensemblage.testing.strategies import votes

pytestmark = pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")

TAKERS = [
    "auto", "consensus", "eac", "ecmc", "lca", "lwea", "lwgp", "lwpt", "median", "nmf", "pta",
    "ptgp", "srw", "usenc", "vote", "weac",
]  # fmt: skip
#: Those whose sums are of whole numbers: the law holds to the last bit, ties included.
EXACT = ["eac", "median", "pta", "srw", "vote"]
#: The others that are the same mathematics with repeated members, up to rounding. WEAC is not: a
#: member that is there twice agrees with itself, and gains in weight by that. Nor is LCA: more
#: members are more evidence, and only ratios of weights matter.
ROUNDED = ["ecmc", "lwea", "lwgp", "lwpt", "nmf", "ptgp", "usenc"]


def make(name, n_clusters, **parameters):
    est = en.METHODS[name](n_clusters, **parameters)
    return est.set_params(random_state=0) if "random_state" in est.get_params() else est


@st.composite
def weighted(draw, lowest=1, **options):
    """Draw votes and whole weights of their clusterings, not all 0."""
    matrix = draw(votes(**options))
    count = matrix.shape[1]
    weight = draw(st.lists(st.integers(lowest, 4), min_size=count, max_size=count))
    assume(any(weight))
    return matrix, np.array(weight)


def weighted_coassociation(table, weight):
    """Return the definition: Σ w of those that agree / Σ w of those in which both voted."""
    n = len(table)
    result = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            both = (table[i] >= 0) & (table[j] >= 0)
            if weight[both].sum() > 0:
                result[i, j] = weight[both & (table[i] == table[j])].sum() / weight[both].sum()
    return result


@pytest.mark.parametrize("name", TAKERS)
@settings(max_examples=settings().max_examples // 4)
@given(matrix=votes(max_objects=14), data=st.data())
def test_weight_0_is_a_clustering_that_is_not_there(name, matrix, data):
    n, count = matrix.shape
    place = data.draw(st.integers(0, count))
    other = data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    more, weight = np.insert(matrix, place, other, axis=1), np.ones(count + 1)
    weight[place] = 0
    k = data.draw(st.integers(1, len(np.unique(matrix, axis=0))))
    without, silenced = make(name, k).fit(matrix), make(name, k).fit(more, member_weight=weight)
    assert silenced.n_microclusters_ == without.n_microclusters_
    np.testing.assert_array_equal(silenced.predict(more), silenced.labels_)
    np.testing.assert_allclose(silenced.confidence_, without.confidence_, atol=1e-9)
    if name in EXACT:
        np.testing.assert_array_equal(silenced.labels_, without.labels_)


# GPMGLA's weights are scaled by another number, and its starts turn on the last bit where rows tie.
@pytest.mark.parametrize("name", [name for name in names.METHODS if name != "gpmgla"])
@settings(max_examples=settings().max_examples // 4)
@given(matrix=votes(max_objects=14), data=st.data())
def test_a_clustering_without_votes_changes_nothing(name, matrix, data):
    more = np.insert(matrix, data.draw(st.integers(0, matrix.shape[1])), -1, axis=1)
    k = data.draw(st.integers(1, len(np.unique(matrix, axis=0))))
    without, silenced = make(name, k).fit(matrix), make(name, k).fit(more)
    np.testing.assert_allclose(silenced.confidence_, without.confidence_, atol=1e-9)
    if name in EXACT:
        np.testing.assert_array_equal(silenced.labels_, without.labels_)


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), [50, 30, 40])
    matrix = np.where(rng.random((120, 10)) < 0.2, rng.integers(0, 3, (120, 10)), truth[:, None])
    return matrix, truth


# -- stages ------------------------------------------------------------------------------------


@given(weighted(lowest=0))
def test_weighted_coassociation_is_its_definition(case):
    matrix, weight = case
    table = en.microclusters(matrix).table
    expected = weighted_coassociation(table, weight)
    found = flow.coassociation(table, weights=weight.astype(float), n_jobs=2)
    np.testing.assert_array_equal(found, expected)
    part = flow.coassociation(table[:2], table[1:], weights=weight.astype(float))
    np.testing.assert_array_equal(part, expected[:2, 1:])


@given(weighted(lowest=0), st.integers(1, 6))
def test_weighted_elite_graph_is_its_definition(case, n_neighbors):
    matrix, weight = case
    table = en.microclusters(matrix).table
    expected = twins.elite_graph(table, n_neighbors, weighted_coassociation(table, weight))
    found = flow.elite_graph(table, n_neighbors, weights=weight.astype(float), n_jobs=2)
    np.testing.assert_array_equal(found.toarray(), expected)


@given(weighted(), st.data())
@settings(max_examples=30)
def test_one_weight_for_all_is_none_at_all_to_the_last_bit(case, data):
    matrix, _ = case
    name = data.draw(st.sampled_from(TAKERS))
    k = data.draw(st.integers(1, len(en.microclusters(matrix).sizes)))
    factor = data.draw(st.sampled_from([1, 0.1, 7]))
    one, other = make(name, k).fit(matrix), make(name, k)
    other.fit(matrix, member_weight=[factor] * matrix.shape[1])
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.confidence_, other.confidence_)


# -- laws --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::ensemblage.UnknownLabelsWarning")
@pytest.mark.parametrize("name", EXACT)
@given(case=weighted(), data=st.data())
@settings(max_examples=40)
def test_whole_weights_are_repeated_members(name, case, data):
    matrix, weight = case
    n = len(en.microclusters(matrix).sizes)
    k = data.draw(st.integers(1, n))
    one, other = make(name, k), make(name, k)
    one.fit(matrix, member_weight=weight)
    other.fit(np.repeat(matrix, weight, axis=1))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.confidence_, other.confidence_, atol=1e-12)
    new = matrix + 1
    new[(new < 0).all(axis=1)] = 0
    np.testing.assert_array_equal(one.predict(new), other.predict(np.repeat(new, weight, axis=1)))


@pytest.mark.parametrize("name", ROUNDED)
def test_whole_weights_are_repeated_members_up_to_rounding(name, blobs):
    matrix, _ = blobs
    for seed in range(3):
        weight = np.random.default_rng(seed).integers(1, 5, 10)
        one, other = make(name, 3), make(name, 3)
        labels = one.fit_predict(matrix, member_weight=weight)
        repeated = other.fit_predict(np.repeat(matrix, weight, axis=1))
        assert metrics.ari(labels, repeated) == 1
        np.testing.assert_allclose(one.confidence_, other.confidence_, atol=1e-8)


@pytest.mark.parametrize("name", ["lwea", "ecmc"])
@given(case=weighted())
@settings(max_examples=30)
def test_similarities_are_those_of_repeated_members(name, case):
    matrix, weight = case
    one = make(name, 1).fit(matrix, member_weight=weight)
    other = make(name, 1).fit(np.repeat(matrix, weight, axis=1))
    np.testing.assert_allclose(one.similarity_, other.similarity_, atol=1e-6)


@pytest.mark.parametrize("name", ["ptgp", "usenc", "lwgp", "lwpt"])
@given(case=weighted(max_objects=14))
@settings(max_examples=30)
def test_graphs_are_those_of_repeated_members(name, case):
    """The graph of rows that is cut, B diag(1/c) B' between rows, is that of the copies."""
    matrix, weight = case
    one = make(name, 1).fit(matrix, member_weight=weight)._transfer_cut
    other = make(name, 1).fit(np.repeat(matrix, weight, axis=1))._transfer_cut
    rows = []
    for cut in (one, other):
        B = cut._B.toarray() if hasattr(cut._B, "toarray") else cut._B
        rows.append((B / B.sum(axis=0)) @ B.T / B.sum())
    np.testing.assert_allclose(*rows, atol=1e-12)


@pytest.mark.parametrize("name", TAKERS)
def test_weight_0_is_no_vote(name, blobs):
    """Noise that has no weight does not matter, however much of it there is."""
    matrix, truth = blobs
    noise = np.random.default_rng(1).integers(0, 2, (120, 2))
    both = np.column_stack([matrix, noise])
    weight = [1] * 10 + [0] * 2
    est = make(name, 3).fit(both, member_weight=weight)
    np.testing.assert_array_equal(est.member_weight_, weight)
    if name not in ("ecmc", "srw"):  # which do not find these groups, see test_estimators.py
        assert metrics.ari(est.labels_, truth) > 0.9
    assert np.isfinite(est.confidence_).all()
    if name in ("eac", "vote", "usenc", "lwea", "lwgp"):  # methods on objects: exactly so
        alone = make(name, 3).fit(matrix)
        assert metrics.ari(est.labels_, alone.labels_) == 1


def test_weac_multiplies(blobs):
    matrix, _ = blobs
    weight = np.arange(1, 11)
    plain = en.WEAC(3).fit(matrix)
    found = en.WEAC(3).fit(matrix, member_weight=weight)
    np.testing.assert_allclose(found.weights_, plain.weights_ * weight)
    expected = en.EAC(3).fit(matrix, member_weight=weight).similarity_
    flat = en.WEAC(3, beta=0).fit(matrix, member_weight=weight)
    np.testing.assert_allclose(flat.similarity_, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["eac", "lwea", "lwgp", "ptgp", "usenc", "vote"])
def test_weights_change_what_is_found(name):
    """Three clusterings say one thing and one says another: whoever weighs more is followed."""
    truth, other = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    matrix = np.column_stack([truth, truth, truth, other])
    rng = np.random.default_rng(0)
    matrix = np.where(rng.random(matrix.shape) < 0.05, 1 - matrix, matrix)
    votes_for_other = [1, 1, 1, 20]
    assert metrics.ari(make(name, 2).fit_predict(matrix), truth) > 0.5
    found = make(name, 2).fit_predict(matrix, member_weight=votes_for_other)
    assert metrics.ari(found, matrix[:, 3]) > 0.9


# -- the face ----------------------------------------------------------------------------------


def test_methods_without_a_place_say_so(blobs):
    matrix, _ = blobs
    assert sorted(name for name, kind in en.METHODS.items() if kind._takes_member_weight) == TAKERS
    for name in sorted(set(en.METHODS) - set(TAKERS)):
        with pytest.raises(
            TypeError, match=r"does not support member_weight.* one of Consensus, .* WEAC\."
        ):
            make(name, 3).fit(matrix, member_weight=np.ones(10))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], r"must be 3 number\(s\) from 0 up, .* its shape is \(2,\)"),
        ([[1, 2, 3]], r"its shape is \(1, 3\)"),
        (2, r"its shape is \(\)"),
        (["a", "b", "c"], r"Got \['a', 'b', 'c'\] instead"),
        ([1, -2, 1], r"number 1, counted from 0, is -2\.0"),
        ([1, 1, float("nan")], "number 2, counted from 0, is nan"),
        ([1, float("inf"), 1], "number 1, counted from 0, is inf"),
        ([0, 0, 0], "all are 0, so that no clustering counts"),
        ([1, 0, 0], r"1 object\(s\) have votes of .* member_weight 0 only: row\(s\) 2"),
    ],
)
def test_bad_weights(weight, message):
    matrix = [[0, 0, 1], [1, 1, 1], [-1, 1, 1]]
    with pytest.raises(ValueError, match=message):
        en.EAC(2).fit(matrix, member_weight=weight)


def test_a_fit_without_weights_forgets_them(blobs):
    matrix, _ = blobs
    est = en.EAC(3).fit(matrix, member_weight=np.arange(10))
    assert est.fit(matrix).member_weight_ is None


@pytest.mark.parametrize("name", TAKERS)
def test_weights_are_saved(name, blobs, tmp_path):
    matrix, _ = blobs
    est = make(name, 3).fit(matrix, member_weight=np.arange(10))
    est.save(tmp_path / "model")
    found = en.load(tmp_path / "model")
    np.testing.assert_array_equal(found.member_weight_, np.arange(10))
    np.testing.assert_array_equal(found.cut(5), est.cut(5))
    new = np.random.default_rng(3).integers(0, 4, (30, 10))
    np.testing.assert_array_equal(found.predict(new), est.predict(new))


def test_weights_go_through_a_pipeline(blobs):
    matrix, _ = blobs
    pipe = make_pipeline(FunctionTransformer(), en.EAC(3))
    labels = pipe.fit_predict(matrix, eac__member_weight=np.arange(10))
    expected = en.EAC(3).fit_predict(matrix, member_weight=np.arange(10))
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("missing", [False, True])
def test_what_is_told_of_a_fit_goes_by_weight(name, missing):
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(3), [12, 8, 10])
    matrix = np.where(rng.random((30, 4)) < 0.3, rng.integers(0, 4, (30, 4)), truth[:, None])
    if missing:
        matrix[rng.random(30) < 0.2, 1] = -1
    weight = np.array([1, 3, 1, 2])
    one = make(name, 3).fit(matrix, member_weight=weight)
    other = make(name, 3).fit(np.repeat(matrix, weight, axis=1))
    by_weight, by_copies = metrics.choose_k(one), metrics.choose_k(other)
    # Halves of copies are other halves, and support is found by halves.
    for criterion in by_copies.scores.keys() - {"support", "recurrence"}:
        expected = by_copies.scores[criterion]
        np.testing.assert_allclose(by_weight.scores[criterion], expected, atol=1e-9)
    np.testing.assert_allclose(one.cluster_consensus_, other.cluster_consensus_, atol=1e-12)
    np.testing.assert_array_equal(metrics.clusters(one).nearest, metrics.clusters(other).nearest)


def test_halves_are_of_members_that_count(blobs):
    matrix, _ = blobs
    weight = np.array([1, 2, 1, 0, 0, 0, 0, 0, 0, 0])
    few = en.EAC(3).fit(matrix[:, :3], member_weight=weight[:3])
    many = en.EAC(3).fit(matrix, member_weight=weight)
    for criterion in ("subset_stability", "pac", "ensemble_nmi"):
        one = metrics.choose_k(few, range(2, 6), criteria=[criterion], n_refits=4)
        other = metrics.choose_k(many, range(2, 6), criteria=[criterion], n_refits=4)
        np.testing.assert_allclose(one.scores[criterion], other.scores[criterion], atol=1e-9)
    alone = en.EAC(3).fit(matrix, member_weight=[1, *[0] * 9])
    assert "At least two clusterings" in metrics.choose_k(alone, criteria="all").absent["pac"]


def test_pictures_and_reports_know_the_weights(blobs):
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("jinja2")
    matrix, _ = blobs
    weight = np.arange(10)
    est = en.EAC(3).fit(matrix, member_weight=weight)
    given, voted = en.plot.heatmap(est), en.plot.heatmap(est, "coassociation")
    shown = [sorted(ax.images[0].get_array().ravel()) for ax in (given, voted)]
    np.testing.assert_allclose(*shown)
    plt.close("all")
    assert "member_weight=[0.0, 1.0, 2.0, " in en.report.html(est)


def test_weights_by_name():
    names, weight = ["b", "a", "c"], [3.0, 1.0, 0.5]
    frame = pd.DataFrame([[0, 1, 0], [0, 0, 1], [1, 1, 1]], columns=names)
    by_name = dict(zip(names, weight, strict=True))
    upside_down = {name: by_name[name] for name in reversed(names)}
    for given_weight in (upside_down, pd.Series(upside_down), pd.Series(weight)):
        found = en.EAC(2).fit(frame, member_weight=given_weight).member_weight_
        np.testing.assert_array_equal(found, weight)
    numbered = frame.set_axis([2, 0, 1], axis=1)
    found = en.EAC(2).fit(numbered, member_weight=pd.Series([1.0, 0.5, 3.0])).member_weight_
    np.testing.assert_array_equal(found, weight)  # these names are numbers


@pytest.mark.parametrize("extreme", [1e308, 5e-324])
def test_weights_that_no_sum_survives(extreme):
    with pytest.raises(
        ValueError, match=r"number 1, counted from 0, .* leave the range of numbers"
    ):
        en.EAC(1).fit(np.array([[0, 0, 0], [0, 1, 1]]), member_weight=[1, extreme, 0])
