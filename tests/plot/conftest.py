"""What tests of pictures need."""

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

mpl.use("agg")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")
