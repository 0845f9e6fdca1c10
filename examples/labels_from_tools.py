"""
Labels from tools that disagree
===============================

Five tools name cell types differently and do not label all cells. The consensus has one label for
each cell. The example needs pandas.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import ensemblage as en

TYPES = np.array(["T cell", "B cell", "NK cell", "monocyte"])
rng = np.random.default_rng(0)
true = rng.choice(TYPES, size=300, p=[0.4, 0.3, 0.2, 0.1])


def tool(errors: float, gaps: float) -> pd.Series:
    """Return the labels of a tool: some are wrong, some are missing."""
    said = np.where(rng.random(len(true)) < errors, rng.choice(TYPES, size=len(true)), true)
    return pd.Series(said).mask(rng.random(len(true)) < gaps)


# Columns may hold strings, numbers and categories: labels are compared within a column only.
votes = pd.DataFrame(
    {
        "markers": tool(errors=0.10, gaps=0.1).str.upper(),
        "leiden": tool(errors=0.20, gaps=0.0).map({name: i for i, name in enumerate(TYPES)}),
        "atlas": tool(errors=0.15, gaps=0.3),
        "network": tool(errors=0.30, gaps=0.0).astype("category"),
        "expert": tool(errors=0.10, gaps=0.2),
    }
).set_axis([f"cell{i}" for i in range(1, 301)])
print(votes.head(), end="\n\n")

estimator = en.Consensus(n_clusters=4, random_state=0)
labels = estimator.fit_predict(votes)  # a Series with the index of the votes

result = pd.DataFrame({"label": labels, "confidence": estimator.confidence_.round(3)})
print(result.head(), end="\n\n")
print("least sure of:", ", ".join(result["confidence"].nsmallest(3).index))

# Cells without a label from a tool do not count in its score.
scores = {name: round(en.metrics.nmi(true, votes[name]), 3) for name in votes}
print("NMI of the tools:    ", scores)
print("NMI of the consensus:", round(en.metrics.nmi(true, labels), 3))

en.plot.alluvial(true, estimator, names=("cell type", "consensus"))
plt.show()
