"""Messages of the library, which speak of parameters, in the words of the command line."""

from __future__ import annotations

import re

#: What the command calls a parameter of the library.
OPTIONS = {
    "n_clusters_range": "--k-range",
    "n_clusters": "-k",
    "n_members": "--members",
    "n_neighbors": "--neighbors",
    "n_steps": "--steps",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "n_refits": "--refits",
    "id_column": "--id-column",
    "checkpoint": "--checkpoint",
    "device": "--device",
    "format": "--format",
    "header": "--header",
    "key": "--key",
    "linkage": "--linkage",
    "projection": "--projection",
    "scale": "--scale",
    "subsample": "--subsample",
    "subspace": "--subspace",
    "truth": "--truth",
}
_NAME = f"({'|'.join(OPTIONS)})"
# What stands in quotes or in the name of a file is the user's own, and stays as it is.
_OPEN, _END = r"(?<![\w'\"/.-])", r"(?![\w'\"/.=-])"
_PARAMETER = re.compile(rf"The '{_NAME}' parameter of \w+ (must be None(?:,| or) )?")
_OPTION = re.compile(rf"^The option '{_NAME}'|(?<=[Ll]eave )'{_NAME}'(?= out)")
_NONE = re.compile(rf"\bwith {_NAME}=None\b")
_VALUE = re.compile(rf"{_OPEN}{_NAME}=(['\"]?)(\w+)\2(?=[\s,;:)]|\.(?:\s|$)|$)")
_WORD = re.compile(rf"{_OPEN}(n_[a-z_]+|random_state){_END}")
_COUNT = re.compile(rf"{_OPEN}n_samples=(\d+)")


def in_options(message: str) -> str:
    """Return a message with options in place of the parameters that they set.

    Examples
    --------
    >>> in_options("The 'subspace' parameter of members must be None, a share. Got 9 instead.")
    '--subspace must be a share. Got 9 instead.'
    >>> in_options("Rescale them first, or use scale='minmax'.")
    'Rescale them first, or use --scale minmax.'
    """
    message = _PARAMETER.sub(
        lambda found: f"{OPTIONS[found[1]]} {'must be ' if found[2] else ''}", message
    )
    message = _OPTION.sub(lambda found: OPTIONS[found[1] or found[2]], message)
    message = _NONE.sub(lambda found: f"without {OPTIONS[found[1]]}", message)
    message = _VALUE.sub(lambda found: f"{OPTIONS[found[1]]} {found[3]}", message)
    message = _WORD.sub(lambda found: OPTIONS.get(found[1], found[1]), message)
    return _COUNT.sub(r"\1", message)
