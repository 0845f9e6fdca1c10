"""scikit-learn's estimator checks, without exception."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import quorate as qr


@parametrize_with_checks(
    [
        qr.EnsembleClustering(),
        qr.EnsembleClustering(2, method=["rpcl", "kmeans"], n_members=4, subsample=0.8),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
