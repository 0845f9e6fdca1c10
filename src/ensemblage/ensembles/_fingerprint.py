"""A stable text that identifies a base clusterer with its parameters in every process."""

from __future__ import annotations

import hashlib
import sys
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

#: Types whose repr is complete and contains no address, which would change between runs.
_PLAIN = (
    *(str, bytes, bool, int, float, complex, type(None), type(...), range, slice),
    *(np.generic, np.dtype, np.ufunc, Enum, PurePath),
)


def digest(array: np.ndarray[Any, Any]) -> str:
    """Return the checksum of an array's numbers."""
    return hashlib.blake2b(np.ascontiguousarray(array).data, digest_size=16).hexdigest()


def words(method: Any) -> str:
    """Describe a method with all its parameters, or raise an error."""
    try:
        return _words(method)
    except RecursionError as error:
        raise _refusal(method, "refers to itself") from error


def _words(value: Any) -> str:
    if isinstance(value, type):
        return _name(value)
    if hasattr(value, "get_params"):
        params = value.get_params(deep=False)
        # A random_state is drawn for each member, regardless of its value.
        params.pop("random_state", None)
        return f"{_name(type(value))}({_words(params)})"
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_words, value))}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_words, value)))}}}"
    if isinstance(value, dict):
        items = sorted(f"{_words(key)}: {_words(value[key])}" for key in value)
        return f"{{{', '.join(items)}}}"
    if isinstance(value, np.ndarray):
        content = _words(value.tolist()) if value.dtype.hasobject else digest(value)
        return f"array {value.shape} {value.dtype} {content}"
    return _words_of_code(value)


def _words_of_code(value: Any) -> str:
    """Describe a callable by its content: many have the same name, or none."""
    if isinstance(value, partial):
        return f"partial({_words([value.func, value.args, value.keywords])})"
    if isinstance(value, MethodType):
        return f"{_words(value.__func__)} of {_words(value.__self__)}"
    if isinstance(value, BuiltinFunctionType):
        owner = value.__self__
        of = "" if owner is None or isinstance(owner, ModuleType) else f" of {_words(owner)}"
        return f"{_name(value)}{of}"
    if isinstance(value, CodeType):
        return _words([value.co_code, value.co_consts, value.co_names, value.co_varnames])
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        used_globals = {name: value.__globals__.get(name) for name in value.__code__.co_names}
        numbers = {
            name: found
            for name, found in used_globals.items()
            if isinstance(found, str | int | float | np.generic | np.ndarray)
        }
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__, cells, numbers]
        return f"{_name(value)} {hashlib.blake2b(_words(parts).encode()).hexdigest()[:32]}"
    if _is_found_by_name(value):  # compiled, such as most of NumPy
        return _name(value)
    raise _refusal(value, "has no description that stays the same")


def _is_found_by_name(value: Any) -> bool:
    named: Any = sys.modules.get(getattr(value, "__module__", None) or "")
    for part in getattr(value, "__qualname__", "").split("."):
        named = getattr(named, part, None)
    return named is value


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _refusal(value: Any, reason: str) -> ValueError:
    return ValueError(
        f"With a checkpoint, a later call must be able to check that its method is the same, but a"
        f" parameter of type {_name(type(value))} {reason}. Leave the checkpoint out, or use"
        f" parameters that are numbers, names, arrays, functions and estimators."
    )
