"""What several tests of the command need."""

import numpy as np
import pytest
from generate_inputs import COLUMNS, FEATURES, IDS, KINDS
from typer.testing import CliRunner

from ensemblage import tables
from ensemblage.cli import app


@pytest.fixture
def generate(tmp_path, monkeypatch):
    """Return ``ensemblage generate`` in a folder with the features in cells.csv and x.npy."""
    monkeypatch.chdir(tmp_path)
    tables.write("cells.csv", {"cell": IDS, **COLUMNS, "kind": KINDS})
    np.save("x.npy", FEATURES)

    def invoke(*arguments, stdin=None):
        return CliRunner().invoke(app, ["generate", *map(str, arguments)], input=stdin)

    return invoke
