"""CSPA, HGPA and MCLA against METHODS.md and against their definitions on objects."""

import subprocess
import sys
import warnings

import graph_twins
import numpy as np
import pytest
import scipy.io
import twins
from hypothesis import example, given, settings
from hypothesis import strategies as st
from planted import quiet

import ensemblage as en
from ensemblage import flow, metrics
from ensemblage.testing.strategies import votes

LEVELS = ["microclusters", "objects"]
PARTITIONERS = ["mtkahypar", "metis"]
few = settings(max_examples=30)


@pytest.fixture(scope="module")
def noisy():
    """Ten clusterings into 2 to 9 clusters of 150 objects, all from four groups; some gaps."""
    rng = np.random.default_rng(3)
    truth = np.repeat(np.arange(4), [40, 35, 40, 35])
    matrix = np.empty((150, 10), dtype=int)
    for m in range(10):
        names = rng.integers(0, rng.integers(2, 9), 8)
        fine = truth * 2 + rng.integers(0, 2, 150)
        matrix[:, m] = np.where(rng.random(150) < 0.1, rng.integers(0, 3, 150), names[fine])
    matrix[rng.random(matrix.shape) < 0.05] = -1
    return matrix, truth


# -- METHODS.md 2.5: CSPA --------------------------------------------------------------------------

PARTITIONS = {
    "1111 2222": ([0, 0, 0, 0, 1, 1, 1, 1], 1.0),
    "111 22222": ([0, 0, 0, 1, 1, 1, 1, 1], 1.5),
    "111111 22": ([0, 0, 0, 0, 0, 0, 1, 1], 2.0),
    "111 222 33": ([0, 0, 0, 1, 1, 1, 2, 2], 3.5),
}


def test_worked_graph_of_objects(e2):
    est = en.CSPA(2, level="objects", random_state=0).fit(e2)
    graph = est._graph.toarray()[np.ix_(est._place, est._place)]
    assert graph[0, 1] == graph[4, 5] == graph[6, 7] == 5263158
    assert graph[0, 3] == graph[3, 4] == graph[4, 6] == 2631579
    assert graph[0, 4] == graph[3, 6] == 0
    assert (graph.diagonal() == 0).all()
    np.testing.assert_array_equal(graph, graph_twins.object_graph(e2))


def test_worked_graph_of_microclusters(e2):
    groups = en.microclusters(e2)
    assert groups.sizes.tolist() == [3, 1, 2, 2]
    graph = flow.agreement_graph(groups.table, groups.sizes).toarray()
    expected = np.zeros((4, 4))
    expected[0, 1], expected[1, 2], expected[2, 3] = 1.5, 1.0, 2.0
    np.testing.assert_array_equal(graph, expected + expected.T)


@pytest.mark.parametrize(("parts", "cut"), PARTITIONS.values(), ids=PARTITIONS)
def test_worked_cuts_at_both_levels(e2, parts, cut):
    groups = en.microclusters(e2)
    objects = flow.agreement_graph(e2.astype(np.int32), np.ones(8, dtype=np.int64)).toarray()
    microclusters = flow.agreement_graph(groups.table, groups.sizes).toarray()
    of_micro = [parts[i] for i in (0, 3, 4, 6)]
    assert graph_twins.edges_cut(objects, parts) == cut
    assert graph_twins.edges_cut(microclusters, of_micro) == cut


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@pytest.mark.parametrize("level", LEVELS)
def test_worked_balanced_optimum(e2, level, partitioner):
    for seed in range(3):
        est = en.CSPA(2, level=level, partitioner=partitioner, random_state=seed)
        assert est.fit_predict(e2).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    graph = flow.agreement_graph(e2.astype(np.int32), np.ones(8, dtype=np.int64)).toarray()
    best = graph_twins.least_cut(lambda p: graph_twins.edges_cut(graph, p), np.ones(8), [4, 4])
    assert best == 1.0


@few
@given(matrix=votes(max_objects=12))
def test_the_graph_is_the_sum_over_objects(matrix):
    groups = en.microclusters(matrix)
    S = twins.coassociation(graph_twins.object_codes(matrix))
    graph = flow.agreement_graph(groups.table, groups.sizes).toarray()
    for a in range(len(groups.sizes)):
        for b in range(len(groups.sizes)):
            block = S[np.ix_(groups.of_object == a, groups.of_object == b)].sum()
            np.testing.assert_allclose(graph[a, b], 0 if a == b else block, atol=1e-12)


@few
@example(weights=[1.0122493040149235e-302])
@example(weights=[5e-324, 0.0, 5e-324])
@given(weights=st.lists(st.floats(0, 1e12), min_size=1, max_size=20))
def test_whole_weights(weights):
    weights = np.array(weights)
    whole = flow.whole_weights(weights)
    np.testing.assert_array_equal(whole > 0, weights > 0 if weights.sum() > 0 else False)
    if weights.sum() > 0:
        share = 1e8 * weights / weights.sum()
        assert (np.abs(whole - share) <= 1).all()


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_cspa_is_balanced(noisy, partitioner):
    matrix, truth = noisy
    for level in LEVELS:
        est = en.CSPA(4, level=level, partitioner=partitioner, random_state=0).fit(matrix)
        assert np.bincount(est.labels_).max() <= 1.15 * 150 / 4
        assert metrics.nmi(truth, est.labels_) > 0.8


def test_objects_are_refused_where_they_do_not_fit(monkeypatch):
    matrix = np.random.default_rng(0).integers(0, 3, (5000, 2))  # 9 microclusters
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", str(50_000_000))
    en.CSPA(2).fit(matrix)
    monkeypatch.setattr("ensemblage.flow.agreement_graph", None)  # nothing is built before
    with pytest.raises(en.MemoryBudgetError, match=r"5000 objects would take .* level='micro"):
        en.CSPA(2, level="objects").fit(matrix)


# -- METHODS.md 3.5: HGPA --------------------------------------------------------------------------


def test_worked_nets(e2):
    est = en.HGPA(2, random_state=0).fit(e2)
    assert sorted(est._net_weights) == [12_500_000] + [18_750_000] * 2 + [25_000_000] * 2
    assert est.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    for level in LEVELS:
        for seed in range(3):
            for weights in ("size", "uniform"):
                est = en.HGPA(2, level=level, net_weights=weights, random_state=seed).fit(e2)
                assert est.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert est._net_weights.tolist() == [1] * 5


@pytest.mark.parametrize(
    ("parts", "uniform", "by_size"),
    [
        ([0, 0, 0, 0, 1, 1, 1, 1], 1, 3),
        ([0, 0, 0, 1, 1, 1, 1, 1], 1, 4),
        ([0, 0, 0, 1, 1, 1, 2, 2], 2, 8),
    ],
)
def test_worked_cuts_of_nets(e2, parts, uniform, by_size):
    groups = en.microclusters(e2)
    nets = twins.membership(groups.table[groups.of_object])
    assert graph_twins.nets_cut(nets, np.ones(5), parts) == uniform
    assert graph_twins.nets_cut(nets, nets.sum(axis=0), parts) == by_size
    of_micro = [parts[i] for i in (0, 3, 4, 6)]
    nets_of_micro = twins.membership(groups.table)
    assert graph_twins.nets_cut(nets_of_micro, nets.sum(axis=0), of_micro) == by_size


def test_worked_optimum_of_nets(e2):
    groups = en.microclusters(e2)
    nets = twins.membership(groups.table[groups.of_object])
    best = graph_twins.least_cut(
        lambda p: graph_twins.nets_cut(nets, nets.sum(axis=0), p), np.ones(8), [4, 4]
    )
    assert best == 3


def test_hgpa_is_balanced_at_both_levels(noisy):
    matrix, _ = noisy
    for level in LEVELS:
        est = en.HGPA(4, level=level, random_state=0).fit(matrix)
        # Each of two bisections may be up to 5 % of its objects off.
        assert np.bincount(est.labels_).max() <= 1.25 * 150 / 4
        assert np.bincount(est.labels_).min() >= 0.75 * 150 / 4


def test_hgpa_without_nets_spreads_by_weight():
    # Every cluster is a single microcluster: no net can be cut.
    assert en.HGPA(2, random_state=0).fit_predict([[0], [1], [1], [2]]).tolist() == [0, 1, 1, 0]
    with pytest.raises(ValueError, match="METIS partitions graphs only"):
        en.HGPA(2, partitioner="metis").fit([[0], [1]])
    with pytest.raises(ValueError, match="'net_weights' parameter of HGPA must be one of"):
        en.HGPA(2, net_weights="none").fit([[0], [1]])


# -- all three -------------------------------------------------------------------------------------

VARIANTS = {
    "cspa": en.CSPA(5, random_state=1),
    "cspa metis": en.CSPA(5, partitioner="metis", random_state=1),
    "cspa objects": en.CSPA(5, level="objects", random_state=1),
    "cspa objects metis": en.CSPA(5, level="objects", partitioner="metis", random_state=1),
    "hgpa": en.HGPA(5, random_state=1),
    "hgpa objects": en.HGPA(5, level="objects", random_state=1),
    "hgpa uniform": en.HGPA(5, net_weights="uniform", random_state=1),
    "mcla": en.MCLA(5, random_state=1),
    "mcla metis": en.MCLA(5, partitioner="metis", random_state=1),
}


@pytest.mark.parametrize("est", VARIANTS.values(), ids=VARIANTS)
def test_every_variant_repeats_itself_and_cuts_as_it_fits(noisy, est):
    matrix, _ = noisy
    est = quiet(est.set_params(n_jobs=1), matrix)
    labels = est.labels_
    assert est.n_clusters_ == 5
    assert labels.min() == 0
    assert labels.max() == 4
    again = quiet(est.set_params(n_jobs=2), matrix).labels_
    np.testing.assert_array_equal(again, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.FewerClustersWarning)
        for k in (1, 2, 3, 9):
            refit = type(est)(**{**est.get_params(), "n_clusters": k})
            np.testing.assert_array_equal(est.cut(k), refit.fit_predict(matrix))
    predicted = est.predict(matrix)
    assert (predicted == labels).mean() > (0.7 if "objects" in str(est) else 0.999)


def test_another_process_finds_the_same(noisy, tmp_path):
    matrix, _ = noisy
    np.save(tmp_path / "votes.npy", matrix)
    code = f"""
import numpy as np, ensemblage as en
votes = np.load({str(tmp_path / "votes.npy")!r})
for est in (en.CSPA(5, random_state=1), en.HGPA(5, random_state=1), en.MCLA(5, random_state=1)):
    print(est.fit_predict(votes).tolist())
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = [en.METHODS[name](5, random_state=1).fit_predict(matrix).tolist()
            for name in ("cspa", "hgpa", "mcla")]  # fmt: skip
    assert out.stdout.splitlines() == [str(labels) for labels in here]


@pytest.mark.parametrize("name", ["cspa", "hgpa"])
def test_levels_are_checked(name):
    with pytest.raises(ValueError, match=r"'level' parameter of .* must be one of 'microclusters'"):
        en.METHODS[name](2, level="rows").fit([[0], [1]])


@pytest.mark.parametrize("name", ["cspa", "mcla"])
def test_metis_is_asked_for_before_any_work(name, monkeypatch):
    monkeypatch.setattr("ensemblage.methods._partition.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r'pip install "ensemblage\[metis\]"'):
        en.METHODS[name](2, partitioner="metis").fit("not even votes")


def test_the_shared_pool_gives_what_others_found(data_folder):
    # METHODS.md 20: CSPA on microclusters .598, MCLA .612 (METIS); the paper has .605 and .609.
    pool = scipy.io.loadmat(data_folder / "pools" / "bc_pool_IS.mat")
    truth, scores = pool["gt"].ravel(), {"cspa": [], "mcla": []}
    for draw in range(5):
        columns = np.random.default_rng(draw).choice(200, 10, replace=False)
        ensemble = en.Ensemble(pool["members"][:, columns])
        for name, found in scores.items():
            est = en.METHODS[name](7, random_state=0).fit(ensemble)
            found.append(metrics.nmi(truth, est.labels_))
    assert abs(np.mean(scores["cspa"]) - 0.605) < 0.03
    assert abs(np.mean(scores["mcla"]) - 0.609) < 0.03


# -- HBGF by a partitioner -------------------------------------------------------------------------


@pytest.mark.parametrize("partitioner", ["mtkahypar", "metis"])
def test_hbgf_parts_of_the_papers_example(e2, partitioner):
    if partitioner == "metis":
        pytest.importorskip("pymetis")
    est = en.HBGF(2, solver="partition", partitioner=partitioner, random_state=0).fit(e2)
    assert est.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    np.testing.assert_array_equal(est.predict(e2), est.labels_)


def test_hbgf_parts_of_noisy_groups():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 40)
    votes = np.where(rng.random((120, 10)) < 0.15, rng.integers(0, 3, (120, 10)), truth[:, None])
    est = en.HBGF(3, solver="partition", random_state=0).fit(votes)
    assert en.metrics.ari(truth, est.labels_) > 0.9
    for k in (2, 3, 5):
        again = en.HBGF(k, solver="partition", random_state=0).fit(votes).labels_
        np.testing.assert_array_equal(est.cut(k), again)


def test_the_graph_of_objects_and_clusters(e2):
    groups = en.microclusters(e2)
    graph = en.flow.membership_graph(en.flow.membership(groups.table), groups.sizes).toarray()
    np.testing.assert_array_equal(graph, graph.T)
    np.testing.assert_array_equal(graph[:4, 4:].sum(axis=1), 2 * groups.sizes)
    np.testing.assert_array_equal(graph[:4, :4], 0)
    np.testing.assert_array_equal(graph[4:, :4].sum(axis=1), [4, 4, 3, 3, 2])
