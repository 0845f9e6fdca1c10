"""Selection of the columns of ``.obs`` that are clusterings, and of cells."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage import _validate
from ensemblage._messages import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Restriction = tuple[str, list[str]] | None


def check_adata(owner: str, adata: Any, *, copy: bool = False) -> Any:
    """Return an object with the parts of an AnnData object, or raise an error."""
    if not all(hasattr(adata, part) for part in ("obs", "uns", "copy")):
        hint = (
            "Pass one of its tables, as sdata.tables['table']."
            if hasattr(adata, "tables")
            else "For a table of labels use a method itself, as in"
            " ensemblage.PTGP(n_clusters=10).fit_predict(table)."
        )
        raise TypeError(f"{owner} needs an AnnData object, got {type(adata).__name__}. {hint}")
    if copy and getattr(adata, "isbacked", False):
        raise ValueError(
            f"{owner} cannot copy an AnnData object that is backed by a file. Use copy=False, or"
            f" pass adata.to_memory()."
        )
    return adata


def check_key(owner: str, parameter: str, key: Any, *, optional: bool = False) -> None:
    """Reject a name in an AnnData object that is empty or not a text."""
    if (not isinstance(key, str) or not key) and not (optional and key is None):
        raise ParameterError(owner, parameter, "a name that is not empty", key, optional=optional)


def chosen_columns(adata: Any, keys: str | Iterable[str], key_added: str) -> list[str]:
    """Return the columns selected by `keys`, or raise an error that names a missing one."""
    present = [str(name) for name in adata.obs.columns]
    _check_key_added(adata, key_added)
    own = _columns_of(key_added)
    if isinstance(keys, str):
        check_key("consensus", "keys", keys)
        pattern = keys if set("*?[") & set(keys) else f"{keys}*"
        left_out = own | _written_before(adata)
        chosen = [name for name in present if fnmatchcase(name, pattern) and name not in left_out]
        return _check_some_match(keys, chosen, present)
    if not np.iterable(keys):
        raise TypeError(
            f"'keys' must be a list of columns of adata.obs, or a prefix or pattern of their"
            f" names, got {keys!r}."
        )
    chosen = list(keys)
    for name in chosen:
        _validate.check_name("column {!r} in adata.obs", name, present)
    _check_apart(chosen, own)
    return chosen


def result_of(owner: str, adata: Any, key: str) -> tuple[Any, Any, list[str]]:
    """Return labels, the entry of ``.uns`` and the columns of clusterings of a consensus."""
    check_adata(owner, adata)
    check_key(owner, "key", key)
    entry = adata.uns.get(key)
    if not (isinstance(entry, Mapping) and "members" in entry and key in adata.obs):
        raise ValueError(
            f"{owner} found no consensus under {key!r} in this object. Run"
            f" ensemblage.sc.tl.consensus(adata, key_added={key!r}) first."
        )
    columns = [str(name) for name in entry["params"]["keys"]]
    for name in columns:
        _validate.check_name("column {!r} in adata.obs", name, map(str, adata.obs.columns))
    return adata.obs[key], entry, columns


def restricted(obs: Any, restrict_to: Restriction) -> NDArray[np.int64] | None:
    """Return the positions of the cells to use; None is all of them."""
    if restrict_to is None:
        return None
    key, groups = restrict_to
    _validate.check_name("column {!r} in adata.obs", key, map(str, obs.columns))
    labels = obs[key].astype(str)
    present = natural_order(set(labels[obs[key].notna()]))
    for group in groups:
        _validate.check_name(f"group {{!r}} in adata.obs[{key!r}]", group, present)
    return np.flatnonzero((labels.isin(groups) & obs[key].notna()).to_numpy())


def restriction(restrict_to: Restriction) -> dict[str, Any]:
    """Return `restrict_to` as stored in ``.uns``, {} for None."""
    if restrict_to is None:
        return {}
    key, groups = restrict_to
    return {"restrict_to": {"key": key, "groups": groups}}


def check_restriction(owner: str, restrict_to: Any) -> Restriction:
    """Return a column and a list of its groups, or None."""
    if restrict_to is None:
        return None
    expected = "a column of adata.obs and a list of its groups, as ('cell_type', ['B', 'T'])"
    try:
        key, groups = restrict_to
    except (TypeError, ValueError):
        raise ParameterError(owner, "restrict_to", expected, restrict_to, optional=True) from None
    listed = [] if isinstance(groups, str) or not np.iterable(groups) else list(groups)
    if not listed:
        raise ParameterError(owner, "restrict_to", expected, restrict_to, optional=True)
    return str(key), [str(group) for group in listed]


def natural_order(names: Iterable[str]) -> list[str]:
    """Return names sorted so that the numbers in them are in increasing order.

    Examples
    --------
    >>> natural_order(["10", "9", "T,10", "T,9"])
    ['9', '10', 'T,9', 'T,10']
    """

    def key(name: str) -> list[Any]:
        parts = re.split(r"([0-9]+)", name)  # numbers are at odd positions
        return [int(part) if place % 2 else part for place, part in enumerate(parts)]

    return sorted(names, key=key)


def _check_key_added(adata: Any, key_added: Any) -> None:
    """Reject a name of the result that is empty, or that is used by runs of `leiden_ensemble`."""
    owner, parameter = "consensus", "key_added"
    check_key(owner, parameter, key_added)
    for name, entry in adata.uns.items():
        runs = entry.get("keys") if isinstance(entry, Mapping) else None
        if runs is not None and "resolutions" in entry and key_added in {name, *map(str, runs)}:
            expected = (
                f"another name than those of the runs of leiden_ensemble in adata.uns[{name!r}]"
            )
            raise ParameterError(owner, parameter, expected, key_added)


def _columns_of(key_added: str) -> set[str]:
    return {key_added, f"{key_added}_confidence"}


def _written_before(adata: Any) -> set[str]:
    """Return the columns added by earlier calls: results, not clusterings to combine."""
    written: set[str] = set()
    for name, entry in adata.uns.items():
        params = entry.get("params") if isinstance(entry, Mapping) else None
        if isinstance(params, Mapping) and params.keys() & {"ensemblage", "quorate"}:
            written |= _columns_of(name)
    return written


def _check_some_match(pattern: str, chosen: list[str], present: list[str]) -> list[str]:
    """Return the columns that match a pattern, if there are any."""
    if not chosen:
        near = difflib.get_close_matches(pattern.rstrip("*"), present, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        columns = f"Its columns are {_validate.shown(present)}" if present else "It has no columns"
        raise ValueError(f"No column of adata.obs matches keys={pattern!r}.{hint} {columns}.")
    return chosen


def _check_apart(chosen: list[str], own: set[str]) -> None:
    """Reject no column, a repeated column, and one that the result would replace."""
    if not chosen:
        raise ValueError("keys must name at least one column of adata.obs, got none.")
    twice = [name for place, name in enumerate(chosen) if name in chosen[:place]]
    if twice:
        raise ValueError(f"keys must name each column once, got {twice[0]!r} twice.")
    replaced = [name for name in chosen if name in own]
    if replaced:
        raise ValueError(
            f"keys must not include {replaced[0]!r}, which the result replaces. Change key_added."
        )
