"""Messages of the library, which name parameters, with the options of the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ensemblage._messages import written

if TYPE_CHECKING:
    from ensemblage._messages import Parameter

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


def option(parameter: Parameter) -> str:
    """Return a parameter as an option of the command.

    Examples
    --------
    >>> from ensemblage._messages import Parameter
    >>> option(Parameter("scale", "minmax")), option(Parameter("scale", None))
    ('--scale minmax', 'no --scale')
    >>> option(Parameter("n_samples", 12)), option(Parameter("ties", "mean"))
    ('12', "ties='mean'")
    """
    if parameter.name == "n_samples":
        return " ".join(map(str, parameter.value))
    if parameter.name not in OPTIONS:
        return str(parameter)
    name = OPTIONS[parameter.name]
    if parameter.value == (None,):
        return f"no {name}"
    return " ".join([name, *map(str, parameter.value)])


def in_options(error: BaseException) -> str:
    """Return what an error or a warning says, in one line, with options for parameters."""
    return " ".join(written(error, option).split())
