"""The words that options take, for completion and suggestions without importing anything heavy.

A test holds them against the library.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

METHODS = (
    *("auto", "consensus"),
    *("cspa", "eac", "ecmc", "ecpcs", "gpmgla", "hbgf", "hgpa", "lwea", "lwgp", "lwpt"),
    *("mcla", "nmf", "pta", "ptgp", "srs", "srw", "usenc", "vote", "wct", "weac"),
)
CRITERIA = (
    *("support", "recurrence", "balance", "ensemble_nmi", "confidence", "lifetime", "eigengap"),
    *("subset_stability", "pac", "delta_area", "seed_stability"),
)
LINKAGES = ("average", "complete", "single")
DEVICES = ("cpu", "cuda", "auto")
ENGINES = ("auto", "memory", "stream", "dask")
FORMATS = ("csv", "tsv", "parquet", "npy", "npz", "mat")
GENERATORS = ("kmeans", "rpcl")
SCALES = ("minmax", "standard")
POOLS = ("authors", "own")
TABLES = (
    *("link-weights", "datasets", "microclusters", "preserved-links", "pta-parameters"),
    *("ptgp-parameters", "base-clusterings", "comparison", "ensemble-size", "execution-time"),
    "ranking",
)
DATASETS = ("MF", "IS", "MNIST", "ODR", "LS", "PD", "USPS", "FC", "KDD99-10P", "KDD99")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question that names the nearest known word, to go behind a complaint, or nothing.

    Examples
    --------
    >>> did_you_mean("PTGB", METHODS), did_you_mean("forest", METHODS)
    (' Did you mean ptgp?', '')
    """
    spelt = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.strip().lower(), spelt, n=1)
    return f" Did you mean {spelt[near[0]]}?" if near else ""


def completes(*words: str) -> Callable[[str], list[str]]:
    """Return what a shell asks for the words that begin like an unfinished one.

    Examples
    --------
    >>> completes("pta", "ptgp", "eac")("pt")
    ['pta', 'ptgp']
    """

    def found(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete.lower())]

    return found


def completes_list(*words: str) -> Callable[[str], list[str]]:
    """Return the same for words with commas between them: the last one is completed.

    Examples
    --------
    >>> completes_list("pta", "ptgp", "eac")("eac,pt")
    ['eac,pta', 'eac,ptgp']
    """

    def found(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        given = before.lower().split(",")
        return [
            before + comma + word
            for word in words
            if word.lower().startswith(last.lower()) and word.lower() not in given
        ]

    return found
