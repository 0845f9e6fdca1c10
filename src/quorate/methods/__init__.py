"""Consensus estimators, one a file: thin faces on the stages in `quorate.flow`."""

from quorate.methods._base import ConsensusClusterer
from quorate.methods.pta import PTA
from quorate.methods.ptgp import PTGP

#: Every consensus method by the name that the command line knows.
METHODS: dict[str, type[ConsensusClusterer]] = {"pta": PTA, "ptgp": PTGP}

__all__ = ["METHODS", "PTA", "PTGP"]
