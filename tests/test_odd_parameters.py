"""Values of parameters that are far outside of what anybody means."""

from fractions import Fraction

import numpy as np
import pytest

import ensemblage as en
from ensemblage._validate import check_number, check_share, check_whole

VOTES = np.random.default_rng(0).integers(0, 3, (40, 6))
HUGE = 10**400


@pytest.mark.parametrize(
    ("estimator", "parameter"),
    [
        (en.LCA(3, tol=HUGE), "tol"),
        (en.LWEA(3, theta=HUGE), "theta"),
        (en.Median(3, a=HUGE), "a"),
        (en.SRS(3, decay=Fraction(HUGE)), "decay"),
        (en.EAC(3, min_cluster_size=Fraction(HUGE)), "min_cluster_size"),
        (en.EAC(3, min_cluster_size=0.0), "min_cluster_size"),
        (en.Median(3, n_runs=2**31), "n_runs"),
        (en.NMF(3, n_starts=2**31), "n_starts"),
        (en.Consensus(3, method="ptq"), "method"),
    ],
)
def test_the_parameter_is_named(estimator, parameter):
    with pytest.raises(en.ParameterError) as caught:
        estimator.fit(VOTES)
    assert (caught.value.owner, caught.value.parameter) == (type(estimator).__name__, parameter)


def test_weights_beyond_the_range_of_floats():
    with pytest.raises(ValueError, match="member_weight of EAC must be 6 number"):
        en.EAC(3).fit(VOTES, member_weight=[Fraction(HUGE), 1, 1, 1, 1, 1])


def test_walks_that_would_not_fit_in_memory():
    with pytest.raises(MemoryError, match="walks of 2147483648 steps"):
        en.ECPCS(3, n_steps=2**31).fit(VOTES)


def test_memory_is_estimated_for_threads_that_have_work():
    en.PTGP(3, n_jobs=10**6, random_state=0).fit(VOTES)


def test_n_jobs_of_microclusters_is_checked():
    with pytest.raises(en.ParameterError, match="'n_jobs' parameter of microclusters"):
        en.microclusters(VOTES, n_jobs="x")


@pytest.mark.parametrize("kind", ["M8[D]", "m8[s]"])
def test_times_are_not_features(kind):
    """NaT would be the number -2**63."""
    times = np.array([[1], [2], ["NaT"], [3]], dtype=kind)
    with pytest.raises(ValueError, match="Features must be numbers, but times"):
        en.ensembles.generate(times, n_members=1, n_clusters_range=(2, 2))


def test_a_clusterer_of_features_is_not_a_consensus_method():
    with pytest.raises(en.ParameterError, match="'consensus' parameter of EnsembleClustering"):
        en.EnsembleClustering(3, consensus=en.EnsembleClustering(3)).fit(VOTES * 1.5)


def test_a_class_without_fit_is_not_called_an_estimator():
    with pytest.raises(TypeError, match="such as PTGP"):
        en.metrics.choose_k(dict)


@pytest.mark.filterwarnings("error")
def test_votes_that_are_all_missing():
    with pytest.raises(ValueError, match="have no vote in any clustering"):
        en.EAC(2).fit([[np.nan], [np.nan]])


def test_the_highest_number_is_accepted():
    assert check_whole("x", "y", 7, 0, highest=7) == 7
    with pytest.raises(en.ParameterError, match="a whole number from 0 to 7"):
        check_whole("x", "y", 8, 0, highest=7)


def test_more_members_than_there_are_seeds():
    with pytest.raises(en.ParameterError, match="n_members"):
        en.graph.consensus([[0, 1]], n_members=2**31)


def test_true_is_no_number():
    for check in (check_number, check_share):
        with pytest.raises(en.ParameterError):
            check("x", "y", True)


def test_words_are_no_labels_of_groups():
    with pytest.raises(TypeError, match="each entry of labels must be a list, got str"):
        en.Ensemble.of_groups([[0], [1]], [1, 1], ["ab"])
