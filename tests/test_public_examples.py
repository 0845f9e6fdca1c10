"""Every public name that can be called is documented with an example."""

import inspect
from importlib import import_module

import pytest

MODULES = [
    "ensemblage",
    "ensemblage.anndata",
    "ensemblage.datasets",
    "ensemblage.ensembles",
    "ensemblage.experiments",
    "ensemblage.graph",
    "ensemblage.metrics",
    "ensemblage.plot",
    "ensemblage.refine",
    "ensemblage.report",
    "ensemblage.sc.pl",
    "ensemblage.sc.tl",
    "ensemblage.testing.strategies",
]


def public_names():
    for name in MODULES:
        module = import_module(name)
        listed = getattr(module, "__all__", [])
        for one in listed:
            value = getattr(module, one)
            is_error = inspect.isclass(value) and issubclass(value, BaseException)
            if callable(value) and not is_error:
                yield pytest.param(value, id=f"{name}.{one}")


@pytest.mark.parametrize("value", list(public_names()))
def test_public_names_have_an_example(value):
    assert "\n>>> " in (inspect.getdoc(value) or "")


@pytest.mark.parametrize("name", MODULES)
def test_modules_list_their_public_names(name):
    assert import_module(name).__all__
