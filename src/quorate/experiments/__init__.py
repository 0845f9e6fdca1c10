"""The paper's experiments: run, recorded, and rendered from the records.

>>> from quorate.experiments import EXPERIMENTS
>>> list(EXPERIMENTS)[:3]
['link-weights', 'datasets', 'microclusters']
"""

from quorate.experiments.protocol import Plan
from quorate.experiments.records import pack
from quorate.experiments.render import render
from quorate.experiments.reproduce import reproduce
from quorate.experiments.tables import EXPERIMENTS

__all__ = ["EXPERIMENTS", "Plan", "pack", "render", "reproduce"]
