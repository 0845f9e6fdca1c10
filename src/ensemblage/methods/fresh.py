"""The parameters of a fit, and fits that leave either all fitted attributes or none."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Private attributes that a fit may set.
_OF_A_FIT = ("_left_out", "_by_size", "_fitted_with")


@contextmanager
def fresh(estimator: Any) -> Iterator[None]:
    """Remove the state of an earlier fit, and that of this one if it fails.

    Warnings that a user has turned into errors are raised late in a fit.
    """
    _forget(estimator)
    keep_params(estimator)
    try:
        yield
    except BaseException:
        _forget(estimator)
        raise


def keep_params(estimator: Any) -> None:
    """Keep the parameters of a fit; those that can be changed from outside are copied."""
    params = estimator.get_params(deep=False)
    estimator._fitted_with = {name: _own(value) for name, value in params.items()}


def params_of_fit(estimator: Any) -> dict[str, Any]:
    """Return the parameters that an estimator was fitted with; `set_params` may follow a fit."""
    params: dict[str, Any] = vars(estimator).get("_fitted_with", None)
    return estimator.get_params(deep=False) if params is None else params


def seeded(kind: type[Any], n_clusters: Any, seed: Any, /, **parameters: Any) -> Any:
    """Return an estimator, not fitted, with the seed if it draws random numbers."""
    if "random_state" in kind._get_param_names():
        parameters["random_state"] = seed
    return kind(n_clusters, **parameters)


def _own(value: Any) -> Any:
    """Return a copy of a dict, a list or an estimator, and any other value itself."""
    can_change = isinstance(value, dict | list) or hasattr(value, "get_params")
    return clone(value, safe=False) if can_change else value


def _forget(estimator: Any) -> None:
    for name in [name for name in vars(estimator) if name.endswith("_") or name in _OF_A_FIT]:
        delattr(estimator, name)
