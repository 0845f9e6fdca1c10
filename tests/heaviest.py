"""A method that the library does not have, to be registered."""

import numpy as np

from ensemblage.methods import ConsensusClusterer


class Heaviest(ConsensusClusterer):
    """A method of a few lines: its clusters are the heaviest microclusters, the last one the rest.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters to form.
    n_jobs : int or None, default=None
        Threads.
    """

    def __init__(self, n_clusters=8, *, n_jobs=None):
        self.n_clusters = n_clusters
        self.n_jobs = n_jobs

    def _fit(self, X, member_weight):
        self._begin(X, member_weight)
        return self._finish()

    def _cut(self, n_clusters):
        order = np.argsort(-self.microclusters_.sizes, kind="stable")
        labels = np.empty(len(order), dtype=np.int64)
        labels[order] = np.minimum(np.arange(len(order)), n_clusters - 1)
        return labels
