import tracemalloc

import numpy as np
import pandas as pd
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import ensemblage as en
from ensemblage.metrics import agreement, ari, ensemble_nmi, nmi

AVERAGES = ["max", "min", "geometric", "arithmetic"]


@st.composite
def pairs(draw, lowest=0):
    n = draw(st.integers(1, 30))
    labels = npst.arrays(np.int64, n, elements=st.integers(lowest, 4))
    return draw(labels), draw(labels)


def test_the_papers_example(e2):
    assert nmi(e2[:, 0], e2[:, 1]) == pytest.approx(0.419937, abs=5e-7)


@pytest.mark.parametrize("average", AVERAGES)
@given(both=pairs(lowest=-1))
def test_nmi_agrees_with_its_definition(average, both):
    a, b = both
    if ((a >= 0) & (b >= 0)).any():
        assert nmi(a, b, average) == pytest.approx(twins.nmi(a, b, average), abs=1e-12)
        assert nmi(a, b, average) == pytest.approx(nmi(b, a, average), abs=1e-12)
    else:
        with pytest.raises(ValueError, match="No object has a label in both"):
            nmi(a, b, average)


@given(pairs())
def test_both_agree_with_scikit_learn(both):
    a, b = both
    assert ari(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)
    if len(set(a.tolist())) > 1 and len(set(b.tolist())) > 1:
        for average in AVERAGES:
            theirs = normalized_mutual_info_score(a, b, average_method=average)
            assert nmi(a, b, average) == pytest.approx(theirs, abs=1e-12)


def test_a_single_cluster():
    for average in AVERAGES:
        assert nmi([1, 1], [2, 2], average) == 1.0
        assert nmi([1, 1], [1, 2], average) == 0.0
    assert ari([1, 1], [2, 2]) == 1.0


def test_names_do_not_matter():
    assert nmi(["a", "b", "a"], [3.0, 2.0, 3.0]) == 1.0
    assert ari(pd.Series(["a", "b", "a"], dtype="category"), [True, False, True]) == 1.0


def test_exact_counts_do_not_overflow():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, (2, 400_000))
    b[:200_000] = a[:200_000]
    assert ari(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)
    # The same table a million times over: pairs are beyond 64 bits when multiplied.
    from ensemblage.metrics import agreement

    sizes = np.array([5 * 10**8, 10**8, 4 * 10**8])
    assert agreement._ordered_pairs(sizes) == sum(int(s) * (int(s) - 1) for s in sizes)


@given(st.integers(0, 20))
def test_mean_nmi_with_an_ensemble(seed):
    rng = np.random.default_rng(seed)
    votes = rng.integers(-1, 3, (40, 4))
    votes[:, 0] = np.abs(votes[:, 0])
    labels = rng.integers(0, 3, 40)
    expected = np.mean([nmi(labels, column) for column in votes.T])
    assert ensemble_nmi(labels, votes) == pytest.approx(expected, abs=1e-12)
    assert ensemble_nmi(labels, en.Ensemble(votes)) == pytest.approx(expected, abs=1e-12)


def test_a_clustering_that_nobody_voted_in_is_left_out():
    votes = [[0, -1, 1], [1, -1, 1], [1, -1, 0]]
    assert ensemble_nmi([0, 1, 1], votes) == ensemble_nmi([0, 1, 1], np.array(votes)[:, [0, 2]])


def test_gaps_in_lists_of_words():
    assert nmi(["a", "a", "b", float("nan")], [0, 0, 1, 1]) == 1.0
    assert nmi(["a", "a", "b", None], [0, 0, 1, 1]) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nmi([1, 2], [1, 2, 3]), r"labels of the same objects.*\(2,\) and \(3,\)"),
        (lambda: nmi([[1, 2]], [[1, 2]]), "labels of the same objects"),
        (lambda: nmi([1], [1], "harmonic"), "'average' parameter of nmi must be one of 'max'"),
        (lambda: ari([], []), "no objects"),
        (lambda: ensemble_nmi([-1, 0], [[0, 1], [-1, -1]]), "no vote in any"),
        (lambda: ensemble_nmi([-1, -1], [[0], [1]]), "is undefined"),
    ],
)
def test_bad_calls(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("average", AVERAGES)
def test_many_overlaps_give_the_scores_of_few(average, monkeypatch):
    rng = np.random.default_rng(0)
    table = rng.integers(-1, 6, (80, 5)).astype(np.int32)
    table[:, 4] = 0
    labels, sizes = rng.integers(0, 60, 80), rng.integers(1, 9, 80)  # most overlaps are 0
    at_once = agreement._nmi_with_each(labels, table, sizes, average)
    monkeypatch.setattr(agreement, "_FEW_OVERLAPS", 0)
    monkeypatch.delattr(agreement.flow, "overlaps_with")
    one_by_one = agreement._nmi_with_each(labels, table, sizes, average)
    np.testing.assert_allclose(one_by_one, at_once, atol=1e-12)


def test_scores_of_many_clusters_take_little_memory():
    """A table of 1,500 by 6,000 overlaps, of which 6,000 are not 0, takes 72 MB."""
    labels = np.arange(1500)
    table = np.repeat(labels[:, None], 4, axis=1).astype(np.int32)
    tracemalloc.start()
    score = agreement.nmi_with_members(labels, table, np.full(1500, 3))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert score == 1.0
    assert peak < 8e6
