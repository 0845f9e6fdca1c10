"""What a fit leaves is its own: results can be changed, and a fit that fails leaves nothing."""

import warnings
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import ensemblage as en

V = [[1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 3], [2, 2, 3], [2, 3, 3], [2, 3, 1]]
#: Six groups that no vote links.
GROUPS = np.repeat(np.arange(6), 5)[:, None] + np.zeros((1, 3), int)
MODELS = [en.EAC(3), en.Consensus(3), en.LCA(3), en.EnsembleClustering(3, n_members=4)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("X", [np.array(V), pd.DataFrame(V)], ids=["array", "DataFrame"])
def test_labels_that_were_returned_can_be_changed(model, X):
    model.set_params(**({"random_state": 0} if "random_state" in model.get_params() else {}))
    labels = model.fit_predict(X)
    before = model.labels_.copy()
    labels[:] = -1
    np.testing.assert_array_equal(model.labels_, before)


def test_vote_probabilities_can_be_changed():
    model = en.LCA(2).fit(V)
    before = model.memberships_
    model.vote_probabilities_[:] = 0
    np.testing.assert_array_equal(model.memberships_, before)


@pytest.mark.parametrize(
    "model",
    [en.LCA(2), en.Consensus(2), en.Consensus(2, method="eac"), en.NMF(2, random_state=0)],
    ids=str,
)
def test_a_fit_that_ends_by_a_warning_leaves_nothing(model, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", en.UnlinkedGroupsWarning)
        with pytest.raises(en.UnlinkedGroupsWarning):
            model.fit(GROUPS)
    assert not [name for name in vars(model) if name.endswith("_")]
    for call in (lambda: model.predict(GROUPS), lambda: model.save(tmp_path / "m.ensemblage")):
        with pytest.raises(NotFittedError):
            call()


def test_nor_does_one_of_features():
    features = np.random.default_rng(0).normal(size=(60, 2))
    model = en.EnsembleClustering(n_members=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", en.NoStructureWarning)
        with pytest.raises(en.NoStructureWarning):
            model.fit(features)
    assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        en.metrics.clusters(model)


def test_nor_do_changes_inside_a_parameter(tmp_path):
    votes = np.random.default_rng(0).integers(0, 4, (60, 6))
    params = {"linkage": "complete"}
    model = en.Consensus(3, method="eac", method_params=params).fit(votes)
    expected, page = model.cut(4).tolist(), en.report.html(model)
    params["linkage"] = "single"
    model.save(tmp_path / "m.ensemblage")
    loaded = en.load(tmp_path / "m.ensemblage")
    assert loaded.method_params == {"linkage": "complete"}
    assert loaded.cut(4).tolist() == expected
    assert en.report.html(model) == page

    features = np.random.default_rng(0).normal(size=(60, 2))
    model = en.EnsembleClustering(3, consensus=en.EAC(), n_members=5, random_state=0).fit(features)
    model.set_params(consensus__linkage="single")
    model.save(tmp_path / "m.ensemblage")
    assert en.load(tmp_path / "m.ensemblage").consensus.linkage == "average"


@pytest.mark.parametrize("name", ["eac", "ecmc", "ecpcs", "lwea", "pta", "srs", "wct", "weac"])
def test_nor_do_those_of_a_tree(name):
    fine = np.repeat(np.arange(8), 20)
    votes = np.column_stack([fine // 4, fine, fine, fine])
    votes[:3, 0] = 2
    model = en.METHODS[name](4).fit(votes)

    def cuts():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            labels = [model.cut(k).tolist() for k in (2, 3, 5)]
        return labels, [str(one.message) for one in caught]

    before = cuts()
    model.set_params(min_cluster_size=20, linkage="single")
    assert cuts() == before


@pytest.mark.parametrize("other", [{"method": "lca"}, {"method": "bogus"}, {"n_clusters": 99}])
@pytest.mark.parametrize("method", ["auto", "eac", "nmf"])
def test_parameters_that_are_set_after_a_fit_do_not_change_it(other, method, tmp_path):
    model = en.Consensus(2, method=method, random_state=0).fit(V)
    expected, page = model.cut(3).tolist(), en.report.html(model)
    model.set_params(**other)
    assert model.cut(3).tolist() == expected
    assert en.report.html(model) == page
    model.save(tmp_path / "m.ensemblage")
    loaded = en.load(tmp_path / "m.ensemblage")
    assert loaded.method == method
    loaded.set_params(**other, n_jobs=1)
    assert loaded.cut(3).tolist() == expected
    with (
        pytest.raises(ValueError, match=r"bogus|99")
        if other != {"method": "lca"}
        else nullcontext()
    ):
        model.fit(V)


def test_parameters_of_loaded_models_are_their_own(tmp_path):
    votes = np.repeat([[0, 0], [1, 1], [1, 2]], 5, axis=0)
    model = en.Consensus(2, method="lwea", method_params={"min_cluster_size": 2}).fit(votes)
    model.save(tmp_path / "a.ensemblage")
    loaded = en.load(tmp_path / "a.ensemblage")
    loaded.method_params["min_cluster_size"] = 5
    loaded.save(tmp_path / "b.ensemblage")
    assert en.load(tmp_path / "b.ensemblage").method_params == {"min_cluster_size": 2}


def test_so_are_those_of_models_of_features(tmp_path):
    features = np.random.default_rng(0).normal(size=(30, 2))
    model = en.EnsembleClustering(2, n_members=4, random_state=0).fit(features)
    model.save(tmp_path / "a.ensemblage")
    loaded = en.load(tmp_path / "a.ensemblage").set_params(n_members=99)
    loaded.save(tmp_path / "b.ensemblage")
    assert en.load(tmp_path / "b.ensemblage").n_members == 4
