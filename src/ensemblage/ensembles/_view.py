"""The view of one member on the features: some objects, some columns, a projection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ensemblage.ensembles._scaling import check_range
from ensemblage.flow import one_blas_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ensemblage.ensembles._plan import Plan

#: Rows of one matrix product. A fixed number, so that a row's result does not depend on others.
_BLOCK = 256
_ROWS = 512


class View(NamedTuple):
    """Objects, columns and projection of a member; None for all objects, all columns, and none."""

    rows: NDArray[np.int64] | None
    columns: NDArray[np.int64] | None
    projection: NDArray[Any] | None

    def of_objects(self, features: NDArray[Any]) -> NDArray[Any]:
        """Return the features that the member is fitted on."""
        return self.of(features if self.rows is None else features[self.rows])

    def of(self, features: NDArray[Any]) -> NDArray[Any]:
        """Return the view of the member on features of any objects."""
        if self.columns is not None:
            features = features[:, self.columns]
        if self.projection is not None:
            features = _product(features, self.projection)
        return np.ascontiguousarray(features)


def draw_view(plan: Plan, rng: np.random.Generator) -> View:
    """Draw objects and columns without replacement, and a Gaussian projection."""
    n_objects, n_features = plan.features.shape
    rows = columns = projection = None
    if plan.n_rows is not None:
        rows = np.sort(rng.choice(n_objects, plan.n_rows, replace=False))
    if plan.n_columns is not None:
        columns = np.sort(rng.choice(n_features, plan.n_columns, replace=False))
        n_features = plan.n_columns
    if plan.n_dimensions is not None:
        normal = rng.standard_normal((n_features, plan.n_dimensions))
        kind = np.float64 if plan.features.dtype == np.float64 else np.float32
        # Scaled so that squared distances are preserved on average.
        projection = (normal / np.sqrt(plan.n_dimensions)).astype(kind)
    return View(rows, columns, projection)


def count_distinct(rows: NDArray[Any], at_most: int) -> int:
    """Return the number of distinct rows, at most `at_most`."""
    seen: set[bytes] = set()
    for start in range(0, len(rows), _ROWS):
        # Adding 0 gives -0.0 and 0.0, which are equal, the same bytes.
        for row in rows[start : start + _ROWS] + rows.dtype.type(0):
            seen.add(row.tobytes())
            if len(seen) >= at_most:
                return at_most
    return len(seen)


def _product(features: NDArray[Any], projection: NDArray[Any]) -> NDArray[Any]:
    result = np.empty((len(features), projection.shape[1]), dtype=projection.dtype)
    block = np.zeros((_BLOCK, features.shape[1]), dtype=projection.dtype)
    with one_blas_thread:
        for start in range(0, len(features), _BLOCK):
            part = features[start : start + _BLOCK]
            block[: len(part)] = part
            with np.errstate(over="ignore", invalid="ignore"):  # checked below
                result[start : start + _BLOCK] = (block @ projection)[: len(part)]
    check_range(result, "projection")
    return result
