"""GPMGLA, LWGP, USENC, HBGF and LWPT: worked numbers, object-level twins, the authors' labels."""

import warnings

import graph_twins
import numpy as np
import pytest
import twins
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.io import loadmat

import ensemblage as en
from ensemblage import flow, metrics
from ensemblage.testing.strategies import votes

FAMILY = ["gpmgla", "hbgf", "lwgp", "lwpt", "usenc"]
RUNS = [f"{name}_e{i}" for name in ("MF", "IS", "ODR", "LS") for i in range(3)]


def make(name, n_clusters=2, **parameters):
    est = en.METHODS[name](n_clusters, **parameters)
    return est.set_params(random_state=0) if "random_state" in est.get_params() else est


def noisy(seed, gaps=False):
    """Return votes of up to 36 objects, several of them alike, by three to five clusterings."""
    rng = np.random.default_rng(seed)
    n_objects, n_clusterings = rng.integers(8, 19), rng.integers(3, 6)
    truth = rng.integers(0, 4, n_objects)
    labels = rng.integers(0, 5, (n_objects, n_clusterings))
    wrong = rng.random((n_objects, n_clusterings)) < 0.4
    matrix = np.where(wrong, labels, truth[:, None])
    if gaps:
        matrix[rng.random(matrix.shape) < 0.15] = -1
        matrix[(matrix < 0).all(axis=1), 0] = 0
    return rng.permutation(matrix[rng.integers(0, n_objects, 2 * n_objects)])


# -- worked numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpmgla", "hbgf", "lwgp", "usenc"])
def test_worked_partition_of_e2(name, e2):
    for seed in range(5):
        est = make(name)
        if "random_state" in est.get_params():
            est.set_params(random_state=seed)
        assert est.fit_predict(e2).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def assert_rows_up_to_signs(found, expected):
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=5e-7)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=5e-6)


def test_worked_cut_of_gpmgla(e2):
    est = make("gpmgla").fit(e2)
    cut = est._transfer_cut
    values = [1, 0.825996, 0.314036, 0.066926, 0.021357]
    np.testing.assert_allclose(cut.eigenvalues(5), values, atol=5e-7)
    expected = np.array([[0.656153, 0.754628], [0.958830, 0.283981],
                         [0.817943, -0.575299], [0.692805, -0.721125]])  # fmt: skip
    assert_rows_up_to_signs(cut.embedding(2), expected)
    np.testing.assert_array_equal(cut._B.toarray()[0], [0.5, 0, 0.5, 0, 0])


def test_worked_cut_of_usenc(e2):
    cut = make("usenc").fit(e2)._transfer_cut
    np.testing.assert_allclose(cut.eigenvalues(5), [1, 0.908248, 0.5, 0.091752, 0], atol=5e-7)
    expected = np.array([[0.668545, 0.743671], [0.958908, 0.283718],
                         [0.817645, -0.575723], [0.668545, -0.743671]])  # fmt: skip
    assert_rows_up_to_signs(cut.embedding(2), expected)


def test_worked_cut_of_lwgp(e2):
    cut = make("lwgp").fit(e2)._transfer_cut
    values = [1, 0.950759, 0.620127, 0.127688, 0]
    np.testing.assert_allclose(cut.eigenvalues(5), values, atol=5e-7)


def test_worked_trajectories_of_lwpt(e3):
    est = make("lwpt").fit(e3)
    for k, cosines, costs, labels in (
        (2, [0.999632, 0.998648, 0.275338, 0.999691, 0.301301, 0.324917],
         [0.000412, 0.002865, 2.110605], [0, 0, 0, 0, 0, 0, 1, 1]),
        (3, [0.913496, 0.802859, 0.025690, 0.975913, 0.054824, 0.078053],
         [0.032116, 0.464727, 2.731789], [0, 0, 0, 1, 1, 1, 2, 2]),
    ):  # fmt: skip
        rows, sizes = est._trajectories(k), est.microclusters_.sizes
        np.testing.assert_allclose((rows @ rows.T)[np.triu_indices(4, 1)], cosines, atol=5e-7)
        tree = flow.agglomerate(flow.ward_costs(rows, sizes), "ward", sizes)
        np.testing.assert_allclose(tree[:, 2], costs, atol=5e-7)
        assert est.cut(k).tolist() == labels


# -- the objects themselves ------------------------------------------------------------------------


def object_graph(name, matrix):
    codes = graph_twins.object_codes(matrix)
    if name == "gpmgla":
        return graph_twins.gpmgla_graph(codes)
    if name == "lwgp":
        entropies = graph_twins.uncertainty(codes)
        n_voting = (codes >= 0).any(axis=0).sum()
        return twins.membership(codes) * np.exp(-entropies / (0.4 * n_voting))
    return twins.membership(codes)


@pytest.mark.parametrize("name", ["gpmgla", "hbgf", "lwgp", "usenc"])
@given(matrix=votes(), k=st.integers(1, 6))
@example(matrix=np.array([[0, -1, 0, -1], [0, -1, 1, -1]]), k=1)
def test_embeddings_are_those_of_the_objects(name, matrix, k):
    graph = object_graph(name, matrix)
    assume((graph.sum(axis=1) > 0).all())  # votes in weightless clusterings only
    values, rows = twins.transfer_cut(graph, graph.shape[1])
    cut = make(name, 1).fit(matrix)._transfer_cut
    np.testing.assert_allclose(cut.eigenvalues(), values, atol=1e-10)
    assume(k >= len(values) or values[k - 1] - values[k] > 1e-6)
    rows = coordinates(graph, k)[: len(matrix)]
    found = cut.coordinates(k)[en.microclusters(matrix).of_object]
    np.testing.assert_allclose(found @ found.T, rows @ rows.T, atol=1e-8)


def coordinates(graph, k):
    """Return the transferred eigenvectors before rows are scaled."""
    d = graph.sum(axis=1)
    small = graph.T @ np.diag(1 / d) @ graph
    root = np.sqrt(small.sum(axis=1))
    _, vectors = np.linalg.eigh(small / root[:, None] / root[None, :])
    return np.diag(1 / d) @ graph @ (vectors[:, ::-1][:, :k] / root[:, None])


@pytest.mark.parametrize("name", ["gpmgla", "lwpt"])
@pytest.mark.parametrize("gaps", [False, True])
@given(seed=st.integers(0, 10**6), data=st.data())
def test_partitions_are_those_of_the_objects(name, gaps, seed, data):
    matrix = noisy(seed, gaps)
    ensemble = en.Ensemble(matrix)
    n, fewest = len(ensemble.microclusters.sizes), max(2, ensemble.links.n_groups)
    assume(n > fewest)  # with fewer clusters than linked groups, a rule joins groups
    k = data.draw(st.integers(fewest, n - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        labels, margin = getattr(graph_twins, name)(matrix, k)
    assume(margin > 1e-8)  # no tie decided
    assert metrics.ari(make(name, k).fit_predict(matrix), labels) == 1.0


@pytest.mark.parametrize("twin", [graph_twins.gpmgla, graph_twins.lwpt])
def test_ties_seldom_decide(twin):
    """The test above must not pass by assuming everything away."""
    assert sum(twin(noisy(seed), 3)[1] > 1e-8 for seed in range(40)) > 20


@given(seed=st.integers(0, 10**6), k=st.integers(2, 5))
def test_trajectories_are_those_of_the_objects(seed, k):
    matrix = noisy(seed)
    codes = graph_twins.object_codes(matrix)
    groups = en.microclusters(matrix)
    assume(k < len(groups.sizes))
    est = make("lwpt", k).fit(matrix)
    _, mu, _ = graph_twins.lwpt_walk(codes)
    np.testing.assert_allclose(est._transfer_cut.eigenvalues(), mu, atol=1e-10)
    rows, expected = est._trajectories(k)[groups.of_object], graph_twins.lwpt_rows(codes, k)
    weights = mu ** graph_twins.lwpt_length(mu, k)
    assume((np.abs(weights - 1e-4) > 1e-8).all())  # a column that is just kept, or just not
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-6)


def test_order_of_objects_and_clusterings_does_not_matter_to_lwpt():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 40)
    matrix = np.where(rng.random((160, 8)) < 0.3, rng.integers(0, 6, (160, 8)), truth[:, None])
    rows, columns = rng.permutation(160), rng.permutation(8)
    for k in (2, 4, 7):
        a, b = make("lwpt", k).fit(matrix), make("lwpt", k).fit(matrix[rows][:, columns])
        assert metrics.ari(a.labels_[rows], b.labels_) == 1.0


# -- edges -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILY)
def test_as_many_clusters_as_microclusters_or_one(name):
    matrix = noisy(3, gaps=True)
    groups = en.microclusters(matrix)
    assert set(make(name, 1).fit_predict(matrix).tolist()) == {0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        labels = make(name, len(groups.sizes)).fit_predict(matrix)
    assert labels.max() < len(groups.sizes)
    if name == "lwpt":
        np.testing.assert_array_equal(labels, groups.of_object)


@pytest.mark.parametrize("name", FAMILY)
def test_more_clusters_than_the_ensemble_has(name):
    matrix = np.array([[0, -1], [0, 0], [-1, 0], [1, 0], [1, -1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        est = make(name, 4).fit(matrix)  # 3 clusters in the ensemble, 5 microclusters
    assert 1 < est.n_clusters_ <= 4


@pytest.mark.parametrize("name", FAMILY)
def test_separate_parts_are_found(name):
    """A graph in several pieces: each is a cluster when that many are asked for."""
    parts = np.repeat([[0, 0, 0], [0, 1, 0], [5, 5, 5], [5, 6, 5], [7, 7, 7]], 3, axis=0)
    truth = np.repeat([0, 0, 1, 1, 2], 3)
    assert make(name, 3).fit_predict(parts).tolist() == truth.tolist()


@pytest.mark.parametrize("name", FAMILY)
def test_a_clustering_without_votes_and_a_constant_one(name):
    matrix = noisy(5)
    silent = np.column_stack([matrix, np.full(len(matrix), -1), np.zeros(len(matrix), dtype=int)])
    est = make(name, 3).fit(silent)
    assert est.n_clusters_ == 3
    assert est.labels_.shape == (len(matrix),)


@pytest.mark.parametrize(
    ("name", "parameter", "bad"),
    [("gpmgla", "alpha", 0), ("gpmgla", "alpha", "half"), ("gpmgla", "beta", -1),
     ("gpmgla", "beta", np.nan), ("lwgp", "theta", 0.0), ("lwgp", "theta", None),
     ("lwpt", "theta", -0.1), ("lwpt", "theta", np.inf), ("lwgp", "theta", True),
     ("hbgf", "solver", "magic")],
)  # fmt: skip
def test_bad_parameters_are_named(name, parameter, bad, e2):
    with pytest.raises(ValueError, match=f"'{parameter}' parameter of {name.upper()} must be"):
        make(name, 2, **{parameter: bad}).fit(e2)


def test_parameters_matter(e3):
    assert en.GPMGLA().get_params() == {"alpha": 0.5, "beta": 2.0, "n_clusters": 8, "n_jobs": None}
    assert en.HBGF().solver == "spectral"
    for one, two in (
        (en.GPMGLA(2), en.GPMGLA(2, alpha=5)),
        (en.GPMGLA(2), en.GPMGLA(2, beta=0)),
        (en.LWGP(2, random_state=0), en.LWGP(2, theta=3, random_state=0)),
        (en.LWPT(2), en.LWPT(2, theta=3)),
    ):
        a, b = (est.fit(e3)._transfer_cut.eigenvalues() for est in (one, two))
        assert np.abs(a - b).max() > 1e-3
    everything = en.LWGP(2, theta=1e6, random_state=0).fit(e3)._transfer_cut.eigenvalues()
    plain = en.USENC(2, random_state=0).fit(e3)._transfer_cut.eigenvalues()
    np.testing.assert_allclose(everything, plain, atol=1e-5)


@pytest.mark.parametrize("name", ["lwgp", "lwpt"])
def test_tiny_theta_does_not_underflow(name):
    matrix = noisy(7)
    est = make(name, 3, theta=1e-12).fit(matrix)
    assert np.isfinite(est._transfer_cut.coordinates(3)).all()


def test_votes_in_weightless_clusterings_only():
    """Two clusterings agree; the third is unlike both, and all that one object has."""
    matrix = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [-1, -1, 0]])
    est = make("gpmgla", 2).fit(matrix)
    assert est.labels_[:4].tolist() == [0, 0, 1, 1]
    assert not est._transfer_cut.embedding(2)[4].any()


def test_lwpt_with_more_microclusters_than_ward_takes(monkeypatch):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), [60, 40, 50])
    matrix = np.where(rng.random((150, 10)) < 0.2, rng.integers(0, 3, (150, 10)), truth[:, None])
    whole = make("lwpt", 3).fit(matrix)
    assert whole.n_microclusters_ > 60
    monkeypatch.setattr("ensemblage.methods.lwpt._ROWS_FOR_WARD", 20)
    few = make("lwpt", 3).fit(matrix)
    assert metrics.ari(few.labels_, truth) > 0.9
    assert few.cut(40).max() == 39  # more than the 20


def test_no_matrix_of_all_pairs(monkeypatch):
    """Beyond the rows that Ward takes, nothing grows with the square of microclusters."""
    import tracemalloc

    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 4, (6000, 8))
    ensemble = en.Ensemble(matrix)
    n = len(ensemble.microclusters.sizes)
    monkeypatch.setattr("ensemblage.methods.lwpt._ROWS_FOR_WARD", 100)
    for name in FAMILY:
        make(name, 3).fit(ensemble)
        tracemalloc.start()
        make(name, 3).fit(ensemble)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * n * n / 10


def test_too_many_clusters_are_refused_before_they_are_compared(monkeypatch, e3):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1000")
    for name in FAMILY:
        with pytest.raises(en.MemoryBudgetError, match="graph of 7 clusters"):
            make(name).fit(e3)


# -- the authors' program --------------------------------------------------------------------------


@pytest.fixture(scope="module", params=RUNS)
def run(request, data_folder):
    """Return an ensemble, the truth, and the authors' numbers for it."""
    golden = np.load(data_folder / "golden" / f"{request.param}.npz")
    baselines = np.load(data_folder / "golden" / f"{request.param}_baselines.npz")
    pool = loadmat(data_folder / "pools" / f"bc_pool_{request.param[:-3]}.mat")
    ensemble = en.Ensemble(pool["members"][:, golden["bc_idx"]])
    return ensemble, pool["gt"].ravel(), baselines


def test_weights_of_clusterings_and_certainties_of_clusters(run):
    ensemble, _, baselines = run
    table, sizes, _ = ensemble.microclusters
    owner = flow.owners(table)
    ncai = flow.clustering_weights(flow.member_nmi(table, sizes), 1.0)
    np.testing.assert_allclose(ncai, baselines["ncai"].ravel(), rtol=1e-9)
    eci = flow.cluster_certainties(flow.cluster_entropies(table, sizes), 10, 0.4)
    theirs = baselines["eci"].ravel()
    for m in range(10):  # clusters are numbered otherwise
        mine = owner == m
        np.testing.assert_allclose(np.sort(eci[mine]), np.sort(theirs[mine]), rtol=1e-9)


def test_gpmgla_is_the_authors_at_every_k(run):
    ensemble, _, baselines = run
    est = en.GPMGLA(2).fit(ensemble)
    for column, k in enumerate(baselines["cls_nums"].tolist()):
        assert metrics.ari(est.cut(k), baselines["labels_gpmgla"][:, column]) == 1.0


def test_lwgp_lies_within_the_spread(run):
    ensemble, truth, baselines = run
    fits = [en.LWGP(2, random_state=seed).fit(ensemble) for seed in range(3)]
    differences = []
    for column, k in enumerate(baselines["cls_nums"].tolist()):
        ours = [metrics.nmi(est.cut(k), truth) for est in fits]
        theirs = baselines["nmi_max_lwgp"][:, column]
        differences.append(np.mean(ours) - theirs.mean())
        assert min(ours) - 0.03 < theirs.mean() < max(ours) + 0.03
    assert abs(np.mean(differences)) < 0.01


@pytest.mark.parametrize("seed", [2, 6, 7, 9, 12, 13])
def test_few_rows_are_cut_alike_in_any_order(seed):
    matrix = np.random.default_rng(seed).integers(0, 4, (30, 6))
    labels = en.LWGP(4, random_state=0).fit_predict(matrix)
    for other in range(5):
        order = np.random.default_rng(other).permutation(30)
        again = en.LWGP(4, random_state=0).fit_predict(matrix[order])
        assert metrics.ari(again, labels[order]) == 1
