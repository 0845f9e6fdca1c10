"""Ids that were not recognised: every verb that finds a consensus says so, once."""

import numpy as np
import pytest
from typer.testing import CliRunner

from ensemblage import tables
from ensemblage.cli import app

RNG = np.random.default_rng(0)
TRUTH = np.arange(60) % 3
VOTES = {f"m{j}": np.where(RNG.random(60) < 0.1, RNG.integers(0, 3, 60), TRUTH) for j in range(4)}
BARCODES = np.array([f"AAC-{i}" for i in range(60)], dtype=object)


def warnings_of(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return [line for line in result.stderr.splitlines() if line.startswith("warning: ")]


@pytest.mark.parametrize(
    "verb",
    [
        ["consensus", "-k", 3],
        ["consensus", "-k", 3, "--method", "eac", "--engine", "stream"],
        ["compare", "-k", 3, "--methods", "eac,lwea,vote"],
        ["choose-k", "--k-range", "2:5", "--method", "eac"],
        ["report", "-k", 3, "--method", "eac"],
    ],
    ids=" ".join(map(str, range(5))).split(),
)
def test_a_column_of_ids_behind_the_votes_is_named_once(verb, tmp_path):
    file = tmp_path / "votes.csv"
    tables.write(file, {**VOTES, "tag": BARCODES})
    more = {"choose-k": [], "compare": []}.get(verb[0], ["-o", tmp_path / "out.csv"])
    told = [line for line in warnings_of(verb[0], file, *verb[1:], *more) if "ids" in line]
    assert len(told) == 1
    assert "Column 'tag' looks like ids: 60 different labels of 60 objects" in told[0]
    assert "--id-column" in told[0]
    named = warnings_of(verb[0], file, *verb[1:], *more, "--id-column", "tag")
    assert not [line for line in named if "ids" in line]


def test_an_id_that_occurs_twice_does_not_hide_the_column(tmp_path):
    file = tmp_path / "votes.csv"
    cells = BARCODES.copy()
    cells[7] = cells[8]
    tables.write(file, {"cell": cells, **VOTES})
    (told,) = warnings_of("consensus", file, "-k", 3, "-o", tmp_path / "out.csv")
    assert "Column 'cell' looks like ids: 59 different labels of 60 objects" in told
