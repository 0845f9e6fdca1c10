"""From features to base clusterings, and from there to a consensus."""

from quorate.ensembles._member import Member
from quorate.ensembles.clustering import EnsembleClustering
from quorate.ensembles.pool import generate, members

__all__ = ["EnsembleClustering", "Member", "generate", "members"]
