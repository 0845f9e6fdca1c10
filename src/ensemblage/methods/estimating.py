"""Estimates of the CPU seconds and memory of a fit, from the shape of the votes.

The cost of a method is a sum of a few products of sizes, such as n²·M for a similarity of all
pairs. Their constants were fitted to measured fits (`ensemblage.methods._costs`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage import _validate, flow
from ensemblage._ensemble import as_ensemble
from ensemblage._messages import ParameterError, counted
from ensemblage.methods import METHODS
from ensemblage.methods._costs import BYTES, SECONDS
from ensemblage.methods._fitted import MOST_WITH_GAPS
from ensemblage.methods._shared_clusters import MOST_PAIRED, MOST_STEPS
from ensemblage.metrics.choosing import largest_default_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage._ensemble import Ensemble

#: Larger votes are sampled to about this number of rows: every second, fourth, ... row.
MOST_SAMPLED = 100_000
_PTGP_EXACT = 15_000
_LARGEST_SPECTRUM = 1000
_STARTED = 3000  # microclusters that determine the start of LWPT
#: How much longer it takes to compare votes with gaps, in the elite graph and in a similarity.
_GAPS_OF_GRAPH, _GAPS_OF_PAIRS = 4.0, 2.5


class Shape(NamedTuple):
    """The sizes on which costs depend.

    Attributes
    ----------
    n_objects, n_clusterings, n_microclusters : int
        N, M and n: rows, columns, and different rows.
    n_clusters : int
        C, the clusters of all clusterings.
    n_shared : float
        Pairs of different rows with equal votes, summed over clusterings.
    k : int
        Requested clusters.
    has_gaps : bool
        Whether votes are missing, which changes the route of some methods.
    """

    n_objects: int
    n_clusterings: int
    n_microclusters: int
    n_clusters: int
    n_shared: float
    k: int
    has_gaps: bool = False


class Estimate(NamedTuple):
    """Expected cost of a fit, see :func:`estimate`.

    Attributes
    ----------
    method : str
        Name of the method.
    seconds : float
        CPU seconds, without compiling kernels.
    bytes : int
        Memory at the peak, above the votes themselves.
    shape : Shape
        The sizes that it is computed from.
    n_sampled : int
        Number of sampled rows.
    """

    method: str
    seconds: float
    bytes: int
    shape: Shape
    n_sampled: int

    def __str__(self) -> str:
        shape = self.shape
        sampled = "" if self.n_sampled == shape.n_objects else f" (from {self.n_sampled:,} rows)"
        return (
            f"{METHODS[self.method].__name__}: about {_rounded(self.seconds)} CPU seconds and"
            f" {_rounded(self.bytes / 1e9)} GB of memory above the votes, for"
            f" {counted(shape.n_objects, 'object')}, {counted(shape.n_clusterings, 'clustering')}"
            f" with {counted(shape.n_clusters, 'cluster')},"
            f" {counted(shape.n_microclusters, 'different row')}{sampled}, k = {shape.k}"
        )


def estimate(X: Any, method: str = "consensus", *, n_clusters: int | str = 10) -> Estimate:
    """Estimate the CPU seconds and the memory of a fit.

    Parameters
    ----------
    X : array-like of shape (n_objects, n_clusterings), or Ensemble
        Votes, as for `fit`.
    method : str, default="consensus"
        Name of a method whose costs were measured: "consensus" (or "auto"), "eac", "lwea", "lwgp",
        "lwpt", "pta", "ptgp", "vote" or "weac".
    n_clusters : int or "auto", default=10
        Number of clusters. "auto" uses the largest number that would be compared; the time of the
        choice itself is not included.

    Returns
    -------
    Estimate
        With `seconds` and `bytes`; `str` gives a sentence.

    Notes
    -----
    Arrays of more than 100,000 rows are sampled: every second, fourth, ... row. The number of
    different rows is extrapolated from its growth between half of the sample and all of it.
    Constants were measured on one core of a small server: expect a factor of two either way on data
    of another structure, and differences between machines (``python -m benchmarks.costs --check``).

    Examples
    --------
    >>> import numpy as np
    >>> import ensemblage as en
    >>> votes = np.random.default_rng(0).integers(0, 20, (3000, 50))
    >>> expected = en.estimate(votes, "consensus", n_clusters=20)
    >>> expected.seconds < 10, expected.bytes < 1e9, expected.shape.n_microclusters
    (True, True, 3000)
    """
    wanted = _validate.check_n_clusters_or_auto("estimate", n_clusters)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        sample, n_objects = as_ensemble(X[:: stride(len(X))]), len(X)
    else:
        sample = as_ensemble(X)
        n_objects = len(sample.microclusters.of_object)
    k = largest_default_k(sample.microclusters.table) if wanted is None else wanted
    return of_ensemble(sample, n_objects, method, k)


def of_ensemble(sample: Ensemble, n_objects: int, method: str, k: int) -> Estimate:
    """Return the estimate for `n_objects` objects, of which `sample` has evenly spaced ones."""
    kind = METHODS[_validate.check_method("estimate", method, METHODS)]
    name = kind.__name__.lower()
    if name not in SECONDS:
        expected = f"one of {', '.join(sorted(SECONDS))}, whose costs were measured"
        raise ParameterError("estimate", "method", expected, method)
    n_sampled = len(sample.microclusters.of_object)
    return of_shape(shape_of(sample, n_objects, k), name, n_sampled)


def stride(n_objects: int) -> int:
    """Return the sampling interval of rows: a power of two."""
    return 1 << max(0, math.ceil(math.log2(max(n_objects, 1) / MOST_SAMPLED)))


def shape_of(sample: Ensemble, n_objects: int, k: int) -> Shape:
    """Return the shape of `n_objects` objects, of which `sample` has evenly spaced ones."""
    table, sizes, of_object = sample.microclusters
    n = _extrapolated(of_object, n_objects)
    shares = [np.bincount(column[column >= 0]) / len(sizes) for column in table.T]
    shared = float(sum((share**2).sum() for share in shares)) * n * n
    n_clusters = int((table.max(axis=0) + 1).sum())
    gaps = bool((table.max(axis=0)[table.min(axis=0) < 0] >= 0).any())
    return Shape(n_objects, table.shape[1], n, n_clusters, shared, k, gaps)


def of_shape(shape: Shape, method: str, n_sampled: int = 0) -> Estimate:
    """Return the estimated cost of a method on votes of some shape."""
    sizes = terms(shape, groups=method == "consensus")
    seconds = sum(SECONDS[method][term] * sizes[term] for term in SECONDS[method])
    n_bytes = sum(BYTES[method][term] * sizes[term] for term in BYTES[method])
    return Estimate(method, seconds, int(n_bytes), shape, n_sampled)


def terms(shape: Shape, *, groups: bool = True) -> dict[str, float]:
    """Return the products of sizes that costs are sums of, by name; 0 on other routes.

    Average link has three routes: pairs, shared clusters, and, if the method has it, `groups`.
    With gaps all pairs are compared, unless there are so many that groups are. PTGP uses all
    clusters as columns up to 15,000 microclusters, and above that only as many vectors as it needs;
    its graph compares each microcluster with a fixed number if all pairs are too many. LWPT takes
    all eigenvectors, of the smaller side of its graph. The graph of very many clusters is sparse.
    """
    N, M, n, C, shared, k = map(float, shape[:6])
    gaps = shape.has_gaps
    steps = min(20.0, max(1.0, math.sqrt(n) // 2))
    links = min(n, 2 * steps)
    few = n <= _PTGP_EXACT
    paired = n <= MOST_PAIRED or (gaps and not (groups and n > MOST_WITH_GAPS))
    grouped = not paired and (gaps or shared > MOST_STEPS)
    small, rank = C <= _LARGEST_SPECTRUM, min(n, C)
    compared = n * n if gaps or n * n <= flow.MOST_PAIRS else n * flow.N_CANDIDATES
    return {
        "1": 1.0,
        "N·M": N * M,
        "n·M": n * M,
        "n·M²": n * M * M,
        "n·M·k": n * M * k,
        "n·k²": n * k * k,
        "n²": n * n,
        "n²·M": n * n * M,
        "n²·K·T": n * n * links * steps,
        "compared": compared * (_GAPS_OF_GRAPH if gaps else 1),
        "pairs·M": n * n * M * paired * (_GAPS_OF_PAIRS if gaps else 1),
        "pairs": n * n * paired * (2 if gaps else 1),  # one more copy
        "shared": shared * (not paired),
        "lists": n * M * (not paired),
        "shared, ungrouped": shared * (not paired and not grouped),
        "groups": float(grouped),
        "groups·C": C * grouped,
        "n·C·K·T": n * C * links * steps * few,
        "n·k·K·T": n * k * links * steps * (not few),
        "n·C": n * C * few,
        "C²": C * C,
        "C³": C**3 * small,
        "C³ in all": C**3,
        "C²·k": C * min(C, flow.MOST_COLUMNS) * k * (not small),
        "rank³": rank**3,
        "rank²·M": rank**2 * M,
        "rank·C": rank * C,
        "n·M² of columns": n * M * M * (n >= C),
        "started²": min(n, _STARTED) ** 2,
    }


def _extrapolated(of_object: NDArray[np.int32], n_objects: int) -> int:
    """Return the number of different rows of all objects, extrapolated from a sample."""
    n = int(of_object.max(initial=-1)) + 1
    if n_objects <= len(of_object):
        return n
    half = len(np.unique(of_object[::2]))
    growth = min(max(math.log2(n / half), 0.0), 1.0)
    return min(n_objects, round(n * (n_objects / len(of_object)) ** growth))


def _rounded(value: float) -> str:
    """Return two digits, the precision of an estimate."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"
