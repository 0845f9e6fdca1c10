"""One module for each table and figure of the paper's experiments, and one for the ranking."""

from quorate.experiments.tables.base_clusterings import BASE_CLUSTERINGS
from quorate.experiments.tables.comparison import COMPARISON
from quorate.experiments.tables.dataset_sizes import DATASET_SIZES
from quorate.experiments.tables.ensemble_size import ENSEMBLE_SIZE
from quorate.experiments.tables.execution_time import EXECUTION_TIME
from quorate.experiments.tables.link_weights import LINK_WEIGHTS
from quorate.experiments.tables.microclusters import MICROCLUSTERS
from quorate.experiments.tables.parameters import PTA_PARAMETERS, PTGP_PARAMETERS
from quorate.experiments.tables.preserved_links import PRESERVED_LINKS
from quorate.experiments.tables.ranking import RANKING

#: In the order of the paper; the ranking of all methods, which is ours, comes last.
EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        LINK_WEIGHTS,
        DATASET_SIZES,
        MICROCLUSTERS,
        PRESERVED_LINKS,
        PTA_PARAMETERS,
        PTGP_PARAMETERS,
        BASE_CLUSTERINGS,
        COMPARISON,
        ENSEMBLE_SIZE,
        EXECUTION_TIME,
        RANKING,
    )
}

__all__ = ["EXPERIMENTS"]
