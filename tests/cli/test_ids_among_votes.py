"""Ids that were not recognised: every verb that finds a consensus says so, once."""

from itertools import product

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
    page = ["-o", tmp_path / "out.html"]
    others = {"choose-k": [], "compare": [], "report": page}
    more = others.get(verb[0], ["-o", tmp_path / "out.csv"])
    told = [line for line in warnings_of(verb[0], file, *verb[1:], *more) if "ids" in line]
    assert len(told) == 1
    assert "Column 'tag' looks like ids: 60 different labels of 60 objects" in told[0]
    assert "--id-column" in told[0]
    named = warnings_of(verb[0], file, *verb[1:], *more, "--id-column", "tag")
    assert not [line for line in named if "ids" in line]


IN_BATCHES = ["csv", "tsv", "parquet", "arrow", "orc"]


@pytest.mark.parametrize(
    ("suffix", "engine"),
    [*product([*IN_BATCHES, "jsonl"], ["memory"]), *product(IN_BATCHES, ["stream"])],
)
@pytest.mark.parametrize("name", ["id", "cell", "thing"])
def test_an_id_that_occurs_twice_is_refused_or_accepted(tmp_path, suffix, engine, name):
    """THE rule for ids is one, in memory and in a stream, for text and for typed columns."""
    file, out = tmp_path / f"votes.{suffix}", tmp_path / "out.csv"
    many = {column: np.tile(values, 3) for column, values in VOTES.items()}
    cells = np.array([f"AAC-{i}" for i in range(180)], dtype=object)
    cells[7] = cells[4]
    tables.write(file, {name: cells, **many})
    call = ["consensus", file, "-k", 3, "--method", "eac", "--engine", engine, "-o", out]
    refused = CliRunner().invoke(app, list(map(str, call)))
    assert refused.exit_code == 1
    assert f"Column '{name}' of" in refused.stderr
    rows = "6 and 9" if suffix in ("csv", "tsv") else "5 and 8"  # a header is a row
    assert f"'AAC-4' is in rows {rows}" in refused.stderr
    assert f"--id-column {name}" in refused.stderr
    assert "--id-column none" in refused.stderr
    assert not out.exists()
    assert not warnings_of(*call, "--id-column", name)
    assert out.read_text().splitlines()[8].startswith("AAC-4,")
    (told,) = warnings_of(*call, "--id-column", "none")
    assert "179 different labels of 180 objects" in told


def test_missing_ids_are_not_repeated_ids(tmp_path):
    for suffix, none in (("csv", ""), ("parquet", None)):
        cells = BARCODES.copy()
        cells[[3, 9]] = none
        tables.write(tmp_path / f"votes.{suffix}", {"id": cells, **VOTES})
        assert tables.read(tmp_path / f"votes.{suffix}").id_name == "id"


def test_a_clustering_of_many_single_objects_is_not_a_column_of_ids(tmp_path):
    fine = np.array([f"c{i // 2 if i < 20 else i}" for i in range(180)], dtype=object)
    many = {column: np.tile(values, 3) for column, values in VOTES.items()}
    tables.write(tmp_path / "votes.csv", {"fine": fine, **many})
    found = tables.read(tmp_path / "votes.csv")
    assert found.id_name is None
    assert found.names[0] == "fine"
