"""LCA: latent classes of votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ensemblage import _validate, flow
from ensemblage.flow import one_blas_thread
from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods._checks import check_numbers
from ensemblage.methods._fitted import of_mean_one
from ensemblage.methods._numbering import in_order_of_appearance
from ensemblage.methods._starting import start_from
from ensemblage.methods.lwea import LWEA
from ensemblage.methods.lwpt import LWPT
from ensemblage.metrics import criteria

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray

#: The methods of each start, and whether it also draws random labels.
_STARTS: dict[str, tuple[type[LWPT | LWEA], ...]] = {
    "lwpt": (LWPT,),
    "lwea": (LWEA,),
    "random": (),
    "best": (LWPT, LWEA),
}
_DRAWN = ("random", "best")


class LCA(ConsensusClusterer):
    """Latent classes of votes: a mixture model with soft memberships.

    Every object belongs to one of `n_clusters` hidden classes, and each class has its own
    probabilities of votes in each clustering. Expectation-maximisation estimates the classes, so
    that each object, and each new one, has a probability of each cluster. It starts from another
    consensus, and is deterministic.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of classes; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
        :meth:`criteria` computes BIC and ICL for several numbers.
    init : {"lwpt", "lwea", "random", "best"}, default="lwpt"
        Starting point: the clusters of `LWPT` or `LWEA` with normalised weights, random labels, or
        all of these, of which "best" keeps the one with the largest log-likelihood. "lwpt" is the
        most accurate for runs of k-means; "best" suits votes with independent errors, such as those
        of annotators, where its probabilities are reliable.
    n_init : int, default=10
        Number of random starts of "random" and "best".
    max_iter : int, default=300
        Maximal number of rounds of expectation-maximisation.
    tol : float, default=1e-7
        Stop when the log-likelihood grows by at most this share of itself.
    random_state : int, Generator, RandomState or None, default=None
        Seed of random starts. Equal integers give equal labels.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        The most likely class of each object, 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of classes with an object; a warning is raised if it is lower than requested.
    memberships_ : ndarray of shape (n_objects, k)
        Probability of each of the k classes for each object. Column c is label c; classes without
        an object come last.
    class_weights_ : ndarray of shape (k,)
        The share of objects in each class.
    vote_probabilities_ : ndarray of shape (n_clusters_of_ensemble, k)
        Probability that an object of each class votes for each cluster of the ensemble. Rows are
        ordered by clustering, then by the codes in ``microclusters_.table``.
    log_likelihood_ : float
        Of all objects, natural logarithm.
    bic_, icl_ : float
        Information criteria; smaller is better.
    n_iter_ : int
        Rounds.
    converged_ : bool
        Whether it ended before `max_iter`. Two or three clusterings hardly determine classes, and
        may need more rounds.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next by co-association, in
        [0, 1]. The probability of a label is the row's maximum of `memberships_`.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    LWPT : the default starting point.
    Median : the labels with the least expected loss, for posterior draws.

    Notes
    -----
    Object i is of class c with probability w_c, and its vote in clustering m is cluster u with
    probability P_uc, independently over clusterings. On microclusters of sizes s:

    1. Start: R_ic = 0.9·[label of i is c] + 0.1/k.
    2. w_c = Σ_i s_i R_ic / N. T_uc is 1e-6 plus the sum of s_i R_ic over the microclusters i in u.
       P_uc is T_uc divided by the sum of T_vc over the clusters v of the same clustering.
    3. R_ic is proportional to w_c·Π P_uc over the votes of i. Repeat 2 and 3.

    A class that is left with less than half an object starts again, once, from the microcluster
    with the most objects that are undecided. A missing vote is left out of the product, and so is
    an unknown label of a new row; a row without a known label has probabilities w. Probabilities
    of a clustering of weight g are raised to the power of g; weights have a mean of 1.

    BIC = p·ln N - 2·ln L with p = (k - 1) + k·Σ_m g_m (k_m - 1); ICL adds twice the entropy of the
    memberships. Both take the votes on one object as independent evidence, which the clusterings
    of an ensemble are not: BIC chooses too many classes, and memberships are more certain than
    they should be. The start decides which of many maxima is found: a larger likelihood is not a
    better clustering where votes depend on each other.

    With N objects, M clusterings, n microclusters, C clusters in the ensemble: O(N·M) for
    microclusters, `LWPT` for the start (with C > 1,000 of evenly spaced clusterings), O(n·M·k) a
    round, and up to 4,000 microclusters a fit of `Consensus`. :meth:`cut` starts again at its k.

    References
    ----------
    A. Topchy, A. K. Jain, W. Punch, "A mixture model for clustering ensembles", SIAM International
    Conference on Data Mining, 2004, pp. 379-390.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [0, 1, 1]]
    >>> model = en.LCA(n_clusters=2).fit(votes)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict_proba([[0, 1, 0]]).round(2)
    array([[0.78, 0.22]])
    """

    _takes_member_weight = _joins_groups = True  # the most likely classes
    _why_fewer = "no object belongs most likely to the other classes"
    _why_unreliable = "Its start, or very small clusters of the ensemble, may have misled it."
    class_weights_: FloatArray
    _vote_probabilities_: FloatArray
    _last: flow.LatentClasses | None

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        init: str = "lwpt",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-7,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        self._init = _validate.check_choice(owner, "init", self.init, tuple(_STARTS))
        self._n_init = _validate.check_whole(owner, "n_init", self.n_init, 1)
        self._max_iter = _validate.check_whole(owner, "max_iter", self.max_iter, 1)
        self._tol = _validate.check_number(owner, "tol", self.tol, zero_allowed=True)
        self._seed = _validate.check_random_state(owner, self.random_state)
        self._begin(X, member_weight)
        self._prepare()
        self._last = None
        self._finish()
        mixture: Any = self._last
        self._last = None
        # Columns in the order of labels; classes without an object are last.
        columns = in_order_of_appearance(mixture.posterior.argmax(axis=1), len(mixture.weights))
        self.class_weights_ = mixture.weights[columns]
        self._vote_probabilities_ = mixture.probabilities[:, columns].ravel()
        self.n_iter_, self.converged_ = len(mixture.log_likelihoods), mixture.converged
        self.log_likelihood_ = float(mixture.log_likelihoods[-1])
        self.bic_, self.icl_ = self._scores(mixture)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class for new rows of votes.

        Parameters
        ----------
        X : array-like, DataFrame, Arrow table or Ensemble of shape (n_objects, n_clusterings)
            Votes of the same clusterings as in fit. Missing votes and labels that did not occur in
            fit are ignored; a row without a known label has the probabilities `class_weights_`.

        Returns
        -------
        ndarray of shape (n_objects, k)
            Rows sum to 1. Column c is label c, as in `memberships_`.
        """
        new, table = self._new_rows(X)
        return self._posterior(table)[new.microclusters.of_object]

    def criteria(self, n_clusters: Iterable[int]) -> criteria.ClassCriteria:
        """Return log-likelihood, BIC and ICL at several numbers of classes, without refitting.

        Parameters
        ----------
        n_clusters : iterable of int
            Numbers of classes, each at most `n_microclusters_`.

        Returns
        -------
        ClassCriteria

        Examples
        --------
        >>> import ensemblage as en
        >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [0, 1, 1]] * 9
        >>> print(en.LCA(n_clusters=2).fit(votes).criteria([1, 2, 3]))
        ClassCriteria: the least BIC at k = 2, the least ICL at k = 2
        k  n_parameters  log_likelihood      bic      icl
        1             3        -106.173  224.314  224.314
        2             7         -71.802  171.526  171.526
        3            11         -71.802  187.483  196.379
        """
        check_is_fitted(self, "labels_")
        owner = f"{type(self).__name__}.criteria"
        ks = check_numbers(owner, n_clusters, self.n_microclusters_)
        with one_blas_thread:
            mixtures = [self._mixture(k) for k in ks]
        scores = np.array([self._scores(mixture) for mixture in mixtures]).reshape(-1, 2)
        return criteria.ClassCriteria(
            k=np.array(ks, dtype=np.int64),
            n_parameters=np.array([self._n_parameters(k) for k in ks]),
            log_likelihood=np.array([mixture.log_likelihoods[-1] for mixture in mixtures]),
            bic=scores[:, 0],
            icl=scores[:, 1],
        )

    @property
    def memberships_(self) -> FloatArray:
        """Probability of each class for each object; column c is label c."""
        check_is_fitted(self, "labels_")
        return self._posterior(self.microclusters_.table)[self.microclusters_.of_object]

    @property
    def vote_probabilities_(self) -> FloatArray:
        """Probability that an object of each class (column) votes for each cluster."""
        check_is_fitted(self, "labels_")
        return self._vote_probabilities_.reshape(-1, len(self.class_weights_)).copy()

    def _prepare(self) -> None:
        """Set the state that every cut needs."""
        table = self.microclusters_.table
        self._members, self._owner = flow.membership(table).tocsr(), flow.owners(table)
        weight = self._cluster_weight(of_mean_one(self))
        self._votes = self._members if weight is None else flow.membership(table, weight).tocsr()
        kinds: Any = _STARTS[self._init]
        methods = [kind(1, weights="normalized", n_jobs=self.n_jobs) for kind in kinds]
        self._starts = start_from(methods, self)

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        mixture = self._mixture(n_clusters)
        if "labels_" not in vars(self):  # during fit, which keeps the mixture
            self._last = mixture
        return cast("NDArray[np.int64]", mixture.posterior.argmax(axis=1))

    def _mixture(self, n_clusters: int) -> flow.LatentClasses:
        n = self.n_microclusters_
        _validate.check_memory(
            8 * 5 * n * n_clusters,
            f"LCA's memberships of {n} microclusters in {n_clusters} classes",
            "Fewer clusters need less.",
        )
        return max(
            (
                flow.latent_classes(
                    self._members,
                    self._votes,
                    self._owner,
                    self.microclusters_.sizes,
                    flow.softened(labels, n_clusters),
                    max_iter=self._max_iter,
                    tol=self._tol,
                )
                for labels in self._start_labels(n_clusters)
            ),
            key=lambda mixture: mixture.log_likelihoods[-1],
        )

    def _start_labels(self, n_clusters: int) -> Iterable[NDArray[np.int64]]:
        """Yield labels of microclusters to start from."""
        if n_clusters == 1:
            yield np.zeros(self.n_microclusters_, dtype=np.int64)
            return
        for start in self._starts:
            yield start.labels(n_clusters)
        if self._init in _DRAWN:
            for rng in np.random.default_rng(self._seed).spawn(self._n_init):
                yield rng.integers(n_clusters, size=self.n_microclusters_)

    def _posterior(self, table: NDArray[np.int32]) -> FloatArray:
        """Return the probabilities of the classes for rows in the codes of the fit."""
        n_clusters = self.microclusters_.table.max(axis=0) + 1
        weight = self._cluster_weight(of_mean_one(self))
        votes = flow.membership(table, weight, n_clusters).tocsr()
        return flow.expect(votes, self.class_weights_, self.vote_probabilities_)[0]

    def _label_unseen(self, table: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the most likely class of each row, among classes with objects."""
        return cast("Any", self._posterior(table)[:, : self.n_clusters_].argmax(axis=1))

    def _number_by_size(self) -> Self:
        before = self._micro_labels
        super()._number_by_size()
        columns = np.arange(len(self.class_weights_))
        columns[self._micro_labels] = before
        probabilities = self.vote_probabilities_[:, columns]
        self.class_weights_ = self.class_weights_[columns]
        self._vote_probabilities_ = probabilities.ravel()
        return self

    def _with_seed(self, seed: int) -> Self | None:
        return super()._with_seed(seed) if self._init in _DRAWN else None

    def _n_parameters(self, n_clusters: int) -> float:
        table = self.microclusters_.table
        return criteria.n_parameters(table.max(axis=0).clip(0), n_clusters, of_mean_one(self))

    def _scores(self, mixture: flow.LatentClasses) -> tuple[float, float]:
        n_free = self._n_parameters(len(mixture.weights))
        likelihood, sizes = mixture.log_likelihoods[-1], self.microclusters_.sizes
        return criteria.bic_and_icl(likelihood, n_free, mixture.posterior, sizes)

    def _why_not_whole(self) -> str | None:
        n_clusters = int((self.microclusters_.table.max(axis=0) + 1).sum())
        names = ("class_weights_", "_vote_probabilities_")
        weights, probabilities = found = [vars(self).get(name, np.empty(0)) for name in names]
        good = len(weights) >= self.n_clusters_ and len(probabilities) == n_clusters * len(weights)
        good = good and all(criteria.are_probabilities(array) for array in found)
        return None if good else "its probabilities do not fit its classes"
