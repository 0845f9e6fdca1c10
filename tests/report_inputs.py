"""Ensembles for reports: names that try to break out, votes with noise."""

import numpy as np

#: Names that try to break out of wherever they are put.
HOSTILE = [
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    "</title><img src=x onerror=window.pwned=3>",
    "\"'><svg onload=window.pwned=4>",
    "--><!--<script>window.pwned=5</script>",
    "javascript:window.pwned=6",
    "{{ 7 * 7 }}{% raw %}",
    "line\u2028and\u2029paragraph",
    "\u202eright to left\u202c",
    "שלום עולם",
    "مرحبا بالعالم",
    "=HYPERLINK(1)",
    "nul\x00byte",
    "half \ud800 a pair",
    "a" * 10_000,
    "",
]


def noisy_votes(n_objects, n_members, n_clusters, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_clusters, n_objects)
    noise = rng.integers(0, n_clusters, (n_objects, n_members))
    votes = np.where(rng.random((n_objects, n_members)) < 0.15, noise, truth[:, None])
    return votes, truth
