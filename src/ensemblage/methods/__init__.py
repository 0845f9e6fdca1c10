"""Consensus estimators, one module each, built on the stages of `ensemblage.flow`.

Each method has a module and a line in `METHODS`. Importing this package is cheap: a class is
imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ensemblage.methods._registry import Registry

if TYPE_CHECKING:  # for type checkers, which cannot resolve METHODS
    from ensemblage.methods._base import ConsensusClusterer as ConsensusClusterer
    from ensemblage.methods._reliability import agreement_with_default as agreement_with_default
    from ensemblage.methods._reliability import default_for as default_for
    from ensemblage.methods._reliability import without_comparison as without_comparison
    from ensemblage.methods.consensus import Consensus as Consensus
    from ensemblage.methods.cspa import CSPA as CSPA
    from ensemblage.methods.eac import EAC as EAC
    from ensemblage.methods.ecmc import ECMC as ECMC
    from ensemblage.methods.ecpcs import ECPCS as ECPCS
    from ensemblage.methods.gpmgla import GPMGLA as GPMGLA
    from ensemblage.methods.hbgf import HBGF as HBGF
    from ensemblage.methods.hgpa import HGPA as HGPA
    from ensemblage.methods.lca import LCA as LCA
    from ensemblage.methods.lwea import LWEA as LWEA
    from ensemblage.methods.lwgp import LWGP as LWGP
    from ensemblage.methods.lwpt import LWPT as LWPT
    from ensemblage.methods.mcla import MCLA as MCLA
    from ensemblage.methods.median import Median as Median
    from ensemblage.methods.nmf import NMF as NMF
    from ensemblage.methods.pta import PTA as PTA
    from ensemblage.methods.ptgp import PTGP as PTGP
    from ensemblage.methods.srs import SRS as SRS
    from ensemblage.methods.srw import SRW as SRW
    from ensemblage.methods.usenc import USENC as USENC
    from ensemblage.methods.vote import Vote as Vote
    from ensemblage.methods.wct import WCT as WCT
    from ensemblage.methods.weac import WEAC as WEAC

    NAMES: tuple[str, ...]

#: Every consensus method by its name on the command line.
METHODS = Registry(
    __name__,
    {
        "auto": "Consensus",
        "consensus": "Consensus",
        "cspa": "CSPA",
        "eac": "EAC",
        "ecmc": "ECMC",
        "ecpcs": "ECPCS",
        "gpmgla": "GPMGLA",
        "hbgf": "HBGF",
        "hgpa": "HGPA",
        "lca": "LCA",
        "lwea": "LWEA",
        "lwgp": "LWGP",
        "lwpt": "LWPT",
        "mcla": "MCLA",
        "median": "Median",
        "nmf": "NMF",
        "pta": "PTA",
        "ptgp": "PTGP",
        "srs": "SRS",
        "srw": "SRW",
        "usenc": "USENC",
        "vote": "Vote",
        "wct": "WCT",
        "weac": "WEAC",
    },
)

#: Other names that this package exports, with their modules.
_OTHERS = {
    "ConsensusClusterer": "_base",
    "agreement_with_default": "_reliability",
    "default_for": "_reliability",
    "without_comparison": "_reliability",
}


def __getattr__(name: str) -> Any:
    if name == "NAMES":  # one name for each method, the default first
        return tuple(key for key in METHODS if key != "auto")
    if name in _OTHERS:
        return getattr(import_module(f"{__name__}.{_OTHERS[name]}"), name)
    kind = METHODS.class_called(name)
    if kind is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return kind


def __dir__() -> list[str]:
    return sorted({*globals(), *METHODS.classes, *_OTHERS, "NAMES"})
