"""Checked settings: everything that a member is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage.ensembles._parameters import (
    check_methods,
    check_n_clusters_range,
    check_part,
    check_subsample,
)
from ensemblage.ensembles._scales import warn_of_scales
from ensemblage.ensembles._scaling import (
    SCALES,
    Scaling,
    check_spread,
    learn_scales,
    learn_scaling,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Plan:
    """The features and the settings of members. Member i depends only on these and on i.

    Attributes
    ----------
    features : ndarray of shape (n_objects, n_features)
        Already scaled.
    scaling : Scaling or None
        The scaling that was applied.
    methods : tuple
        Base clusterers, used in turn.
    n_clusters_range : tuple of int
        The smallest and the largest number of clusters to draw.
    n_columns, n_dimensions, n_rows : int or None
        Number of features of a member, of dimensions of its projection, and of its objects; None
        for all of them and no projection.
    seed : int
        Seed of all random numbers.
    """

    features: NDArray[Any]
    scaling: Scaling | None
    methods: tuple[Any, ...]
    n_clusters_range: tuple[int, int]
    n_columns: int | None
    n_dimensions: int | None
    n_rows: int | None
    seed: int

    def generator(self, index: int) -> np.random.Generator:
        """Return the random numbers of member `index`, independent of other members."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index,)))


def make_plan(
    owner: str,
    matrix: NDArray[Any],
    *,
    method: Any,
    n_clusters_range: Any,
    scale: Any,
    subspace: Any,
    projection: Any,
    subsample: Any,
    seed: int,
    n_clusters: int | None = None,
    names: list[Any] | None = None,
) -> Plan:
    """Check the settings against the features, and scale these.

    `n_clusters` is the number of the consensus, if there will be one. `names` are those of the
    features, for messages.
    """
    n_objects, n_features = matrix.shape
    methods = check_methods(owner, method)
    bounds = check_n_clusters_range(owner, n_clusters_range, n_objects, n_clusters=n_clusters)
    if scale is not None:
        _validate.check_choice(owner, "scale", scale, SCALES, optional=True)
    n_columns = check_part(owner, "subspace", subspace, n_features)
    n_dimensions = check_part(owner, "projection", projection, n_columns or n_features)
    share = check_subsample(owner, subsample)
    if scale is None and any(isinstance(one, str) for one in methods):
        warn_of_scales(*learn_scales(matrix), names)
    scaling = learn_scaling(matrix, scale)
    features = matrix if scaling is None else scaling.apply(matrix)
    check_spread(features)
    return Plan(
        features=features,
        scaling=scaling,
        methods=methods,
        n_clusters_range=bounds,
        n_columns=n_columns,
        n_dimensions=n_dimensions,
        n_rows=None if share is None else max(1, round(share * n_objects)),
        seed=seed,
    )
