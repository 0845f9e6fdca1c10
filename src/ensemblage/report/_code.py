"""Python code that reproduces a report: all options that differ from their defaults."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._validate import DrawnSeed
from ensemblage.methods.fresh import params_of_fit
from ensemblage.report._text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLAIN = (str, int, float, bool, type(None))


def python_code(model: Any, beside: Iterable[str], title: str | None) -> str:
    """Return Python that fits the same model and writes the same report.

    Parameters
    ----------
    model : fitted estimator
        A consensus method, fitted on ``votes``, or `EnsembleClustering`, fitted on ``features``.
    beside : iterable of str
        Further arguments of the report, each under its own name.
    title : str or None
        The heading, if one was passed.
    """
    writer = _Writer()
    call = writer.estimator(model)
    weight = getattr(model, "member_weight_", None)
    passed = [fitted_on(model)]
    if weight is not None:
        passed.append(f"member_weight={weight.tolist()!r}")
    arguments = ["model", '"report.html"', *(f"{name}={name}" for name in beside)]
    if title is not None:
        arguments.append(f"title={visible(repr(title))}")
    if getattr(model, "_by_size", False):
        writer.notes.append(
            "# Clusters of this report are numbered by size: en.metrics.by_size(model.labels_)."
        )
    lines = ["import ensemblage as en", *sorted(writer.imports), ""]
    lines += [*writer.notes, f"model = {call}.fit({', '.join(passed)})"]
    return "\n".join([*lines, f"en.report.write({', '.join(arguments)})"])


def fitted_on(model: Any) -> str:
    """Return the name of the data that a model was fitted on, in the code."""
    return "features" if hasattr(model, "consensus_") else "votes"


class _Writer:
    """Values as code, the imports that they need, and notes on values without code."""

    def __init__(self) -> None:
        self.imports: set[str] = set()
        self.notes: list[str] = []

    def estimator(self, value: Any) -> str:
        """Return the constructor call, with the parameters that differ from their defaults."""
        kind = type(value)
        signature = inspect.signature(kind.__init__).parameters
        words = []
        for name, given in params_of_fit(value).items():
            if name == "n_jobs":  # results do not depend on it
                continue
            parameter = signature.get(name)
            default = inspect.Parameter.empty if parameter is None else parameter.default
            if name == "random_state" and not _is_seed(given):
                self._note_seed(value, given)
            elif name == "n_clusters" or not _same(given, default):
                words.append((name != "n_clusters", name, self.value(name, given)))
        shown = [f"{name}={code}" for _, name, code in sorted(words, key=lambda word: word[0])]
        return f"{self._name(kind)}({', '.join(shown)})"

    def value(self, name: str, value: Any) -> str:
        """Return a value as code."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, dict):
            inside = [f"{key!r}: {self.value(str(key), found)}" for key, found in value.items()]
            return visible(f"{{{', '.join(inside)}}}")
        if isinstance(value, list | tuple):
            inside = [self.value(name, found) for found in value]
            is_one = isinstance(value, tuple) and len(value) == 1
            ends = "[]" if isinstance(value, list) else "()"
            return f"{ends[0]}{', '.join(inside)}{',' * is_one}{ends[1]}"
        if hasattr(value, "get_params") and not isinstance(value, type):
            return self.estimator(value)
        if isinstance(value, _PLAIN):
            return visible(repr(value))
        self.notes.append(f"# {name} was {visible(repr(value))}: define it first.")
        return name

    def _name(self, kind: type[Any]) -> str:
        """Return the name of a class after its import from its public module."""
        module = kind.__module__
        if module.split(".")[0] == "ensemblage":
            return f"en.{kind.__name__}"
        while "." in module:
            parent = module.rpartition(".")[0]
            if getattr(sys.modules.get(parent), kind.__name__, None) is not kind:
                break
            module = parent
        self.imports.add(f"from {module} import {kind.__name__}")
        return kind.__name__

    def _note_seed(self, value: Any, given: Any) -> None:
        """Note that a seed was not fixed, if that affects the labels."""
        if given is not None or hasattr(value, "_seed") or hasattr(value, "consensus_"):
            self.notes.append(
                "# The seed was drawn (random_state was not a number): labels may differ."
            )


def _is_seed(value: Any) -> bool:
    """Tell whether a seed reproduces the labels; a drawn one does not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, DrawnSeed)


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    comparable = isinstance(value, _PLAIN) and isinstance(default, _PLAIN)
    return comparable and type(value) is type(default) and value == default
