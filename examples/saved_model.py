"""
Saved models and new objects
============================

A fitted model is saved to a file without pickle, and labels new objects later.
"""

import tempfile
from pathlib import Path

from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

import ensemblage as en

features, digits = load_digits(return_X_y=True)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "digits.ensemblage")
    en.EnsembleClustering(n_clusters=10, random_state=0).fit(features[:1000]).save(path)
    print(f"{path.stat().st_size / 1024:.0f} KB")
    model = en.load(path)  # later, in another process

labels = model.predict(features[1000:])
print(f"{len(labels)} new images, ARI with the digits {en.metrics.ari(digits[1000:], labels):.2f}")
en.plot.alluvial(digits[1000:], labels, names=("digit", "predicted cluster"))
plt.show()
