"""Cases that tell members from members with a small mistake (tools/hand_mutants.toml)."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering

from ensemblage.ensembles import _coarse, _scaling
from ensemblage.ensembles._member import fit_member
from ensemblage.ensembles._plan import make_plan

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(60, 3)) + 6 * (np.arange(60) % 3)[:, None]


def plan_of(**options):
    given = {"method": "kmeans", "n_clusters_range": (3, 3), "scale": None, "subspace": None}
    given |= {"projection": None, "subsample": None, "seed": 0}
    return make_plan("generate", FEATURES, **(given | options))


def test_a_member_labels_the_objects_it_saw_as_it_did():
    plan = plan_of(method=AgglomerativeClustering(), subsample=0.5)
    member = fit_member(plan, 0)
    seen = np.flatnonzero(member.labels >= 0)
    assert len(seen) == 30
    placed = member.place(plan, plan.features[seen])
    np.testing.assert_array_equal(placed, member.labels[seen])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_blocks_of_rows_change_no_scale(kind, monkeypatch):
    monkeypatch.setattr(_scaling, "_ROWS", 7)
    deviations, _ = _scaling.learn_scales(FEATURES.astype(kind))
    np.testing.assert_allclose(deviations, FEATURES.std(axis=0), rtol=1e-5)
    scaled = _scaling.learn_scaling(FEATURES.astype(kind), "standard").apply(FEATURES.astype(kind))
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-4)


def test_a_coarse_member_that_links_nothing_is_not_kept(monkeypatch):
    plan = plan_of(method=AgglomerativeClustering(), n_clusters_range=(6, 6))
    finest = fit_member(plan, 0)
    monkeypatch.setattr(_coarse, "fit_member", lambda *_: finest)
    assert len(_coarse.make_members(plan, 3, 1, 2)) == 3
    monkeypatch.undo()
    assert len(_coarse.make_members(plan, 3, 1, 2)) == 4
