"""The paper's experiments: run, recorded, and rendered from the records.

>>> from ensemblage.experiments import EXPERIMENTS
>>> list(EXPERIMENTS)[:3]
['link-weights', 'datasets', 'microclusters']
"""

from ensemblage.experiments.checking import check
from ensemblage.experiments.protocol import Plan
from ensemblage.experiments.records import pack
from ensemblage.experiments.render import render
from ensemblage.experiments.reproduce import reproduce
from ensemblage.experiments.tables import ALIASES, EXPERIMENTS

__all__ = ["ALIASES", "EXPERIMENTS", "Plan", "check", "pack", "render", "reproduce"]
