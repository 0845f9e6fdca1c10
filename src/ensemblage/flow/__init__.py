"""The method as pure functions of arrays, in the order of the data flow.

votes → microclusters → co-association → elite-neighbour graph → random walks → similarity → cut

These functions do not check input, warn or log, and use only random numbers that are passed in.
"""

from ensemblage.flow._columns import WalkProduct
from ensemblage.flow._contingency import overlaps, overlaps_with, owners
from ensemblage.flow._golden import golden_maximum
from ensemblage.flow._index import MicroclusterIndex
from ensemblage.flow._membership import cluster_sums, membership, merged_membership
from ensemblage.flow._nearest import nearest
from ensemblage.flow._neighbours import Neighbours
from ensemblage.flow._threads import in_threads, n_threads, one_blas_thread, row_ranges
from ensemblage.flow.agglomerate import agglomerate, cut_tree, is_tied, tree_of_objects
from ensemblage.flow.align import cluster_agreement, match, plurality, vote
from ensemblage.flow.average_link import average_link
from ensemblage.flow.balance import Gains, giants, settle, side_limits, spread_by_weight
from ensemblage.flow.bounded_lloyd import bounded_lloyd
from ensemblage.flow.chance_members import at_chance
from ensemblage.flow.clusters import (
    cluster_certainties,
    cluster_entropies,
    cluster_graph,
    clustering_weights,
    jaccard,
    member_nmi,
    normalised_entropies,
)
from ensemblage.flow.coassociation import coassociation, graded_coassociation, shared_coassociation
from ensemblage.flow.codes import cluster_means
from ensemblage.flow.completion import complete, reliable_pairs
from ensemblage.flow.discretise import NormalisedCut, discretise, part_shares
from ensemblage.flow.edges import (
    community_strength,
    edge_agreement,
    two_core,
    vertex_outside,
    vertex_refusal,
)
from ensemblage.flow.element_similarity import element_similarity, similarity_to_one
from ensemblage.flow.elite import elite_graph, elite_graph_of, graph_of_neighbours
from ensemblage.flow.elite_groups import MOST_PAIRS, N_CANDIDATES, large_elite_graph
from ensemblage.flow.factorise import (
    Factors,
    factor_labels,
    factorise,
    improve,
    product_by_rows,
    squared_residual,
)
from ensemblage.flow.firm_links import firm_links_of, links_at, n_large_groups
from ensemblage.flow.graphs import (
    agreement_graph,
    association,
    membership_graph,
    net_weights,
    whole_weights,
)
from ensemblage.flow.implicit_cut import ImplicitCut, columns_of_implicit_cut
from ensemblage.flow.kmeans import centroids, farthest_first, kmeans, least_aligned, lloyd
from ensemblage.flow.large_walk import estimated_norms, probes_for
from ensemblage.flow.latent_classes import LatentClasses, expect, latent_classes, softened
from ensemblage.flow.leaders import (
    Leaders,
    join_leaders,
    leader_rows,
    similarity_of_groups,
    tree_of_rows,
)
from ensemblage.flow.leaf_order import leaf_order
from ensemblage.flow.least_size import (
    Parts,
    SizedTree,
    attach,
    least_size_parts,
    next_split_is_tied,
    sized_tree,
)
from ensemblage.flow.link_sample import expected_links, expected_links_of
from ensemblage.flow.links import (
    Links,
    groups_in_order,
    groups_last,
    in_own_order,
    join_smallest,
    lead_of_own_group,
    links_of,
    renumbered,
    structure,
    structure_of_clusters,
    with_leaves,
)
from ensemblage.flow.local_merges import (
    LocalMerges,
    complete_tree,
    first_merges,
    local_merges,
    no_merges,
)
from ensemblage.flow.mean_agreement import mean_agreement_sums
from ensemblage.flow.median_search import (
    MedianPartition,
    MedianProblem,
    median_partition,
    median_problem,
)
from ensemblage.flow.merging import Merge, merges_that_agree
from ensemblage.flow.microclusters import find_rows, microclusters, spread
from ensemblage.flow.nystroem import nystroem, sketch
from ensemblage.flow.packed import packed_bytes, packed_similarity
from ensemblage.flow.packed_linkage import packed_linkage
from ensemblage.flow.partition_losses import LOSSES, partition_losses
from ensemblage.flow.random_walker import (
    first_arrivals,
    first_likely,
    islands,
    nearest_regions,
    object_thresholds,
    walker_graph,
)
from ensemblage.flow.rival_merges import has_rival
from ensemblage.flow.rpcl import rpcl
from ensemblage.flow.sact import source_aware_triples
from ensemblage.flow.simrank import simrank
from ensemblage.flow.sparse_linkage import sparse_average_link
from ensemblage.flow.spread_starts import spread_starts
from ensemblage.flow.tcut import MOST_COLUMNS, TransferCut, unit_rows
from ensemblage.flow.trajectories import vote_shares, walk_length, walk_weights
from ensemblage.flow.triples import connected_triples
from ensemblage.flow.walk import (
    group_similarity,
    panel_bytes,
    reach,
    similarity_product,
    trajectory_norms,
    trajectory_similarity,
    transition_matrix,
)
from ensemblage.flow.ward import ward_costs

__all__ = [
    "LOSSES",
    "MOST_COLUMNS",
    "MOST_PAIRS",
    "N_CANDIDATES",
    "Factors",
    "Gains",
    "ImplicitCut",
    "LatentClasses",
    "Leaders",
    "Links",
    "LocalMerges",
    "MedianPartition",
    "MedianProblem",
    "Merge",
    "MicroclusterIndex",
    "Neighbours",
    "NormalisedCut",
    "Parts",
    "SizedTree",
    "TransferCut",
    "WalkProduct",
    "agglomerate",
    "agreement_graph",
    "association",
    "at_chance",
    "attach",
    "average_link",
    "bounded_lloyd",
    "centroids",
    "cluster_agreement",
    "cluster_certainties",
    "cluster_entropies",
    "cluster_graph",
    "cluster_means",
    "cluster_sums",
    "clustering_weights",
    "coassociation",
    "columns_of_implicit_cut",
    "community_strength",
    "complete",
    "complete_tree",
    "connected_triples",
    "cut_tree",
    "discretise",
    "edge_agreement",
    "element_similarity",
    "elite_graph",
    "elite_graph_of",
    "estimated_norms",
    "expect",
    "expected_links",
    "expected_links_of",
    "factor_labels",
    "factorise",
    "farthest_first",
    "find_rows",
    "firm_links_of",
    "first_arrivals",
    "first_likely",
    "first_merges",
    "giants",
    "golden_maximum",
    "graded_coassociation",
    "graph_of_neighbours",
    "group_similarity",
    "groups_in_order",
    "groups_last",
    "has_rival",
    "improve",
    "in_own_order",
    "in_threads",
    "is_tied",
    "islands",
    "jaccard",
    "join_leaders",
    "join_smallest",
    "kmeans",
    "large_elite_graph",
    "latent_classes",
    "lead_of_own_group",
    "leader_rows",
    "leaf_order",
    "least_aligned",
    "least_size_parts",
    "links_at",
    "links_of",
    "lloyd",
    "local_merges",
    "match",
    "mean_agreement_sums",
    "median_partition",
    "median_problem",
    "member_nmi",
    "membership",
    "membership_graph",
    "merged_membership",
    "merges_that_agree",
    "microclusters",
    "n_large_groups",
    "n_threads",
    "nearest",
    "nearest_regions",
    "net_weights",
    "next_split_is_tied",
    "no_merges",
    "normalised_entropies",
    "nystroem",
    "object_thresholds",
    "one_blas_thread",
    "overlaps",
    "overlaps_with",
    "owners",
    "packed_bytes",
    "packed_linkage",
    "packed_similarity",
    "panel_bytes",
    "part_shares",
    "partition_losses",
    "plurality",
    "probes_for",
    "product_by_rows",
    "reach",
    "reliable_pairs",
    "renumbered",
    "row_ranges",
    "rpcl",
    "settle",
    "shared_coassociation",
    "side_limits",
    "similarity_of_groups",
    "similarity_product",
    "similarity_to_one",
    "simrank",
    "sized_tree",
    "sketch",
    "softened",
    "source_aware_triples",
    "sparse_average_link",
    "spread",
    "spread_by_weight",
    "spread_starts",
    "squared_residual",
    "structure",
    "structure_of_clusters",
    "trajectory_norms",
    "trajectory_similarity",
    "transition_matrix",
    "tree_of_objects",
    "tree_of_rows",
    "two_core",
    "unit_rows",
    "vertex_outside",
    "vertex_refusal",
    "vote",
    "vote_shares",
    "walk_length",
    "walk_weights",
    "walker_graph",
    "ward_costs",
    "whole_weights",
    "with_leaves",
]
