"""Consensus clustering: many clusterings in, one robust clustering out.

>>> import ensemblage as en
>>> votes = [[0, 5, "a"], [0, 5, "a"], [0, 5, "b"], [1, 6, "b"], [1, 6, "b"], [1, 7, "b"]]
>>> en.Consensus(n_clusters=2).fit_predict(votes)
array([0, 0, 0, 1, 1, 1])

Importing this package is cheap: what a name needs is imported when the name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ensemblage import anndata, datasets, ensembles, metrics, plot, report, scale
    from ensemblage._ensemble import Ensemble, microclusters, trajectory_similarity
    from ensemblage._messages import ParameterError
    from ensemblage._types import Microclusters
    from ensemblage._validate import (
        ApproximateSimilarityWarning,
        FeaturesAsVotesWarning,
        FewerClustersWarning,
        IdsAsVotesWarning,
        MemoryBudgetError,
        NoStructureWarning,
        TransposedVotesWarning,
        UnknownLabelsWarning,
        UnscaledFeaturesWarning,
        UntrustedMethodWarning,
    )
    from ensemblage.ensembles import EnsembleClustering
    from ensemblage.ensembles._saved import load
    from ensemblage.methods import (
        CSPA,
        EAC,
        ECMC,
        ECPCS,
        GPMGLA,
        HBGF,
        HGPA,
        LWEA,
        LWGP,
        LWPT,
        MCLA,
        METHODS,
        NMF,
        PTA,
        PTGP,
        SRS,
        SRW,
        USENC,
        WCT,
        WEAC,
        Consensus,
        Vote,
    )

__version__ = "0.1.0"

__all__ = [
    "CSPA",
    "EAC",
    "ECMC",
    "ECPCS",
    "GPMGLA",
    "HBGF",
    "HGPA",
    "LWEA",
    "LWGP",
    "LWPT",
    "MCLA",
    "METHODS",
    "NMF",
    "PTA",
    "PTGP",
    "SRS",
    "SRW",
    "USENC",
    "WCT",
    "WEAC",
    "ApproximateSimilarityWarning",
    "Consensus",
    "Ensemble",
    "EnsembleClustering",
    "FeaturesAsVotesWarning",
    "FewerClustersWarning",
    "IdsAsVotesWarning",
    "MemoryBudgetError",
    "Microclusters",
    "NoStructureWarning",
    "ParameterError",
    "TransposedVotesWarning",
    "UnknownLabelsWarning",
    "UnscaledFeaturesWarning",
    "UntrustedMethodWarning",
    "Vote",
    "__version__",
    "anndata",
    "datasets",
    "ensembles",
    "load",
    "metrics",
    "microclusters",
    "plot",
    "report",
    "scale",
    "trajectory_similarity",
]

_HOME = {
    "METHODS": "ensemblage.methods",
    "Consensus": "ensemblage.methods",
    "CSPA": "ensemblage.methods",
    "HGPA": "ensemblage.methods",
    "MCLA": "ensemblage.methods",
    "WEAC": "ensemblage.methods",
    "WCT": "ensemblage.methods",
    "SRS": "ensemblage.methods",
    "LWEA": "ensemblage.methods",
    "ECMC": "ensemblage.methods",
    "EAC": "ensemblage.methods",
    "GPMGLA": "ensemblage.methods",
    "HBGF": "ensemblage.methods",
    "LWGP": "ensemblage.methods",
    "LWPT": "ensemblage.methods",
    "USENC": "ensemblage.methods",
    "SRW": "ensemblage.methods",
    "NMF": "ensemblage.methods",
    "ECPCS": "ensemblage.methods",
    "Vote": "ensemblage.methods",
    "PTA": "ensemblage.methods",
    "PTGP": "ensemblage.methods",
    "Ensemble": "ensemblage._ensemble",
    "EnsembleClustering": "ensemblage.ensembles",
    "load": "ensemblage.ensembles._saved",
    "microclusters": "ensemblage._ensemble",
    "trajectory_similarity": "ensemblage._ensemble",
    "Microclusters": "ensemblage._types",
    "ApproximateSimilarityWarning": "ensemblage._validate",
    "FeaturesAsVotesWarning": "ensemblage._validate",
    "FewerClustersWarning": "ensemblage._validate",
    "IdsAsVotesWarning": "ensemblage._validate",
    "MemoryBudgetError": "ensemblage._validate",
    "ParameterError": "ensemblage._messages",
    "NoStructureWarning": "ensemblage._validate",
    "TransposedVotesWarning": "ensemblage._validate",
    "UnknownLabelsWarning": "ensemblage._validate",
    "UnscaledFeaturesWarning": "ensemblage._validate",
    "UntrustedMethodWarning": "ensemblage._validate",
}
_MODULES = {"anndata", "datasets", "ensembles", "metrics", "plot", "report", "scale"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"ensemblage.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'ensemblage' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
