"""Consensus estimators, one a file: thin faces on the stages in `quorate.flow`."""

from quorate.methods._base import ConsensusClusterer
from quorate.methods.cspa import CSPA
from quorate.methods.eac import EAC
from quorate.methods.ecmc import ECMC
from quorate.methods.ecpcs import ECPCS
from quorate.methods.gpmgla import GPMGLA
from quorate.methods.hbgf import HBGF
from quorate.methods.hgpa import HGPA
from quorate.methods.lwea import LWEA
from quorate.methods.lwgp import LWGP
from quorate.methods.lwpt import LWPT
from quorate.methods.mcla import MCLA
from quorate.methods.nmf import NMF
from quorate.methods.pta import PTA
from quorate.methods.ptgp import PTGP
from quorate.methods.srs import SRS
from quorate.methods.srw import SRW
from quorate.methods.usenc import USENC
from quorate.methods.vote import Vote
from quorate.methods.wct import WCT
from quorate.methods.weac import WEAC

#: Every consensus method by the name that the command line knows.
METHODS: dict[str, type[ConsensusClusterer]] = {
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
    "Vote",
]
