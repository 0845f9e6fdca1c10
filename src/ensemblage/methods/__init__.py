"""Consensus estimators, one a file: thin faces on the stages in `ensemblage.flow`."""

from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods.consensus import Consensus
from ensemblage.methods.cspa import CSPA
from ensemblage.methods.eac import EAC
from ensemblage.methods.ecmc import ECMC
from ensemblage.methods.ecpcs import ECPCS
from ensemblage.methods.gpmgla import GPMGLA
from ensemblage.methods.hbgf import HBGF
from ensemblage.methods.hgpa import HGPA
from ensemblage.methods.lwea import LWEA
from ensemblage.methods.lwgp import LWGP
from ensemblage.methods.lwpt import LWPT
from ensemblage.methods.mcla import MCLA
from ensemblage.methods.nmf import NMF
from ensemblage.methods.pta import PTA
from ensemblage.methods.ptgp import PTGP
from ensemblage.methods.srs import SRS
from ensemblage.methods.srw import SRW
from ensemblage.methods.usenc import USENC
from ensemblage.methods.vote import Vote
from ensemblage.methods.wct import WCT
from ensemblage.methods.weac import WEAC

#: Every consensus method by the name that the command line knows.
METHODS: dict[str, type[ConsensusClusterer]] = {
    "auto": Consensus,
    "consensus": Consensus,
    "cspa": CSPA,
    "eac": EAC,
    "ecmc": ECMC,
    "ecpcs": ECPCS,
    "gpmgla": GPMGLA,
    "hbgf": HBGF,
    "hgpa": HGPA,
    "lwea": LWEA,
    "lwgp": LWGP,
    "lwpt": LWPT,
    "mcla": MCLA,
    "nmf": NMF,
    "pta": PTA,
    "ptgp": PTGP,
    "srs": SRS,
    "srw": SRW,
    "usenc": USENC,
    "vote": Vote,
    "wct": WCT,
    "weac": WEAC,
}

#: One name of each method, the default first.
NAMES = tuple(name for name in METHODS if name != "auto")

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
    "NAMES",
    "NMF",
    "PTA",
    "PTGP",
    "SRS",
    "SRW",
    "USENC",
    "WCT",
    "WEAC",
    "Consensus",
    "Vote",
]
