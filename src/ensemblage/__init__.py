"""Consensus clustering: many clusterings in, one robust clustering out.

>>> import ensemblage as en
>>> votes = [[0, 5, "a"], [0, 5, "a"], [0, 5, "b"], [1, 6, "b"], [1, 6, "b"], [1, 7, "b"]]
>>> en.Consensus(n_clusters=2).fit_predict(votes)
array([0, 0, 0, 1, 1, 1])

Importing this package is cheap: modules are imported when a name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ensemblage.methods import METHODS

if TYPE_CHECKING:
    from ensemblage import anndata as anndata
    from ensemblage import datasets as datasets
    from ensemblage import ensembles as ensembles
    from ensemblage import experiments as experiments
    from ensemblage import flow as flow
    from ensemblage import graph as graph
    from ensemblage import metrics as metrics
    from ensemblage import plot as plot
    from ensemblage import refine as refine
    from ensemblage import report as report
    from ensemblage import sc as sc
    from ensemblage import scale as scale
    from ensemblage import tables as tables
    from ensemblage._ensemble import Ensemble as Ensemble
    from ensemblage._ensemble import microclusters as microclusters
    from ensemblage._ensemble import trajectory_similarity as trajectory_similarity
    from ensemblage._messages import ParameterError as ParameterError
    from ensemblage._types import Microclusters as Microclusters
    from ensemblage._validate.notices import *  # noqa: F403
    from ensemblage.ensembles import EnsembleClustering as EnsembleClustering
    from ensemblage.ensembles import load as load
    from ensemblage.methods import *  # noqa: F403
    from ensemblage.methods.estimating import estimate as estimate

__version__ = "0.1.0"

_HOME = {
    "Ensemble": "ensemblage._ensemble",
    "EnsembleClustering": "ensemblage.ensembles",
    "Microclusters": "ensemblage._types",
    "ParameterError": "ensemblage._messages",
    "estimate": "ensemblage.methods.estimating",
    "load": "ensemblage.ensembles",
    "microclusters": "ensemblage._ensemble",
    "trajectory_similarity": "ensemblage._ensemble",
    **dict.fromkeys(
        (
            "ApproximateSimilarityWarning",
            "FeaturesAsVotesWarning",
            "FewerClustersWarning",
            "IdsAsVotesWarning",
            "MemoryBudgetError",
            "NoStructureWarning",
            "TiedCutWarning",
            "TransposedVotesWarning",
            "UnknownLabelsWarning",
            "UnlinkedGroupsWarning",
            "UnscaledFeaturesWarning",
            "UntrustedMethodWarning",
        ),
        "ensemblage._validate.notices",
    ),
}
_MODULES = {
    *("anndata", "datasets", "ensembles", "experiments", "flow", "graph", "metrics", "plot"),
    *("refine", "report", "sc", "scale", "tables"),
}

__all__ = sorted({"METHODS", "__version__", *METHODS.classes, *_HOME, *_MODULES})  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"ensemblage.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    kind = METHODS.class_called(name)
    if kind is None:
        raise AttributeError(f"module 'ensemblage' has no attribute {name!r}")
    return kind


def __dir__() -> list[str]:
    return __all__
