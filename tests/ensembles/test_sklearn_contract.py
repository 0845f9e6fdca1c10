"""scikit-learn's estimator checks, without exception."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import ensemblage as en


@parametrize_with_checks(
    [
        en.EnsembleClustering(),
        en.EnsembleClustering(2, method=["rpcl", "kmeans"], n_members=4, subsample=0.8),
    ]
)
@pytest.mark.filterwarnings("ignore::ensemblage.NoStructureWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)
