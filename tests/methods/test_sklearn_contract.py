"""scikit-learn's estimator checks, each exception declared with its reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import ensemblage as en

EXPECTED_FAILURES = {
    "check_clustering": "X holds labels, so blobs of floats carry no clusters to recover",
}
ESTIMATORS = [cls(n_clusters=2) for cls in en.METHODS.values()]


@pytest.mark.filterwarnings(
    "ignore::ensemblage.FeaturesAsVotesWarning"
)  # checks pass random floats
@pytest.mark.filterwarnings("ignore::ensemblage.FewerClustersWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
