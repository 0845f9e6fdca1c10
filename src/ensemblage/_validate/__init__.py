"""Checks that several packages make of what users pass: votes, features, parameters."""

# ruff: noqa: F401, F403 - the face of the package

from ensemblage._messages import shown
from ensemblage._validate.beside import check_each_object, check_groups, check_member_weight
from ensemblage._validate.columns import is_list_of_columns
from ensemblage._validate.features import (
    Features,
    check_features,
    check_named_features,
    in_order_of,
    is_number,
)
from ensemblage._validate.memory import available_memory, check_memory, is_cramped
from ensemblage._validate.notices import *
from ensemblage._validate.notices import (
    FEWEST_IDS,
    held_warnings,
    is_id_name,
    is_likely_id_name,
    looks_like_ids,
    warn,
    warn_of_labels,
)
from ensemblage._validate.parameters import (
    DrawnSeed,
    article,
    check_choice,
    check_cost,
    check_enough_groups,
    check_fitted,
    check_flag,
    check_folder,
    check_has_votes,
    check_method,
    check_min_cluster_size,
    check_n_clusters,
    check_n_clusters_or_auto,
    check_n_jobs,
    check_n_names,
    check_name,
    check_number,
    check_random_state,
    check_reach,
    check_share,
    check_whole,
    least_size,
    places_of,
)
from ensemblage._validate.tables import in_order_of_index, is_series, labels_like, table_like
from ensemblage._validate.votes import (
    Votes,
    as_array,
    check_objects_known,
    check_turnout,
    check_votes,
    recode,
    warn_if_transposed,
)
