"""PTA and PTGP with an elite graph for which not all pairs are compared."""

from functools import partial

import numpy as np
import pytest

import ensemblage as en
from ensemblage import flow


@pytest.mark.parametrize("kind", [en.PTA, en.PTGP])
def test_an_approximate_elite_graph_is_reported(kind, monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 900)
    votes = np.where(rng.random((900, 12)) < 0.3, rng.integers(0, 4, (900, 12)), truth[:, None])
    exact = kind(4).fit(votes)
    assert exact.captured_links_ == 1.0
    few = partial(flow.large_elite_graph, most_pairs=0, n_groups=8, n_candidates=256)
    monkeypatch.setattr(flow, "large_elite_graph", few)
    with pytest.warns(en.ApproximateSimilarityWarning, match=r"finds \d+% of its elite neigh"):
        model = kind(4).fit(votes)
    assert 0.3 < model.captured_links_ < 1.0
    assert en.metrics.ari(model.labels_, exact.labels_) > 0.9
    # Gaps and weights compare all pairs.
    assert kind(4).fit(votes, member_weight=np.arange(1, 13)).captured_links_ == 1.0
    votes[0, 0] = -1
    assert kind(4).fit(votes).captured_links_ == 1.0
