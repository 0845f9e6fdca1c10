"""The only package that complains about user input.

Messages say who was asked for what, what was found, and what to do about it.
"""

from quorate._validate.beside import check_beside, check_each_object
from quorate._validate.choosing import check_can_choose, check_ks
from quorate._validate.features import Features, check_features
from quorate._validate.fitted import (
    check_choice_of_k,
    check_fitted,
    check_has_cdf,
    check_has_votes,
    check_names,
    check_rows_of,
    check_tree,
    check_two_names,
)
from quorate._validate.members import (
    check_consensus,
    check_enough_objects,
    check_member_weight,
    check_methods,
    check_n_clusters_range,
    check_part,
    check_subsample,
)
from quorate._validate.memory import available_memory, check_memory
from quorate._validate.names import (
    check_adata,
    check_apart,
    check_name,
    check_some_match,
    is_id_name,
    is_likely_id_name,
    warn_of_ids,
)
from quorate._validate.notices import (
    ApproximateSimilarityWarning,
    FeaturesAsVotesWarning,
    FewerClustersWarning,
    IdsAsVotesWarning,
    MemoryBudgetError,
    TransposedVotesWarning,
    UnknownLabelsWarning,
    warn,
)
from quorate._validate.parameters import (
    DrawnSeed,
    check_choice,
    check_level,
    check_linkage,
    check_n_clusters,
    check_n_clusters_or_auto,
    check_n_jobs,
    check_number,
    check_random_state,
    check_reach,
    check_share,
    check_whole,
)
from quorate._validate.similarities import AFFINITIES, Similarity, check_similarity
from quorate._validate.tables import labels_like
from quorate._validate.votes import (
    Votes,
    as_array,
    check_objects_known,
    check_turnout,
    check_votes,
    recode,
)

__all__ = [
    "AFFINITIES",
    "ApproximateSimilarityWarning",
    "DrawnSeed",
    "Features",
    "FeaturesAsVotesWarning",
    "FewerClustersWarning",
    "IdsAsVotesWarning",
    "MemoryBudgetError",
    "Similarity",
    "TransposedVotesWarning",
    "UnknownLabelsWarning",
    "Votes",
    "as_array",
    "available_memory",
    "check_adata",
    "check_apart",
    "check_beside",
    "check_can_choose",
    "check_choice",
    "check_choice_of_k",
    "check_consensus",
    "check_each_object",
    "check_enough_objects",
    "check_features",
    "check_fitted",
    "check_has_cdf",
    "check_has_votes",
    "check_ks",
    "check_level",
    "check_linkage",
    "check_member_weight",
    "check_memory",
    "check_methods",
    "check_n_clusters",
    "check_n_clusters_or_auto",
    "check_n_clusters_range",
    "check_n_jobs",
    "check_name",
    "check_names",
    "check_number",
    "check_objects_known",
    "check_part",
    "check_random_state",
    "check_reach",
    "check_rows_of",
    "check_share",
    "check_similarity",
    "check_some_match",
    "check_subsample",
    "check_tree",
    "check_turnout",
    "check_two_names",
    "check_votes",
    "check_whole",
    "is_id_name",
    "is_likely_id_name",
    "labels_like",
    "recode",
    "warn",
    "warn_of_ids",
]
