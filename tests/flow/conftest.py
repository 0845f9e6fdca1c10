"""Inputs that are drawn are small: here they go to the kernels, as large ones do."""

import pytest

from ensemblage.flow import compiling


@pytest.fixture(scope="module", autouse=True)
def kernels():
    with compiling.kernels_for(everything=True):
        yield
