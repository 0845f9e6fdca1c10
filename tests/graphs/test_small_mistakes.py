"""Cases that tell graphs from graphs with a small mistake (tools/hand_mutants.toml)."""

import numpy as np

from ensemblage import graph
from ensemblage.graph._kinds import as_labels


def test_an_edge_that_leaves_the_core_gets_the_least_weight():
    """A triangle, and a vertex that hangs at it: all agree, and only the triangle counts."""
    edges = np.array([[0, 1], [1, 2], [0, 2], [2, 3]])
    found = graph.reweight(np.zeros((4, 2), dtype=int), edges, min_weight=0.1).toarray()
    np.testing.assert_allclose(found[[0, 1, 0], [1, 2, 2]], 1.0)
    np.testing.assert_allclose(found[2, 3], 0.1)


def test_a_vertex_in_no_community_is_alone():
    names = ["a", "b", "c", "d"]
    assert as_labels("Labels", {"a": 0, "c": 1}, names, 4).tolist() == [0, 2, 1, 3]
    assert as_labels("Labels", [{"a"}, {"c"}], names, 4).tolist() == [0, 2, 1, 3]
