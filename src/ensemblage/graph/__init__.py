"""Consensus along the edges of a graph, without all pairs of vertices."""

from ensemblage.graph.agreement import edge_agreement, reweight
from ensemblage.graph.consensus import GraphConsensus, consensus
from ensemblage.graph.scores import GraphScores, scores

__all__ = [
    "GraphConsensus",
    "GraphScores",
    "consensus",
    "edge_agreement",
    "reweight",
    "scores",
]
