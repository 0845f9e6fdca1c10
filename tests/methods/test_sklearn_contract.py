"""scikit-learn's estimator checks, each exception declared with its reason."""

import names
import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

import ensemblage as en

EXPECTED_FAILURES = {
    "check_clustering": "X holds labels, so blobs of floats carry no clusters to recover",
}
ESTIMATORS = [en.METHODS[name](n_clusters=2) for name in names.METHODS]


@pytest.mark.filterwarnings(
    "ignore::ensemblage.FeaturesAsVotesWarning"
)  # checks pass random floats
@pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::ensemblage.FeaturesAsVotesWarning")
@pytest.mark.parametrize("kind", [en.EAC, en.Consensus, en.EnsembleClustering])
def test_names_of_columns_are_checked_as_there_but_for_their_order(kind):
    """One check that is not among those above: it demands that another order is refused.

    Here columns are found by name, as the command does. Its other demands are kept.
    """
    with pytest.raises(AssertionError):  # at the first order that is not that of the fit
        check_dataframe_column_names_consistency(kind.__name__, kind(2))
    names = np.array([f"feature_{i}" for i in range(8)])
    X = np.random.default_rng(0).normal(size=(150, 8))
    est = kind(2).fit(pd.DataFrame(X, columns=names))
    np.testing.assert_array_equal(est.feature_names_in_, names)
    np.testing.assert_array_equal(
        est.predict(pd.DataFrame(X[:, ::-1], columns=names[::-1])),
        est.predict(pd.DataFrame(X, columns=names)),
    )
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        est.predict(X)
    unseen = pd.DataFrame(X, columns=[f"another_{i}" for i in range(8)])
    for bad, words in ((unseen, "unseen at fit time"), (unseen.iloc[:, :3], "now missing")):
        with pytest.raises(ValueError, match=f"feature names should match(?s:.)*{words}"):
            est.predict(bad)
