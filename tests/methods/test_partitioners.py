"""The seam to the partitioners: good cuts, balance, odd cases, repeatability."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import graph_twins
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse import csc_array, csr_array

from ensemblage import flow
from ensemblage.methods import _partition
from ensemblage.methods._partition import check_partitioner, partition_graph, partition_hypergraph

PARTITIONERS = ["mtkahypar", "metis"]
few = settings(max_examples=25)


def split(matrix, weights, k, partitioner="mtkahypar", tolerance=0.005, seed=0):
    graph = csr_array(np.asarray(matrix))
    return partition_graph(
        graph, np.asarray(weights), k, partitioner=partitioner, tolerance=tolerance, seed=seed
    )


def split_nets(nets, weights, net_weights, k, tolerance=0.005, seed=0):
    return partition_hypergraph(
        csc_array(np.asarray(nets, dtype=float)),
        np.asarray(weights),
        np.asarray(net_weights),
        k,
        tolerance=tolerance,
        seed=seed,
    )


@st.composite
def graphs(draw, max_vertices=9, max_weight=9):
    n = draw(st.integers(3, max_vertices))
    upper = np.triu(draw(npst.arrays(np.int64, (n, n), elements=st.integers(0, 30))), 1)
    weights = draw(npst.arrays(np.int64, n, elements=st.integers(1, max_weight)))
    return upper + upper.T, weights


def random_graph(n, seed=0, groups=4):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    inside = group[:, None] == group
    upper = np.triu(rng.integers(1, 50, (n, n)) * (rng.random((n, n)) < 0.1 + 0.5 * inside), 1)
    return upper + upper.T, rng.integers(1, 6, n)


# -- good cuts within the limits -------------------------------------------------------------------


@few
@given(graph=graphs(), seed=st.integers(0, 5))
def test_bisections_of_small_graphs_are_nearly_the_best(graph, seed):
    matrix, weights = graph
    assume(len(flow.giants(weights, 2)) == 0)
    aims, limits = flow.side_limits(weights, (1, 1), 0.005)
    parts = split(matrix, weights, 2, seed=seed)
    assert (np.bincount(parts, weights, 2) <= limits).all()
    assert set(parts.tolist()) == {0, 1}
    best = graph_twins.least_cut(lambda p: graph_twins.edges_cut(matrix, p), weights, aims)
    assert graph_twins.edges_cut(matrix, parts) <= 1.3 * best


@few
@given(
    nets=npst.arrays(np.int64, st.tuples(st.integers(3, 9), st.integers(1, 8)),
                     elements=st.integers(0, 1)),
    data=st.data(),
)  # fmt: skip
def test_bisections_of_small_hypergraphs_are_nearly_the_best(nets, data):
    n, n_nets = nets.shape
    weights = data.draw(npst.arrays(np.int64, n, elements=st.integers(1, 5)))
    net_weights = data.draw(npst.arrays(np.int64, n_nets, elements=st.integers(1, 9)))
    assume(len(flow.giants(weights, 2)) == 0)
    aims, limits = flow.side_limits(weights, (1, 1), 0.05)
    parts = split_nets(nets, weights, net_weights, 2, tolerance=0.05)
    assert (np.bincount(parts, weights, 2) <= limits).all()
    assert set(parts.tolist()) == {0, 1}

    def cut(parts):
        return graph_twins.nets_cut(nets, net_weights, parts)

    if not _partition._Hypergraph(csc_array(nets), net_weights).is_empty():
        assert cut(parts) <= 1.3 * graph_twins.least_cut(cut, weights, aims)


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_three_parts_are_nearly_the_best_on_average(partitioner):
    found, least = 0, 0
    for seed in range(20):
        matrix, _ = random_graph(6, seed, groups=3)
        weights = np.ones(6, dtype=int)
        parts = split(matrix, weights, 3, partitioner, seed=seed)
        assert np.bincount(parts).tolist() == [2, 2, 2]
        found += graph_twins.edges_cut(matrix, parts)
        least += graph_twins.least_cut(
            lambda p, matrix=matrix: graph_twins.edges_cut(matrix, p), weights, [2, 2, 2]
        )
    assert found <= 1.3 * least


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@few
@given(graph=graphs(max_vertices=14, max_weight=30), data=st.data())
def test_every_part_has_a_vertex(partitioner, graph, data):
    matrix, weights = graph
    k = data.draw(st.integers(1, len(weights)))
    parts = split(matrix, weights, k, partitioner)
    assert sorted(set(parts.tolist())) == list(range(k))
    # Of what the giants leave, no part is heavier than two shares: a share and a vertex at most.
    heavy = flow.giants(weights, k)
    rest = weights.sum() - weights[heavy].sum()
    loads = np.delete(np.bincount(parts, weights, k), parts[heavy])
    assert loads.max(initial=0) <= 2.5 * rest / max(1, k - len(heavy)) + 1


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_objects_are_balanced_to_a_few_percent(partitioner):
    matrix, _ = random_graph(200)
    for k in (2, 3, 7, 10):
        counts = np.bincount(split(matrix, np.ones(200, dtype=int), k, partitioner))
        assert len(counts) == k
        assert counts.max() <= 1.06 * 200 / k + 1


# -- odd cases -------------------------------------------------------------------------------------


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_odd_graphs(partitioner):
    chain = np.diag([15, 10, 20], 1)
    chain += chain.T
    assert split(chain, [3, 1, 2, 2], 1, partitioner).tolist() == [0, 0, 0, 0]
    assert split(chain, [3, 1, 2, 2], 4, partitioner).tolist() == [0, 1, 2, 3]
    assert split(chain, [3, 1, 2, 2], 9, partitioner).tolist() == [0, 1, 2, 3]
    assert split([[0]], [7], 1, partitioner).tolist() == [0]
    # No edges: the heaviest first, always to the lightest part.
    edgeless = np.zeros((5, 5), dtype=int)
    assert split(edgeless, [1, 5, 2, 3, 4], 2, partitioner).tolist() == [0, 0, 0, 1, 1]
    # Two components of like size are not cut, and neither is one with isolated vertices.
    two = np.zeros((6, 6), dtype=int)
    two[:3, :3] = two[3:, 3:] = 1 - np.eye(3, dtype=int)
    a, b, c, d, e, f = split(two, [1] * 6, 2, partitioner).tolist()
    assert a == b == c != d == e == f
    lonely = np.zeros((8, 8), dtype=int)
    lonely[:6, :6] = two
    parts = split(lonely, [1] * 8, 2, partitioner)
    assert np.bincount(parts).tolist() == [4, 4]
    assert graph_twins.edges_cut(lonely, parts) == 0


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_vertices_heavier_than_a_part_are_parts(partitioner):
    matrix, weights = random_graph(40)
    weights[3], weights[17] = 100_000, 3_000
    parts = split(matrix, weights, 5, partitioner)
    counts = np.bincount(parts)
    assert counts[parts[3]] == counts[parts[17]] == 1
    loads = np.delete(np.bincount(parts, weights), parts[[3, 17]])
    assert loads.max() <= 1.1 * loads.mean()
    # A star, its middle as heavy as all the rest, and weights of nothing at all.
    star = np.zeros((5, 5), dtype=int)
    star[0, 1:] = star[1:, 0] = 1
    assert len(set(split(star, [4, 1, 1, 1, 1], 3, partitioner).tolist())) == 3
    assert len(set(split(star, [4, 1, 0, 0, 0], 3, partitioner).tolist())) == 3
    assert len(set(split(star, [0, 0, 0, 0, 0], 2, partitioner).tolist())) == 2


def test_odd_hypergraphs():
    ones = np.ones(4, dtype=int)
    assert split_nets(np.zeros((4, 0)), ones, np.zeros(0, int), 2).tolist() == [0, 1, 0, 1]
    # Nets of one vertex and of all do not count: a single net remains, and is not cut.
    nets = np.array([[1, 1, 0], [0, 1, 1], [0, 1, 0], [0, 1, 1]])
    a, b, c, d = split_nets(nets, ones, [9, 9, 1], 2).tolist()
    assert b == d != a == c
    assert split_nets(nets[:, :2], ones, [9, 9], 2).tolist() == [0, 1, 0, 1]
    assert split_nets(nets, ones, [9, 9, 1], 1).tolist() == [0, 0, 0, 0]
    assert split_nets(nets, ones, [9, 9, 1], 4).tolist() == [0, 1, 2, 3]
    assert len(set(split_nets(nets, [90, 1, 1, 1], [9, 9, 1], 3).tolist())) == 3


def test_a_cut_net_counts_no_more():
    # Net 0 is cut by the first bisection whatever happens; only net 1 matters in the second.
    nets = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [1, 0], [0, 0], [0, 0], [0, 0]])
    whole = _partition._Hypergraph(csc_array(nets), np.array([5, 1]))
    side = whole.among(np.array([1, 2, 3, 5]))
    assert side.net_weights.tolist() == [1]
    assert side.nets.toarray().ravel().tolist() == [0, 1, 1, 0]


@given(graph=graphs(), data=st.data())
def test_settling_keeps_the_promises_whatever_comes_in(graph, data):
    matrix, weights = graph
    n = len(weights)
    k = data.draw(st.integers(2, n))
    shares = (k // 2, k - k // 2)
    assume(len(flow.giants(weights, k)) == 0)
    sides = data.draw(npst.arrays(np.int64, n, elements=st.integers(0, 1)))
    _, limits = flow.side_limits(weights, shares, 0.0)
    gains = _partition._Graph(csr_array(matrix), "mtkahypar").gains(sides)
    settled = flow.settle(sides, weights, shares, limits, gains)
    assert (np.bincount(settled, minlength=2) >= shares).all()
    assert (np.bincount(settled, weights, 2) <= limits).all()


@given(graph=graphs(), data=st.data())
def test_settling_moves_what_costs_least(graph, data):
    matrix, weights = graph
    n = len(weights)
    weights = weights - data.draw(st.integers(0, 1)) * weights.min()
    k = data.draw(st.integers(2, n))
    shares = (k // 2, k - k // 2)
    sides = data.draw(npst.arrays(np.int64, n, elements=st.integers(0, 1)))
    total = int(weights.sum())
    limits = np.array(data.draw(st.tuples(*2 * [st.integers(total // 3, total)])))
    gains = _partition._Graph(csr_array(matrix), "mtkahypar").gains(sides)
    expected = graph_twins.settled(
        sides, weights, shares, limits, lambda p: graph_twins.edges_cut(matrix, p)
    )
    if expected is None:
        expected = flow.spread_by_weight(weights, k) >= shares[0]
    found = flow.settle(sides, weights, shares, limits, gains)
    np.testing.assert_array_equal(found, expected)


def test_weightless_vertices_are_spread_by_number():
    parts = flow.spread_by_weight(np.zeros(6, dtype=np.int64), 3)
    assert np.bincount(parts).tolist() == [2, 2, 2]


def test_worked_limits():
    """Shares are 4. Greedy sides are 1 off, as is half a mean vertex; half the heaviest is 2.5."""
    aims, limits = flow.side_limits(np.array([5, 1, 1, 1]), (1, 1), 0.0)
    assert (aims.tolist(), limits.tolist()) == ([5, 5], [6, 6])
    aims, limits = flow.side_limits(np.array([5, 1, 1, 1]), (1, 1), 0.5)
    assert (aims.tolist(), limits.tolist()) == ([8, 8], [8, 8])


def test_giants_may_be_all_there_is():
    assert flow.giants(np.array([4, 9]), 5).tolist() == [1, 0]


@given(graph=graphs(), data=st.data())
def test_gains_are_what_a_move_changes(graph, data):
    matrix, weights = graph
    n = len(weights)
    nets, net_weights = (matrix > 12).astype(int), weights
    sides = data.draw(npst.arrays(np.int64, n, elements=st.integers(0, 1)))
    for structure, cut in (
        (_partition._Graph(csr_array(matrix), "mtkahypar"),
         lambda p: graph_twins.edges_cut(matrix, p)),
        (_partition._Hypergraph(csc_array(nets), net_weights),
         lambda p: graph_twins.nets_cut(nets, net_weights, p)),
    ):  # fmt: skip
        gains, now = structure.gains(sides), sides.copy()
        for vertex in data.draw(st.lists(st.integers(0, n - 1), max_size=3)):
            before, gain = cut(now), gains.of(np.array([vertex]))[0]
            now[vertex] = 1 - now[vertex]
            gains.move(vertex)
            assert before - cut(now) == gain


# -- the same again --------------------------------------------------------------------------------

SCRIPT = """
import numpy as np
from scipy.sparse import csc_array, csr_array
from ensemblage.methods._partition import partition_graph, partition_hypergraph
rng = np.random.default_rng(5)
n = 120
upper = np.triu(rng.integers(0, 9, (n, n)) * (rng.random((n, n)) < 0.3), 1)
nets = (rng.random((n, 40)) < 0.15).astype(float)
ones = np.ones(n, dtype=int)
for seed in (0, 1):
    for partitioner in ("mtkahypar", "metis"):
        print(partition_graph(csr_array(upper + upper.T), ones, 5, partitioner=partitioner,
                              tolerance=0.005, seed=seed).tolist())
    print(partition_hypergraph(csc_array(nets), ones, np.ones(40, dtype=int), 5,
                               tolerance=0.05, seed=seed).tolist())
"""


def test_other_processes_find_the_same_and_nothing_is_printed():
    runs = [
        subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stderr == ""
    lines = runs[0].stdout.splitlines()
    assert len(lines) == 6  # labels, and not a word of the libraries
    assert all(line.startswith("[") for line in lines)
    assert all(a != b for a, b in zip(lines[:3], lines[3:], strict=True))  # seeds matter


def test_threads_find_the_same():
    matrix, weights = random_graph(80)
    tasks = [(k, p, seed) for k in (2, 3, 5) for p in PARTITIONERS for seed in (0, 1)] * 2
    alone = [split(matrix, weights, k, p, seed=seed).tolist() for k, p, seed in tasks]
    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(split, matrix, weights, k, p, seed=seed) for k, p, seed in tasks]
        assert [future.result().tolist() for future in futures] == alone


def test_partitioners_are_imported_when_needed():
    code = (
        "import sys, ensemblage.methods;"
        "print([m for m in ('mtkahypar', 'pymetis') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_partitioners_that_will_not_do(monkeypatch):
    with pytest.raises(ValueError, match="'partitioner' parameter of CSPA must be one of"):
        check_partitioner("CSPA", "hmetis")
    with pytest.raises(ValueError, match="METIS partitions graphs only"):
        check_partitioner("HGPA", "metis", hypergraph=True)
    monkeypatch.setattr(_partition, "find_spec", lambda _: None)
    check_partitioner("CSPA", "mtkahypar")
    with pytest.raises(ImportError, match=r'pip install "ensemblage\[metis\]"'):
        check_partitioner("CSPA", "metis")
