"""One module for each table and figure of the paper's experiments, and one for the ranking."""

from ensemblage.experiments.tables.base_clusterings import BASE_CLUSTERINGS
from ensemblage.experiments.tables.comparison import COMPARISON
from ensemblage.experiments.tables.dataset_sizes import DATASET_SIZES
from ensemblage.experiments.tables.ensemble_size import ENSEMBLE_SIZE
from ensemblage.experiments.tables.execution_time import EXECUTION_TIME
from ensemblage.experiments.tables.link_weights import LINK_WEIGHTS
from ensemblage.experiments.tables.microclusters import MICROCLUSTERS
from ensemblage.experiments.tables.parameters import PTA_PARAMETERS, PTGP_PARAMETERS
from ensemblage.experiments.tables.preserved_links import PRESERVED_LINKS
from ensemblage.experiments.tables.ranking import RANKING

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

#: The paper's numbers ("table9") and the experiments that they belong to.
ALIASES = {alias: name for name, experiment in EXPERIMENTS.items() for alias in experiment.aliases}

__all__ = ["ALIASES", "EXPERIMENTS"]
