"""The method as pure functions of arrays, in the order of the data flow.

votes → microclusters → co-association → elite-neighbour graph → random walks → similarity → cut

Nothing here checks input, warns, logs or draws random numbers that it was not handed.
"""

from quorate.flow.agglomerate import agglomerate, cut_tree, tree_of_objects
from quorate.flow.clusters import (
    cluster_entropies,
    clustering_weights,
    jaccard,
    member_nmi,
    overlaps,
    owners,
)
from quorate.flow.coassociation import coassociation
from quorate.flow.codes import cluster_means, membership
from quorate.flow.elite import elite_graph
from quorate.flow.kmeans import kmeans
from quorate.flow.microclusters import MicroclusterIndex, microclusters, spread
from quorate.flow.tcut import TransferCut
from quorate.flow.walk import (
    estimated_norms,
    similarity_product,
    trajectory_norms,
    trajectory_similarity,
    transition_matrix,
)

__all__ = [
    "MicroclusterIndex",
    "TransferCut",
    "agglomerate",
    "cluster_entropies",
    "cluster_means",
    "clustering_weights",
    "coassociation",
    "cut_tree",
    "elite_graph",
    "estimated_norms",
    "jaccard",
    "kmeans",
    "member_nmi",
    "membership",
    "microclusters",
    "overlaps",
    "owners",
    "similarity_product",
    "spread",
    "trajectory_norms",
    "trajectory_similarity",
    "transition_matrix",
    "tree_of_objects",
]
