"""Consensus: the default method, a tree checked against a graph."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ensemblage import _device, _validate
from ensemblage._messages import ParameterError
from ensemblage.methods import METHODS
from ensemblage.methods._base import ConsensusClusterer
from ensemblage.methods._checks import check_method_params, check_takes_weight
from ensemblage.methods._choosing import cuts_of
from ensemblage.methods._excluded import excluded_members, reasons_of_exclusion
from ensemblage.methods._opinions import GRAPH, TREE, Opinion, opinion_of, reasons
from ensemblage.methods._reliability import warn_if_unreliable
from ensemblage.methods._shared_clusters import N_GROUPS
from ensemblage.methods.fresh import params_of_fit
from ensemblage.methods.lwea import LWEA
from ensemblage.methods.lwgp import LWGP
from ensemblage.metrics.choosing import choose

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ensemblage._types import FloatArray
    from ensemblage.metrics.choosing import Cuts

#: A weight that decides nothing; one of 0 would remove the clustering from the microclusters.
_NEARLY_NOTHING = 1e-9

_GROUPED = (
    "\nThe tree is approximate: the {n} different rows of votes were first put into {groups} groups"
    " of similar rows, which retain {share:.0%} of their differences."
)


class Consensus(ConsensusClusterer):
    """The consensus of many clusterings, by the method that suits most data.

    Each cluster of the ensemble is weighted by how certain the other clusterings are of it, an
    average-link tree is built on that weighted co-association (`LWEA` with normalised weights), and
    the tree is cut so that outliers do not use up clusters. The same votes are also cut as a graph
    (`LWGP`), whose clusters are used only if they agree much better with the members; `method_` and
    `reasons_` report which.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters; "auto" chooses it with :func:`ensemblage.metrics.choose_k`.
    method : str, default="auto"
        "auto" is the method above; another name in ``ensemblage.METHODS`` selects that method.
    method_params : dict or None, default=None
        Parameters of a named method, such as ``{"linkage": "complete"}``.
    min_cluster_size : int, float or "auto", default="auto"
        Least size of a cluster: a number of objects, or as a float a share of n_objects /
        n_clusters. Smaller branches of the tree join the most similar cluster. "auto" is 0.1, or
        less if a smaller group of at least five objects is clearly apart (see Notes). Use 1 if very
        small clusters are expected. A named method uses its own default unless this is a number.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts of k-means if a graph is cut. Equal integers give equal labels.
    n_jobs : int or None, default=None
        Threads. None means ``OMP_NUM_THREADS`` or else all cores; results do not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where very many microclusters are grouped, or a named method computes. "cuda" needs the
        extra ``gpu``; "auto" uses a CUDA device if there is one and the work is large enough.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,)
        Consensus labels 0..n_clusters_-1, in order of first appearance.
    n_clusters_ : int
        Number of clusters found.
    method_ : str
        The method of the labels: "lwea", "lwgp", or the named one.
    reasons_ : list of str
        The reasons for that choice, as sentences.
    k_choice_ : KChoice
        The chosen number and the reasons; only with ``n_clusters="auto"``.
    confidence_ : ndarray of shape (n_objects,)
        How much closer each object is to its own cluster than to the next by co-association, in
        [0, 1].
    estimator_ : estimator
        The fitted method of the labels. Its own `n_clusters` is 1; `cut` gives the labels at any
        number.
    linkage_matrix_ : ndarray of shape (n_microclusters_ - 1, 4)
        The tree of merges over microclusters, in SciPy's format, if the labels come from one.
    microclusters_ : Microclusters
        Votes and sizes of the microclusters, and the microcluster of each object.
    n_microclusters_, n_features_in_ : int
        Numbers of microclusters and of clusterings.

    See Also
    --------
    EnsembleClustering : features in, consensus out.
    LWEA, LWGP : the two methods behind ``method="auto"``.
    PTA, PTGP : the methods of the paper that this library reproduces.

    Notes
    -----
    The tree is ``LWEA(weights="normalized", min_cluster_size="auto")``, the graph is ``LWGP()``.
    The graph's labels are used if their mean NMI with the members (geometric mean of entropies,
    members weighted by `member_weight`) is more than 1.2 times that of the tree's labels: then
    outliers, or independent errors of the clusterings, mislead the tree. They are also used if what
    their mean confidence lacks to 1 is at most 0.6 of what that of the tree's labels lacks, if that
    is at most 0.95 and the smallest cluster of the graph has at least five objects and at most a
    quarter of the mean size: then clusters of very different size mislead the tree. If
    ``n_clusters="auto"`` gives more clusters than most clusterings have, their median number is
    judged in the same way.
    Two kinds of clusterings are ignored, except in confidence: those in which each of at least ten
    objects is alone, and those with at least twice the median number of clusters that agree with no
    coarser clustering more than by chance.

    With ``min_cluster_size="auto"`` the least size is lowered to the size of the smallest group of
    at least five objects that is clearly apart: its similarity to the rest is at most half of that
    between the two closest clusters. Such groups are then clusters, as far as `n_clusters` allows.

    With N objects, M clusterings, n microclusters and C clusters in the ensemble: O(N·M) for
    microclusters, O(n·M²) for the weights, O(C³) for the eigenvectors of the graph, above 1,000
    clusters O(C²·k), and the tree of `LWEA`. If that would take very long (the squared sizes of all
    clusters, in microclusters, sum to more than 1.5·10⁹), microclusters first join the most similar
    of 4,000 leaders, and the tree is exact from these groups on; `reasons_` reports it.

    Examples
    --------
    >>> import ensemblage as en
    >>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2]]
    >>> model = en.Consensus(n_clusters=2, random_state=0).fit(votes)
    >>> model.labels_, model.method_
    (array([0, 0, 0, 0, 1, 1, 1]), 'lwea')
    >>> en.Consensus(2, method="ptgp", random_state=0).fit(votes).method_
    'ptgp'
    """

    _takes_member_weight = True
    _seed: int
    _tree: LWEA | None
    _graph: LWGP | None
    _named: ConsensusClusterer | None
    _last: Opinion | None
    _misleading: NDArray[np.bool_]
    method_: str
    _reasons: str
    _joins_groups = True  # as the method of the labels does

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        method: str = "auto",
        method_params: dict[str, Any] | None = None,
        min_cluster_size: float | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.method_params = method_params
        self.min_cluster_size = min_cluster_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    def _fit(self, X: Any, member_weight: Any) -> Self:
        owner = type(self).__name__
        name = _validate.check_method(owner, self.method, METHODS)
        params = check_method_params(owner, self.method_params, METHODS[name])
        _validate.check_min_cluster_size(owner, self.min_cluster_size)
        self._seed = _validate.check_random_state(owner, self.random_state)
        device = _validate.check_choice(owner, "device", self.device, _device.DEVICES)
        if METHODS[name] is not type(self):
            return self._fit_named(X, member_weight, METHODS[name], params)
        if params:
            expected = f"None with method={self.method!r}"
            hint = "Set method to the method that has these parameters."
            raise ParameterError(owner, "method_params", expected, self.method_params, hint)
        ensemble = self._begin(X, member_weight)
        common: dict[str, Any] = {"n_clusters": 1, "n_jobs": self.n_jobs}
        tree = LWEA(weights="normalized", min_cluster_size=self.min_cluster_size, **common)
        graph = LWGP(random_state=_validate.DrawnSeed(self._seed), **common)
        _device.chosen(device, self.n_microclusters_)  # raises early
        tree._may_group, tree._device_for_groups = True, device
        tree._by_rule = graph._by_rule = self._by_rule
        tree._keeps_clear_groups = self.min_cluster_size == "auto"
        self._named = self._last = None
        table, sizes, _ = self.microclusters_
        excluded = excluded_members(table, sizes)
        self._misleading = excluded.alone | excluded.at_chance
        weight = self._informative_weight()
        self._tree = tree.fit(ensemble, member_weight=weight)
        self._graph = graph.fit(ensemble, member_weight=weight)
        self._finish()
        opinion: Any = self._last
        self.method_, self._reasons = opinion.method, reasons(opinion)
        self._reasons += reasons_of_exclusion(excluded)
        if self._tree._captured is not None:
            self._reasons += _GROUPED.format(
                n=self.n_microclusters_, groups=N_GROUPS, share=self._tree._captured
            )
        if opinion.method != GRAPH:
            self.linkage_matrix_ = self.estimator_.linkage_matrix_
        return self

    def _fit_named(
        self, X: Any, member_weight: Any, kind: type[ConsensusClusterer], params: dict[str, Any]
    ) -> Self:
        """Fit the named method instead of the default."""
        wanted: dict[str, Any] = {"n_jobs": self.n_jobs}
        if "random_state" in kind._get_param_names():
            wanted["random_state"] = _validate.DrawnSeed(self._seed)
        if "min_cluster_size" in kind._get_param_names() and self.min_cluster_size != "auto":
            wanted["min_cluster_size"] = self.min_cluster_size
        if "device" in kind._get_param_names():
            wanted["device"] = self.device
        named = kind(**{**wanted, **params, "n_clusters": 1})
        named._by_rule = self._by_rule
        for name, usual in (("affinity", "votes"), ("draws", "columns")):
            if (value := getattr(named, name, usual)) != usual:
                hint = f"Use {kind.__name__} itself for that."
                raise ParameterError(kind.__name__, name, f"{usual!r} in Consensus", value, hint)
        check_takes_weight(kind, member_weight)
        ensemble = self._begin(X, member_weight)
        self._tree = self._graph = None
        self._named = named.fit(ensemble, member_weight=self.member_weight_)
        if hasattr(named, "linkage_matrix_"):
            self.linkage_matrix_ = named.linkage_matrix_
        self.method_, self._reasons = self.method.lower(), f"{kind.__name__} was requested."
        by_object = named._unit_of_object is not named.microclusters_.of_object
        self._finish(named._unit_of_object if by_object else None)
        if named._why_unreliable is not None:
            warn_if_unreliable(self, kind.__name__)
        return self

    @property
    def reasons_(self) -> list[str]:
        """The reasons for the choice of `method_`."""
        check_is_fitted(self, "labels_")
        return self._reasons.split("\n")

    @property
    def estimator_(self) -> ConsensusClusterer:
        """The fitted method of the labels."""
        check_is_fitted(self, "labels_")
        chosen: Any = self._part(self.method_) if self._named is None else self._named
        return chosen

    def _part(self, method: str) -> Any:
        """Return one of the fitted methods behind ``method="auto"``."""
        return {TREE: self._tree, GRAPH: self._graph}[method]

    @property
    def _took_second_choice(self) -> bool:
        """Whether the labels do not come from the weighted tree although no method was named."""
        return METHODS[params_of_fit(self)["method"].lower()] is type(self) and self.method_ != TREE

    def _why_no_tree(self) -> str:
        if self.method_ == GRAPH:
            return f"the labels come from a graph (method_ {GRAPH!r}); see reasons_"
        return super()._why_no_tree()

    def _wanted_k(self) -> int:
        k = super()._wanted_k()
        if self.n_clusters != "auto" or self._named is not None or self._graph is None:
            return k
        method = self._opinion(k).method
        if method == TREE and k > (typical := self._typical_k()):
            method = self._opinion(typical).method
        if method != TREE:  # then the tree's curves are not informative
            self.k_choice_ = choose(replace(cuts_of(self._part(method)), name=type(self).__name__))
            return self.k_choice_.k
        return k

    def _cuts(self) -> Cuts:
        taken = self._part(vars(self).get("method_", TREE)) if self._named is None else self._named
        return replace(cuts_of(taken), name=type(self).__name__)

    def _cut(self, n_clusters: int) -> NDArray[np.int64]:
        if self._named is not None:
            return self._named._cut_or_join(n_clusters)
        self._last = opinion = self._opinion(n_clusters)
        return opinion.labels

    def _opinion(self, n_clusters: int) -> Opinion:
        return opinion_of(self, self._part(TREE), self._part(GRAPH), n_clusters)

    def _is_tied(self, n_clusters: int) -> bool:
        last: Any = None if self._named is not None else self._last
        part: Any = self._named if last is None else self._part(last.method)
        is_tied: bool = part._is_tied(n_clusters)
        return is_tied

    def _typical_k(self) -> int:
        """Return the median number of clusters of the clusterings, except of trivial ones."""
        numbers = (self.microclusters_.table.max(axis=0) + 1)[~self._misleading]
        return int(np.median(numbers[numbers > 1])) if (numbers > 1).any() else 2

    def _informative_weight(self) -> FloatArray | None:
        """Return the weights of clusterings, nearly 0 for those that would only mislead."""
        if not self._misleading.any():
            return self.member_weight_
        given = self.member_weight_
        given = np.ones(len(self._misleading)) if given is None else given
        return np.where(self._misleading, _NEARLY_NOTHING * given, given)

    def _with_seed(self, seed: int) -> Self | None:
        part = self.estimator_._with_seed(seed)
        if part is None:
            return None
        other = copy(self)
        if self._named is None:
            other._graph = part
        else:
            other._named = part
        return other

    def _similarity_sums(self, weights: FloatArray) -> FloatArray:
        return self.estimator_._similarity_sums(weights)
