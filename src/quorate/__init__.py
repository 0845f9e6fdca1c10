"""Consensus clustering: many clusterings in, one robust clustering out.

>>> import quorate as qr
>>> votes = [[0, 5, "a"], [0, 5, "a"], [0, 5, "b"], [1, 6, "b"], [1, 6, "b"], [1, 7, "b"]]
>>> qr.PTGP(n_clusters=2, random_state=0).fit_predict(votes)
array([0, 0, 0, 1, 1, 1])

Importing this package is cheap: what a name needs is imported when the name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quorate import anndata, datasets, ensembles, metrics, plot, report, scale
    from quorate._ensemble import Ensemble, microclusters, trajectory_similarity
    from quorate._types import Microclusters
    from quorate._validate import (
        ApproximateSimilarityWarning,
        FeaturesAsVotesWarning,
        FewerClustersWarning,
        IdsAsVotesWarning,
        MemoryBudgetError,
        TransposedVotesWarning,
        UnknownLabelsWarning,
    )
    from quorate.ensembles import EnsembleClustering
    from quorate.ensembles._saved import load
    from quorate.methods import (
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
    "Ensemble",
    "EnsembleClustering",
    "FeaturesAsVotesWarning",
    "FewerClustersWarning",
    "IdsAsVotesWarning",
    "MemoryBudgetError",
    "Microclusters",
    "TransposedVotesWarning",
    "UnknownLabelsWarning",
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
    "METHODS": "quorate.methods",
    "CSPA": "quorate.methods",
    "HGPA": "quorate.methods",
    "MCLA": "quorate.methods",
    "WEAC": "quorate.methods",
    "WCT": "quorate.methods",
    "SRS": "quorate.methods",
    "LWEA": "quorate.methods",
    "ECMC": "quorate.methods",
    "EAC": "quorate.methods",
    "GPMGLA": "quorate.methods",
    "HBGF": "quorate.methods",
    "LWGP": "quorate.methods",
    "LWPT": "quorate.methods",
    "USENC": "quorate.methods",
    "SRW": "quorate.methods",
    "NMF": "quorate.methods",
    "ECPCS": "quorate.methods",
    "Vote": "quorate.methods",
    "PTA": "quorate.methods",
    "PTGP": "quorate.methods",
    "Ensemble": "quorate._ensemble",
    "EnsembleClustering": "quorate.ensembles",
    "load": "quorate.ensembles._saved",
    "microclusters": "quorate._ensemble",
    "trajectory_similarity": "quorate._ensemble",
    "Microclusters": "quorate._types",
    "ApproximateSimilarityWarning": "quorate._validate",
    "FeaturesAsVotesWarning": "quorate._validate",
    "FewerClustersWarning": "quorate._validate",
    "IdsAsVotesWarning": "quorate._validate",
    "MemoryBudgetError": "quorate._validate",
    "TransposedVotesWarning": "quorate._validate",
    "UnknownLabelsWarning": "quorate._validate",
}
_MODULES = {"anndata", "datasets", "ensembles", "metrics", "plot", "report", "scale"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"quorate.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'quorate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
