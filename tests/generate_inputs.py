"""Features of sixty cells for ``ensemblage generate``, and the pool that it makes of them."""

import sys

import numpy as np

from ensemblage import tables

KINDS = np.repeat(["T", "B", "NK"], 20).astype(object)
FEATURES = np.random.default_rng(0).normal(size=(60, 4)) + 4 * np.repeat(np.eye(3, 4), 20, axis=0)
FEATURES = FEATURES.round(4)
IDS = np.array([f"cell{place}" for place in range(60)], dtype=object)
COLUMNS = {f"gene{place}": column for place, column in enumerate(FEATURES.T)}
ENSEMBLAGE = [
    sys.executable,
    "-W",
    "error",
    "-c",
    "from ensemblage.cli import main; main()",
    "generate",
]


def made(generate, *arguments, data="x.npy", output="pool.npy"):
    result = generate(data, "-o", output, "-m", 6, *arguments)
    assert result.exit_code == 0, result.output
    return tables.read(output).matrix
