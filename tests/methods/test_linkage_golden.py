"""WEAC and LWEA beside the authors' programs."""

import numpy as np
import pytest
from scipy.io import loadmat

import ensemblage as en
from ensemblage import flow, metrics

GOLDEN = [f"{name}_e{i}" for name in ("MF", "IS", "ODR", "LS") for i in range(3)]


@pytest.fixture(scope="module", params=GOLDEN)
def run(request, data_folder):
    golden = np.load(data_folder / "golden" / f"{request.param}_baselines.npz")
    columns = np.load(data_folder / "golden" / f"{request.param}.npz")["bc_idx"]
    pool = loadmat(data_folder / "pools" / f"bc_pool_{request.param[:-3]}.mat")["members"]
    return pool[:, columns].astype(np.int64), golden


def equal_but_for_ties(est, k, theirs):
    heights = est.linkage_matrix_[:, 2]
    return metrics.ari(est.cut(k), theirs) == 1 or heights[-k + 1] - heights[-k] < 1e-9


def test_weac_against_the_authors(run):
    matrix, golden = run
    est = en.WEAC(2).fit(matrix)
    np.testing.assert_allclose(est.weights_, (golden["ncai"] / golden["ncai"].max()) ** 2)
    for column, k in enumerate(golden["cls_nums"].tolist()):
        assert equal_but_for_ties(est, k, golden["labels_weac_al"][:, column])


@pytest.mark.parametrize(("linkage", "short"), [("complete", "cl"), ("single", "sl")])
def test_weac_with_the_ties_of_octave(run, linkage, short):
    """Equal at every k: nearly all merges are tied, and decided as Octave's `linkage` does."""
    matrix, golden = run
    est = en.WEAC(2, linkage=linkage, ties="octave").fit(matrix)
    for column, k in enumerate(golden["cls_nums"].tolist()):
        assert metrics.ari(est.cut(k), golden[f"labels_weac_{short}"][:, column]) == 1


def test_lwea_against_the_authors(run):
    matrix, golden = run
    ensemble = en.Ensemble(matrix)
    est = en.LWEA(2).fit(ensemble)
    objects = en.LWEA(2, level="objects").fit(ensemble)
    # Theirs are in the order of labels, ours in that of appearance.
    order = np.concatenate([
        np.argsort(list(dict.fromkeys(column.tolist()))) + start
        for column, start in zip(
            matrix.T,
            np.searchsorted(flow.owners(ensemble.microclusters.table), range(10)),
            strict=True,
        )
    ])  # fmt: skip
    np.testing.assert_allclose(est.certainties_[order], golden["eci"], rtol=1e-9)
    of_object = ensemble.microclusters.of_object
    first = np.unique(of_object, return_index=True)[1]
    for column, k in enumerate(golden["cls_nums"].tolist()):
        theirs = golden["labels_lwea"][:, column]
        assert equal_but_for_ties(objects, k, theirs)
        if (theirs[first][of_object] == theirs).all():
            assert equal_but_for_ties(est, k, theirs)
