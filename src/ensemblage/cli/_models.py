"""Models as files: ``--save`` of a consensus, and reports on what was saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ensemblage.cli._errors import WrongCall
from ensemblage.cli._votes import check_apart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ensemblage.cli._task import Task


_SUFFIXES = (".ensemblage", ".quorate")


def is_model(path: str) -> bool:
    """Tell whether a file is a saved model, by its name.

    Examples
    --------
    >>> is_model("model.ensemblage"), is_model("votes.csv")
    (True, False)
    """
    return path.lower().endswith(_SUFFIXES)


def check_only_report(paths: list[str], given: Iterable[str]) -> None:
    """Refuse several models, and options of a fit, which a model has behind it."""
    if any(map(is_model, paths[1:])):
        raise WrongCall("A report is on one model. Name it first, then its votes if you have them.")
    for option in given:
        raise WrongCall(
            f"{option} belongs to a fit, and {paths[0]} was fitted before. Leave {option} out, or"
            " give the votes alone."
        )


def check_save(
    path: str | None, outputs: Iterable[str | None], inputs: Iterable[str | None], *, one_k: bool
) -> None:
    """Refuse a model that cannot be written, or would replace something."""
    if path is None:
        return
    from ensemblage.files._target import check_target

    if not one_k:
        raise WrongCall("--save keeps one consensus: give -k instead of --k-range.")
    if path == "-":
        raise WrongCall("--save -: a model is no text. Name a file, such as model.ensemblage.")
    check_apart(path, inputs)
    for other in outputs:
        if other not in (None, "-") and Path(other).absolute() == Path(path).absolute():
            raise WrongCall(f"--save {path} is another output of this call. Name another file.")
    check_target(path)


def save_model(task: Task, fitted: Any) -> None:
    """Save what was fitted where that was asked for; labels of objects are in the output."""
    if task.save is None:
        return
    if fitted is None:
        raise ValueError(
            "The labels are written, but an earlier run had found them, so there is no model to"
            f" save as {task.save}. Run the same command again."
        )
    fitted.save(task.save, objects=False)
