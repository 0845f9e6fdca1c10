import csv
import io

import pytest

from ensemblage.experiments.evidence import Evidence
from ensemblage.experiments.grids import Cell, Grid, mean_cell, top_rows
from ensemblage.experiments.paper import printed
from ensemblage.experiments.protocol import ENSEMBLE_SIZES, Plan
from ensemblage.experiments.tables.comparison import COMPARISON
from ensemblage.experiments.tables.ensemble_size import ENSEMBLE_SIZE, averaged_grids


@pytest.fixture
def grid():
    grid = Grid("g", "A grid", "method", ["<b>", "PTA", "EAC"], ["MF", "IS"], best=1)
    grid.cells["<b>", "MF"] = mean_cell([0.5, 0.7], paper=0.61)
    grid.cells["PTA", "MF"] = mean_cell([0.8])
    grid.cells["EAC", "MF"] = Cell(remark="too slow", paper=0.3)
    return grid


def test_a_cell_is_a_mean_with_its_error_and_difference():
    cell = mean_cell([0.5, 0.7], paper=0.61)
    assert cell.ours == pytest.approx(0.6)
    assert cell.error == pytest.approx(0.1)
    assert cell.runs == 2
    assert cell.difference == pytest.approx(-0.01)
    assert mean_cell([0.5]).error is None
    assert mean_cell([], 0.2, "why").remark == "why"
    assert mean_cell([], 0.2).difference is None


def test_csv_has_a_line_for_each_cell(grid):
    rows = list(csv.DictReader(io.StringIO(grid.to_csv())))
    assert len(rows) == 6
    assert rows[0]["method"] == "<b>"
    assert float(rows[0]["ours"]) == pytest.approx(0.6)
    assert float(rows[0]["difference"]) == pytest.approx(-0.01)
    assert rows[0]["runs"] == "2"
    assert rows[4]["ours"] == ""
    assert rows[4]["remark"] == "too slow"


def test_markdown_shows_ours_and_the_papers(grid):
    lines = grid.to_markdown().splitlines()
    assert lines[0] == "| method | MF | IS |"
    assert lines[2] == "| &lt;b> | 0.600 (0.610) | – |"
    assert lines[3] == "| PTA | **0.800** | – |"
    assert lines[4] == "| EAC | – (0.300) | – |"


def test_html_escapes_names_and_tells_reasons(grid):
    html = grid.to_html()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert 'title="too slow"' in html
    assert 'title="0.6 ± 0.1, 2 run(s)"' in html
    assert html.count('class="best"') == 1


def test_the_best_include_ties_as_shown():
    grid = Grid("g", "", "", ["a", "b", "c"], ["x"])
    for row, value in (("a", 0.50049), ("b", 0.5), ("c", 0.49)):
        grid.cells[row, "x"] = Cell(value, paper=1 - value)
    assert top_rows(grid, "x", 1) == ["a", "b"]
    assert top_rows(grid, "x", 3) == ["a", "b", "c"]
    assert top_rows(grid, "x", 1, paper=True) == ["c"]
    assert top_rows(grid, "x", 0) == []


def test_percent_and_decimals_of_columns():
    grid = Grid("g", "", "", ["a"], ["x", "y"], {("a", "x"): Cell(0.1234)}, percent=True)
    assert "12.3%" in grid.to_markdown()
    counts = Grid("g", "", "", ["a"], ["x"], {("a", "x"): Cell(1234.0)}, column_decimals={"x": 0})
    assert "1,234 |" in counts.to_markdown()


def sized(dataset, draws):
    """Return the grid of a dataset whose PTGP has these numbers of draws by size."""
    sizes = list(map(str, ENSEMBLE_SIZES))
    cells = {
        ("PTGP", size): Cell(0.5 if n else None, runs=n)
        for size, n in zip(sizes, draws, strict=True)
    }
    return Grid(f"ensemble-size-{dataset}", dataset, "method", ["PTGP"], sizes, cells)


@pytest.mark.parametrize(
    ("draws_of_is", "averaged"),
    [
        ([20] * 5, ["MF", "IS"]),
        ([20, 20, 20, 5, 5], ["MF"]),  # a few draws more do not take sizes from the average
        ([20, 0, 0, 0, 0], ["MF"]),
    ],
)
def test_the_average_of_sizes_is_of_datasets_with_all_draws(draws_of_is, averaged):
    grids = [sized("MF", [20] * 5), sized("IS", draws_of_is), sized("KDD99", [20] * 5)]
    assert [grid.title for grid in averaged_grids(grids)] == averaged


def test_without_all_draws_the_average_is_of_datasets_with_most():
    grids = [sized("MF", [20, 5, 5, 5, 5]), sized("IS", [20, 8, 5, 5, 5]), sized("LS", [2] * 5)]
    assert [grid.title for grid in averaged_grids(grids)] == ["MF", "IS"]
    assert averaged_grids([]) == []


def of_size(method, members, score, dataset="PD"):
    task = {"kind": "scores", "pool": "authors", "dataset": dataset, "members": members, "draw": 0}
    return {
        "what": {**task, "method": method, "cuts": "all", "seed": 0},
        "scores": {"nmi_best": score, "nmi_true": score},
    }


def test_both_rules_for_k_and_t_are_compared_at_the_largest_size():
    plain = [of_size("PTGP", m, 0.7, dataset) for m in (10, 50) for dataset in ("PD", "MF")]
    found = {grid.name: grid for grid in ENSEMBLE_SIZE.results(Evidence(plain, {}, None)).grids}
    assert "ensemble-size-uncapped" not in found
    evidence = Evidence([*plain, of_size("PTGP uncapped", 50, 0.8)], printed(), None)
    found = {grid.name: grid for grid in ENSEMBLE_SIZE.results(evidence).grids}
    grid = found["ensemble-size-uncapped"]
    assert grid.columns == ["PD"]
    assert grid.cell("PTGP uncapped", "PD").ours == 0.8
    assert grid.cell("PTGP", "PD").ours == 0.7
    in_table_9 = [table.name for table in COMPARISON.results(evidence).grids]
    assert not any("uncapped" in name for name in in_table_9)  # it has ensembles of ten members
    expected = found["ensemble-size-PD"].cell("PTGP", "50").paper
    assert grid.cell("PTGP uncapped", "PD").paper == expected


def test_uncapped_runs_are_of_the_largest_ensembles():
    def tasks(**words):
        return list(ENSEMBLE_SIZE.tasks(Plan(datasets=("PD",), runs=1, **words)))

    more = [task for task in tasks(uncapped=True) if task not in tasks()]
    assert [(task["method"], task["members"]) for task in more] == [
        ("PTA-AL uncapped", 50),
        ("PTGP uncapped", 50),
    ]
