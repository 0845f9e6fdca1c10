"""ECMC: ensemble clustering by matrix completion."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ensemblage import _validate, flow
from ensemblage._messages import ParameterError
from ensemblage.flow import one_blas_thread
from ensemblage.methods._checks import LEVELS, check_pairs
from ensemblage.methods._linkage import LinkageClusterer
from ensemblage.methods.fresh import params_of_fit

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: A microcluster with a lower similarity to itself has vanished from the completed matrix.
_LEAST_DIAGONAL = 0.05
#: Means of co-association that differ by less are equal.
_DECIMALS = 12
#: Similarities that differ by less are equal: rounding errors depend on the processor.
_DECIMALS_OF_COMPLETED = 10


class ECMC(LinkageClusterer):
    """Agglomerative consensus on co-association completed from its reliable entries.

    Pairs of objects that nearly all clusterings join, or nearly all separate, are taken as known;
    the others are filled in by a low-rank matrix that differs from the known entries in few places.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    linkage : {"average", "complete", "single"}, default="average"
        Similarity of two clusters: the mean, smallest or largest over pairs of their objects.
    ties : {"mean", "later", "octave"}, default="mean"
        Which of several equally similar pairs of clusters merges first; complete and single link
        depend on it strongly. "mean": the pair with the largest mean similarity, then the one with
        the most objects. The others use the order of rows: "later" takes the first pair and puts
        the union in its later place; "octave" takes the last pair and the earlier place, as GNU
        Octave does.
    low, high : float, default=0.2 and 0.8
        Pairs with a co-association of at most `low` are known to be apart, those of at least `high`
        to belong together; pairs between are unknown.
    penalty : float or None, default=1.0
        The cost of differing from a known pair, relative to the rank. None means 1/sqrt(n_objects).
    max_iter : int, default=200
        Maximal number of iterations of the solver.
    tol : float, default=1e-6
        The solver stops when its constraint holds up to this share of the matrix's norm.
    level : {"microclusters", "objects"}, default="microclusters"
        The units that are merged: microclusters, whose objects then share a label; or objects, as
        in the article, where identical rows of votes may be separated: this needs the N × N
        distances, and raises MemoryBudgetError if they do not fit. Both give the same clusters if
        the cut of the objects keeps identical rows together throughout their tree.
    min_cluster_size : int, float or "auto", default=1
        Least size of a cluster: a number of objects, or as a float a share of n_objects /
        n_clusters; "auto" is 0.1. Smaller branches of the tree join the most similar cluster, so
        that outliers do not use up clusters. It is halved if the tree has too few branches of that
        size. 1 is the plain cut of the tree.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next, in [0, 1].
    similarity_ : ndarray of shape (n_microclusters_, n_microclusters_)
        The completed matrix, of two different objects of each pair of microclusters, rounded to ten
        decimals. Its entries may leave [0, 1], and the diagonal need not be the largest of its row.
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format; with ``level="objects"`` over
        objects, of shape (n_objects - 1, 4).
    n_iter_ : int
        Iterations of the solver.
    n_vanished_ : int
        Microclusters that vanished from the completed matrix; see the notes.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    EAC : the same without completion.

    Notes
    -----
    X minimises the sum of its singular values plus C times the sum of the absolute entries of E,
    subject to X + E = B on the known pairs, where B is 1 for those that belong together and 0 for
    those apart. Pairs that no clustering has both votes for are not known. The solver is an inexact
    augmented Lagrangian whose step grows by half in each iteration (usual, and a little away from
    the optimum). It runs on microclusters weighted by size, which is exact for the objects. Linkage
    is not: X_ab may exceed X_aa, and then objects with the same votes are not each other's nearest.
    The default merges microclusters, with averages over their objects, and ``level="objects"`` the
    objects themselves.

    With N objects, M clusterings and n microclusters: O(N·M) for microclusters, O(n³) for each of
    about 30 iterations (4/3·n³ multiplications to make a matrix tridiagonal), O(n²) for the tree,
    and 72·n² bytes; 16·N² bytes with ``level="objects"``. :meth:`cut` costs O(n). The method is
    deterministic.

    The result depends strongly on `penalty`, which the article does not specify. A group of fewer
    than 1/penalty objects that is known to be apart from all others vanishes from X: with
    1/sqrt(N), the usual value in robust principal component analysis, this happens to hundreds of
    microclusters, and with 1 to none. A microcluster whose own similarity in X is below 0.05 is not
    similar to any other. It is left out of the merges; after the cut it joins the cluster with the
    largest mean co-association, the largest one on ties; a warning reports how many there are.

    References
    ----------
    J. Yi, T. Yang, R. Jin, A. K. Jain, M. Mahdavi, "Robust ensemble
    clustering by matrix completion", IEEE International Conference on Data Mining, 2012, pp.
    1176-1181.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0, 0, 0]] * 3 + [[0, 0, 0, 0, 1]] * 2 + [[2, 2, 2, 2, 2], [2, 2, 2, 2, 3]]
    >>> en.ECMC(n_clusters=2).fit_predict(votes)
    array([0, 0, 0, 0, 0, 1, 1])
    """

    _takes_member_weight = True
    _why_unreliable = "Objects that its completed matrix isolates use up clusters."

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        linkage: str = "average",
        ties: str = "mean",
        low: float = 0.2,
        high: float = 0.8,
        penalty: float | None = 1.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        level: str = "microclusters",
        min_cluster_size: float | str = 1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.ties = ties
        self.low = low
        self.high = high
        self.penalty = penalty
        self.max_iter = max_iter
        self.tol = tol
        self.level = level
        self.min_cluster_size = min_cluster_size
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        linkage, ties = self._check_merging()
        low, high, penalty, max_iter, tol = self._check_completion()
        level = _validate.check_choice(owner, "level", self.level, LEVELS)
        ensemble = self._begin(X, member_weight)
        groups = ensemble.microclusters
        self._check_square()
        if level == "objects":
            self._check_objects()

        # Eigenvectors and ties depend on the order of rows, so rows are sorted by structure.
        self._order = np.argsort(flow.structure(groups.table, groups.sizes), kind="stable")
        table, sizes = groups.table[self._order], groups.sizes[self._order]
        agreement = flow.coassociation(table, weights=self.member_weight_, n_jobs=self.n_jobs)
        target, observed = flow.reliable_pairs(agreement, table, low, high)
        if penalty is None:
            penalty = ensemble.n_objects**-0.5
        self._vanished, self.n_vanished_ = np.zeros(len(groups.sizes), dtype=np.bool_), 0
        with one_blas_thread:
            completed, self.n_iter_, residual = flow.complete(
                target, observed, sizes, penalty, max_iter=max_iter, tol=tol
            )
        place = np.argsort(self._order)
        self.similarity_ = np.round(completed[np.ix_(place, place)], _DECIMALS_OF_COMPLETED)
        if residual > tol:
            warnings.warn(
                f"ECMC stopped after max_iter={max_iter} iterations with a residual of"
                f" {residual:.1e}, above tol={tol:g}. Increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        else:
            self._set_vanished(agreement[np.ix_(place, place)])
        return self._link(linkage, ties, level)

    def _set_vanished(self, agreement: FloatArray) -> None:
        """Set aside the microclusters that vanished from X, unless all did."""
        vanished = self.similarity_.diagonal() < _LEAST_DIAGONAL
        if not vanished.any() or vanished.all():
            return
        self._vanished, self._agreement = vanished, agreement[vanished]
        self.n_vanished_ = int(vanished.sum())
        _validate.warn(
            f"{vanished.sum()} of {len(vanished)} microclusters vanished from ECMC's completed"
            f" matrix; each joins the cluster that it agrees with most. Increase penalty to keep"
            f" them.",
            UserWarning,
        )

    def _cut_or_join(self, n_clusters: int) -> NDArray[np.int64]:
        if self._mixes_groups and n_clusters == self._ensemble.links.n_groups:
            return self._joined(n_clusters)  # the completion has lost everything, so use the votes
        return super()._cut_or_join(n_clusters)

    def _is_tied(self, n_clusters: int) -> bool:
        # Otherwise the method sorts its rows, so the given order has no effect.
        return params_of_fit(self)["ties"] != "mean" and super()._is_tied(n_clusters)

    def _tree_of_microclusters(self, linkage: str, ties: str) -> FloatArray:
        if self.n_vanished_:
            return self._tree_of_rest(np.arange(len(self._vanished)), linkage, ties)
        if ties != "mean":  # then ties depend on the order
            return super()._tree_of_microclusters(linkage, ties)
        order, sizes = self._order, self.microclusters_.sizes
        distance = 1.0 - self.similarity_[np.ix_(order, order)]
        return flow.with_leaves(flow.agglomerate(distance, linkage, sizes[order], ties), order)

    def _tree_of_objects(self, linkage: str, ties: str) -> FloatArray:
        if not self.n_vanished_:
            return super()._tree_of_objects(linkage, ties)
        return self._tree_of_rest(self.microclusters_.of_object, linkage, ties)

    def _tree_of_rest(self, group: NDArray[Any], linkage: str, ties: str) -> FloatArray:
        """Return the tree of leaves, each of which belongs to a group.

        Those that have vanished are merged first, with the leaf that they agree with most.
        """
        alone = len(group) == len(self._vanished)
        order = self._order if alone and ties == "mean" else np.arange(len(group))
        kept = order[~self._vanished[group[order]]]
        rows = group[kept]
        sizes = self.microclusters_.sizes[rows] if alone else None
        tree = flow.agglomerate(1.0 - self.similarity_[np.ix_(rows, rows)], linkage, sizes, ties)
        first = np.full(len(self._vanished), -1)
        first[rows[::-1]] = np.arange(len(kept))[::-1]
        target = np.arange(len(self._vanished))
        agreement = np.where(self._vanished, -1.0, self._agreement)[:, self._order]
        target[self._vanished] = self._order[agreement.argmax(axis=1)]
        place = first[target[group]].astype(np.int32)
        place[kept] = np.arange(len(kept))
        heights = np.full(len(kept), min(0.0, float(tree[:, 2].min(initial=0.0))))
        return flow.tree_of_objects(tree, place, heights)

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        labels = super()._cut(n_clusters)
        if not self.n_vanished_:
            return labels
        group = self._group_of_leaf()
        vanished = self._vanished[group]
        remaining = np.unique(labels[~vanished])
        if len(remaining) < n_clusters:
            return labels
        # Both levels count objects: a leaf is an object, or represents several.
        mass = self.microclusters_.sizes if len(group) == len(self._vanished) else 1
        weights = np.zeros((self.n_microclusters_, n_clusters))
        np.add.at(weights, (group, labels), np.where(vanished, 0, mass))
        totals = weights.sum(axis=0)
        by_size = np.argsort(-totals, kind="stable")  # of clusters that tie, the largest
        means = np.round(self._agreement @ weights / totals, _DECIMALS)
        row = np.cumsum(self._vanished) - 1
        labels[vanished] = by_size[means[:, by_size].argmax(axis=1)][row[group[vanished]]]
        return labels

    def _check_completion(self) -> tuple[float, float, float | None, int, float]:
        owner = type(self).__name__
        low = _validate.check_share(owner, "low", self.low)
        high = _validate.check_share(owner, "high", self.high)
        if not low < high:
            raise ParameterError(owner, "low", f"below high={high:g}", low)
        penalty = self.penalty
        if penalty is not None:
            penalty = _validate.check_number(owner, "penalty", penalty)
        max_iter = _validate.check_whole(owner, "max_iter", self.max_iter, 1)
        return low, high, penalty, max_iter, _validate.check_number(owner, "tol", self.tol)

    def _check_square(self, n_clusters: int = 0) -> None:  # noqa: ARG002
        n = self.n_microclusters_
        check_pairs(self, 72 * n * n, f"ECMC's completion for {n} microclusters")
