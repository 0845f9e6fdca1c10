"""PTA by each route: exact, in sixteen bits, approximate; and how "auto" chooses."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import ensemblage as en
from ensemblage import metrics
from ensemblage.methods import _pta_routes
from ensemblage.methods._trajectories import expected_walk
from ensemblage.testing import strategies

KINDS = ["exact", "uint16", "approximate"]
LINKAGES = ["average", "complete", "single"]


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 4))[rng.integers(0, 12, 900)]
    points = points + 0.4 * rng.normal(size=points.shape)
    members = []
    for _ in range(8):
        seeds = points[rng.choice(900, 15, replace=False)]
        members.append(((points[:, None] - seeds[None]) ** 2).sum(axis=2).argmin(axis=1))
    return np.column_stack(members)


@pytest.fixture
def small_limits(monkeypatch):
    """Let the approximate route begin where it is quick to test."""
    monkeypatch.setattr(_pta_routes, "_GROUPS", 150)
    monkeypatch.setattr(_pta_routes, "_RANK", 64)
    monkeypatch.setattr(_pta_routes, "_EXACT_NORMS", 300)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_sixteen_bits_give_the_exact_partitions(votes, linkage):
    exact, packed = (
        en.PTA(5, linkage=linkage, similarity=kind).fit(votes) for kind in ("exact", "uint16")
    )
    assert (exact.similarity_kind_, packed.similarity_kind_) == ("exact", "uint16")
    assert packed.captured_ == exact.captured_ == 1.0
    for k in (2, 5, 10, 20, 50, 100):
        np.testing.assert_array_equal(packed.cut(k), exact.cut(k))
    np.testing.assert_allclose(packed.linkage_matrix_[:, 2], exact.linkage_matrix_[:, 2], atol=3e-4)
    np.testing.assert_allclose(
        packed.trajectory_confidence_, exact.trajectory_confidence_, atol=1e-5
    )
    np.testing.assert_array_equal(packed.predict(votes[:50]), exact.predict(votes[:50]))
    np.testing.assert_allclose(packed.similarity_, exact.similarity_, atol=1e-15)


def test_the_last_merges_of_average_link_are_those_of_exact_means(votes, monkeypatch):
    exact = en.PTA(5).fit(votes).linkage_matrix_
    errors = []
    for n_exact in (10**9, 60):
        monkeypatch.setattr(_pta_routes, "_EXACT_TOP", n_exact)
        tree = en.PTA(5, similarity="uint16").fit(votes).linkage_matrix_
        errors.append(np.abs(tree[-59:, 2] - exact[-59:, 2]).max())
    assert errors[1] < 1e-6 < errors[0]


@pytest.mark.parametrize("kind", KINDS)
@given(ensemble=strategies.ensembles())
def test_confidence_and_similarity_are_the_same_by_every_route(kind, ensemble):
    votes, n_neighbors, n_steps = ensemble
    exact = en.PTA(1, n_neighbors=n_neighbors, n_steps=n_steps, similarity="exact").fit(votes)
    k = max(1, exact.n_microclusters_ // 2)
    est = clone(exact).set_params(similarity=kind, n_clusters=k).fit(votes)
    assert est.n_clusters_ == k
    assert est.linkage_matrix_.shape == exact.linkage_matrix_.shape
    np.testing.assert_array_equal(est.similarity_, exact.similarity_)
    same_labels = clone(exact).set_params(n_clusters=k).fit(votes)
    if np.array_equal(est.labels_, same_labels.labels_):
        np.testing.assert_allclose(
            est.trajectory_confidence_, same_labels.trajectory_confidence_, atol=1e-5
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_microclusters(kind, n):
    est = en.PTA(1, similarity=kind).fit(np.arange(n)[:, None])  # no two are linked
    assert est.linkage_matrix_.shape == (n - 1, 4)
    assert (est.linkage_matrix_[:, 2] == 1).all()
    np.testing.assert_array_equal(est.cut(n), np.arange(n))
    np.testing.assert_array_equal(est.confidence_, np.zeros(n))  # nobody agrees with anybody


def test_the_approximate_route(votes, small_limits):
    exact = en.PTA(5, similarity="exact").fit(votes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was asked for: no warning
        one, three = (
            en.PTA(5, similarity="approximate", n_jobs=n_jobs).fit(votes) for n_jobs in (1, 3)
        )
    assert one.similarity_kind_ == "approximate"
    assert 0.5 < one.captured_ < 1
    np.testing.assert_array_equal(one.linkage_matrix_, three.linkage_matrix_)
    assert metrics.ari(one.cut(12), exact.cut(12)) > 0.8
    assert ((one.confidence_ >= 0) & (one.confidence_ <= 1)).all()


def test_the_approximate_route_is_exact_where_its_features_are(votes, small_limits, monkeypatch):
    monkeypatch.setattr(_pta_routes, "_RANK", 10_000)
    monkeypatch.setattr(_pta_routes, "_EXACT_NORMS", 10_000)
    exact, est = (en.PTA(5, similarity=kind).fit(votes) for kind in ("exact", "approximate"))
    assert est.captured_ == pytest.approx(1, abs=1e-4)
    for k in (2, 5, 10, 20, 50, 100):
        np.testing.assert_array_equal(est.cut(k), exact.cut(k))


def test_few_microclusters_need_no_features(votes):
    exact, est = (en.PTA(5, similarity=kind).fit(votes) for kind in ("exact", "approximate"))
    assert est.captured_ == 1.0
    np.testing.assert_allclose(est.linkage_matrix_, exact.linkage_matrix_, atol=1e-12)


@pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")
def test_more_islands_than_groups(small_limits):
    island = np.repeat(np.arange(200), 3)
    votes = np.column_stack([island, island, np.arange(600)])  # three microclusters each
    est = en.PTA(200, similarity="approximate").fit(votes)
    np.testing.assert_array_equal(est.labels_, island)
    assert (est.linkage_matrix_[-199:, 2] == 1).all()


@pytest.mark.parametrize("kind", ["uint16", "approximate"])
def test_ties_by_order_need_the_exact_similarity(votes, kind):
    with pytest.raises(ValueError, match=r'PTA with ties="later" needs similarity="exact", got'):
        en.PTA(2, ties="later", similarity=kind).fit(votes)
    assert en.PTA(2, ties="later").fit(votes).similarity_kind_ == "exact"


@pytest.mark.parametrize("linkage", ["complete", "single"])
def test_other_links_are_refused_with_the_reason(votes, linkage):
    with pytest.raises(ValueError, match=r"average link only.*mean trajectories"):
        en.PTA(2, linkage=linkage, similarity="approximate").fit(votes)
    with pytest.raises(ValueError, match="'similarity' parameter of PTA"):
        en.PTA(2, similarity="float16").fit(votes)


def test_auto_goes_by_number_alone(votes, small_limits, monkeypatch):
    def kind(**options):
        return en.PTA(5, n_jobs=1, **options).fit(votes).similarity_kind_

    assert kind() == "exact"
    monkeypatch.setattr(_pta_routes, "EXACT_UP_TO", 100)
    assert kind() == "uint16"
    monkeypatch.setattr(_pta_routes, "UINT16_UP_TO", 200)
    with pytest.warns(en.ApproximateSimilarityWarning, match=r"capture \d+% of the similarity"):
        assert kind() == "approximate"
    assert kind(linkage="single") == "uint16"


@pytest.mark.parametrize("linkage", ["average", "complete"])
def test_auto_never_takes_another_route_for_want_of_memory(votes, linkage, monkeypatch):
    """What fits gives the same labels on every machine, and what does not is refused."""
    est = en.PTA(5, linkage=linkage, n_jobs=1).fit(votes)
    needed = expected_walk(est)[1] + _pta_routes.needed_bytes("exact", est.n_microclusters_, 1)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(needed))
    again = en.PTA(5, linkage=linkage, n_jobs=1).fit(votes)
    assert again.similarity_kind_ == "exact"
    np.testing.assert_array_equal(again.labels_, est.labels_)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(needed - 1))
    with pytest.raises(en.MemoryBudgetError, match=r'similarity="exact".*similarity="uint16"'):
        en.PTA(5, linkage=linkage, n_jobs=1).fit(votes)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("exact", 'PTA with similarity="exact" of 564 microclusters.* would take .* MB.*uint16'),
        ("uint16", 'PTA with similarity="uint16" of 564 .*similarity="approximate"'),
        ("approximate", 'PTA with similarity="approximate" of 564 .*steps or threads'),
    ],
)
def test_what_does_not_fit_is_refused_before_it_is_taken(votes, kind, words, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1000000")
    with pytest.raises(en.MemoryBudgetError, match=words):
        en.PTA(5, similarity=kind).fit(votes)


def test_the_whole_similarity_is_refused_if_it_does_not_fit(votes, monkeypatch):
    est = en.PTA(5, similarity="uint16").fit(votes)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1000000")
    with pytest.raises(en.MemoryBudgetError, match="in double precision"):
        est.similarity_  # noqa: B018
    assert est.confidence_.shape == (900,)


@pytest.mark.filterwarnings("ignore::ensemblage.IdsAsVotesWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_no_confidence_where_a_cluster_has_nothing_in_common(kind):
    """Pairs of linked microclusters: after each step the two walkers have changed places."""
    pair = np.repeat(np.arange(100), 2)
    votes = np.column_stack([pair, np.arange(200)])
    est = en.PTA(3, n_neighbors=1, n_steps=7, similarity=kind).fit(votes)
    np.testing.assert_array_equal(est.trajectory_confidence_, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_pickles_and_clones(votes, kind):
    est = en.PTA(5, similarity=kind).fit(votes)
    again = pickle.loads(pickle.dumps(est))
    np.testing.assert_array_equal(again.confidence_, est.confidence_)
    np.testing.assert_array_equal(again.cut(7), est.cut(7))
    assert clone(est).get_params() == est.get_params()
    est.set_params(similarity="exact").fit(votes)  # nothing is left of the other route
    np.testing.assert_array_equal(est.similarity_, en.PTA(5).fit(votes).similarity_)


@pytest.mark.filterwarnings(
    "ignore::ensemblage.FeaturesAsVotesWarning"
)  # checks pass random floats
@parametrize_with_checks(
    [en.PTA(2, similarity=kind) for kind in ("uint16", "approximate")],
    expected_failed_checks=lambda _: {"check_clustering": "X holds labels, not blobs of floats"},
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
