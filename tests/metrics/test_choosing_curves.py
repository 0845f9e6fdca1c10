"""Criteria for numbers of clusters, beside their definitions."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from planted import halved as noisy

import ensemblage as en
from ensemblage.metrics import ari, choose_k, ensemble_nmi
from ensemblage.metrics.choosing import _curves, _resampling
from ensemblage.testing.strategies import votes

# -- curves beside their definitions ---------------------------------------------------------------


@given(votes(max_objects=12, gaps=False))
def test_a_lifetime_is_the_range_of_thresholds_that_leave_k_clusters(matrix):
    est = en.EAC(1).fit(matrix)
    n = est.n_microclusters_
    assume(n >= 2)
    heights = est.linkage_matrix_[:, 2]
    ks = np.arange(2, n + 1)
    # By definition: thresholds between two heights, and how many clusters each leaves.
    edges = np.unique(np.concatenate([[0.0], heights]))
    alive = dict.fromkeys(ks.tolist(), 0.0)
    for low, high in pairwise(edges):
        left = n - int((heights <= (low + high) / 2).sum())
        alive[left] = alive.get(left, 0.0) + high - low
    expected = [alive[k] for k in ks.tolist()]
    assert _curves.lifetimes(heights, ks) == pytest.approx(expected, abs=1e-12)


def test_a_gap_of_eigenvalues_by_hand():
    gaps = _curves.eigengaps(np.array([1.0, 0.7, 0.2, -1e-18]), np.array([2, 3, 4, 9]))
    assert gaps == pytest.approx([0.5, 0.2, 0.0, 0.0])


@pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")
@settings(max_examples=30)
@given(matrix=votes(max_objects=16), name=st.sampled_from(["eac", "pta", "usenc", "vote"]))
def test_agreement_and_confidence_are_those_of_the_objects(matrix, name):
    est = en.METHODS[name](1)
    if "random_state" in est.get_params():
        est.set_params(random_state=0)
    est.fit(matrix)
    assume(est.n_microclusters_ >= 2)
    choice = choose_k(est)
    for place, k in enumerate(choice.ks.tolist()):
        again = en.METHODS[name](
            k, **{w: v for w, v in est.get_params().items() if w != "n_clusters"}
        )
        if "random_state" in again.get_params():
            again.set_params(random_state=0)
        labels = again.fit_predict(matrix)
        expected = ensemble_nmi(labels, matrix, "geometric")
        assert choice.scores["ensemble_nmi"][place] == pytest.approx(expected, abs=1e-9)
        assert choice.scores["confidence"][place] == pytest.approx(
            again.confidence_.mean(), abs=1e-9
        )


@pytest.mark.parametrize("batch", [1, 1 << 27])
def test_few_cuts_at_a_time_or_all_at_once(monkeypatch, batch):
    matrix, _ = noisy()
    cuts = en.EAC(2).fit(matrix)._cuts()
    labels = [cuts.cut(k) for k in range(2, 9)]
    rng = np.random.default_rng(0)
    expected = _curves.agreement_and_confidence(cuts, labels, rng)
    monkeypatch.setattr(_curves, "_BATCH_BYTES", batch)
    found = _curves.agreement_and_confidence(cuts, labels, rng)
    assert np.array(found) == pytest.approx(np.array(expected), abs=1e-12)


def test_confidence_of_a_sample_is_close_to_that_of_all(monkeypatch):
    matrix, _ = noisy(n=2000)
    cuts = en.EAC(2).fit(matrix)._cuts()
    labels = [cuts.cut(k) for k in range(2, 9)]
    agreement, everybody = _curves.agreement_and_confidence(cuts, labels, np.random.default_rng(0))
    monkeypatch.setattr(_curves, "_MOST_ROWS", 300)
    same, some = _curves.agreement_and_confidence(cuts, labels, np.random.default_rng(0))
    assert same == pytest.approx(agreement, abs=1e-15)
    assert some == pytest.approx(everybody, abs=0.05)
    assert (some != everybody).all()


def test_a_flat_curve_adds_nothing_to_the_balance():
    flat, other = np.array([0.3, 0.3 + 1e-14, 0.3]), np.array([0.1, 0.5, 0.2])
    assert _curves.balance(flat, other) == pytest.approx([0.0, 1.0, 0.25])


# -- resampling ------------------------------------------------------------------------------------


@st.composite
def cuts_of_groups(draw):
    n, n_cuts = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    label = st.integers(-1, 3)
    cuts = [np.array(draw(st.lists(label, min_size=n, max_size=n))) for _ in range(n_cuts)]
    sizes = np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    return cuts, sizes


def pairs_of_objects(cuts, sizes):
    """Return the consensus index of every pair of objects that some cut knows both of."""
    objects = np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for a, b in combinations(objects.tolist(), 2):
        both = [cut for cut in cuts if cut[a] >= 0 and cut[b] >= 0]
        if both:
            found.append(sum(cut[a] == cut[b] for cut in both) / len(both))
    return np.array(found)


@given(cuts_of_groups())
def test_the_consensus_distribution_is_that_of_all_pairs_of_objects(drawn):
    cuts, sizes = drawn
    index = pairs_of_objects(cuts, sizes)
    found = _resampling.consensus_distribution(cuts, sizes, np.random.default_rng(0))
    if not len(index):
        assert found is None
        return
    expected = [(index <= value).mean() for value in _resampling.GRID]
    assert found.cdf == pytest.approx(expected, abs=1e-12)
    assert found.mean == pytest.approx(index.mean(), abs=1e-12)
    pac = ((index > 0.1) & (index <= 0.9)).mean()
    assert _resampling.ambiguous_share(found) == pytest.approx(pac, abs=1e-12)


@given(cuts_of_groups())
def test_stability_is_the_mean_ari_of_pairs_of_cuts(drawn):
    cuts, sizes = drawn
    objects = np.repeat(np.arange(len(sizes)), sizes)
    expected = [
        ari(a[objects], b[objects]) for a, b in combinations(cuts, 2) if ((a >= 0) & (b >= 0)).any()
    ]
    found = _resampling.stability(cuts, sizes)
    assert np.isnan(found) if not expected else found == pytest.approx(np.mean(expected))


def test_pairs_of_many_groups_are_sampled(monkeypatch):
    rng = np.random.default_rng(0)
    cuts = [rng.integers(0, 3, 400) for _ in range(6)]
    sizes = np.ones(400, dtype=np.int64)
    exact = _resampling.consensus_distribution(cuts, sizes, np.random.default_rng(0))
    monkeypatch.setattr(_resampling, "_MOST_GROUPS", 100)
    sampled = _resampling.consensus_distribution(cuts, sizes, np.random.default_rng(0))
    assert sampled.mean != exact.mean
    assert sampled.cdf == pytest.approx(exact.cdf, abs=0.05)


def test_halves_are_refits_of_the_method_on_these_members():
    matrix, _ = noisy(members=6)
    est = en.PTGP(2, random_state=3).fit(matrix)
    half = np.array([0, 2, 5])
    cut, largest = est._cuts().of_members(half)
    alone = en.PTGP(4, random_state=est._seed).fit(matrix[:, half])
    assert largest == alone.n_microclusters_
    assert ari(cut(4)[est.microclusters_.of_object], alone.labels_) == 1.0


def test_rows_that_a_half_knows_nothing_of_have_no_label():
    matrix = np.array([[0, 0, 1], [0, 1, 1], [1, -1, -1], [1, 2, 0]])
    cut, largest = en.EAC(1).fit(matrix)._cuts().of_members(np.array([1, 2]))
    assert cut(2).tolist() == [0, 0, -1, 1]
    assert largest == 3


def test_costly_criteria_repeat_and_depend_on_their_seed():
    matrix, _ = noisy(noise=0.4)
    est = en.EAC(2).fit(matrix)
    one, same = (choose_k(est, criteria="all", n_refits=4, random_state=1) for _ in range(2))
    other = choose_k(est, criteria="all", n_refits=4, random_state=2)
    assert one.to_dict() == same.to_dict()
    assert one.scores["pac"].tolist() != other.scores["pac"].tolist()
    assert one.cdf.shape == (len(one.ks), 101)
    assert (np.diff(one.cdf, axis=1) >= 0).all()
    assert one.cdf[:, -1] == pytest.approx(1.0)


def test_gain_in_area():
    assert _resampling.area_gains(np.array([0.0, 0.5, 0.6])) == pytest.approx([0.0, 0.0, 0.2])
