"""A fit that leaves either all of its state or none."""

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

    A warning that the user made an error ends a fit near its end.
    """
    _forget(estimator)
    params = estimator.get_params(deep=False)
    estimator._fitted_with = {name: _own(value) for name, value in params.items()}
    try:
        yield
    except BaseException:
        _forget(estimator)
        raise


def params_of_fit(estimator: Any) -> dict[str, Any]:
    """Return the parameters that an estimator was fitted with; `set_params` may follow a fit."""
    params: dict[str, Any] = vars(estimator).get("_fitted_with", None)
    return estimator.get_params(deep=False) if params is None else params


def _own(value: Any) -> Any:
    """Return a copy of a parameter that can be changed from outside: a dict or an estimator."""
    can_change = isinstance(value, dict) or hasattr(value, "get_params")
    return clone(value, safe=False) if can_change else value


def _forget(estimator: Any) -> None:
    for name in [name for name in vars(estimator) if name.endswith("_") or name in _OF_A_FIT]:
        delattr(estimator, name)
