"""From features to base clusterings, and from there to a consensus."""

from ensemblage.ensembles._member import Member
from ensemblage.ensembles._saved import load
from ensemblage.ensembles.clustering import EnsembleClustering
from ensemblage.ensembles.pool import generate, members

__all__ = ["EnsembleClustering", "Member", "generate", "load", "members"]
