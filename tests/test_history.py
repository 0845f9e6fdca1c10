"""Benchmarks: the table of speed by commit, and programs that use kernels directly."""

import importlib
import json
from pathlib import Path

import pytest
from benchmarks import history, sparse_tree


def records(folder, *ratios):
    lines = [
        {"commit": f"{place}" * 40, "date": f"2026-01-0{place + 1}", "ratios": {"EAC": ratio}}
        for place, ratio in enumerate(ratios)
    ]
    path = folder / "history.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(("ratios", "status"), [([1.0, 1.2], 0), ([1.0, 1.5], 1), ([1.0], 0)])
def test_a_slower_revision_is_reported(tmp_path, monkeypatch, capsys, ratios, status):
    monkeypatch.setattr(history, "RECORDS", records(tmp_path, *ratios))
    assert history.show(1.3) == status
    assert ("times the time of the revision before" in capsys.readouterr().out) == bool(status)


def test_without_records_the_command_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr(history, "RECORDS", tmp_path / "none.jsonl")
    with pytest.raises(SystemExit, match=r"benchmarks\.history run"):
        history.show(1.3)


def test_tasks_are_measured_in_units_of_the_yardstick(monkeypatch):
    seconds = {history.yardstick: 0.2, len: 0.5}
    monkeypatch.setattr(history, "tasks", lambda: {"some": len})
    monkeypatch.setattr(history, "least", lambda task: seconds[task])
    assert history.measure() == {"some": 2.5}


def test_the_least_of_several_times_is_that_of_the_processor():
    calls = []
    assert 0 <= history.least(lambda: calls.append(1)) < 60
    assert len(calls) > 1


def test_both_routes_of_the_sparse_tree_can_be_measured(capsys):
    sparse_tree.both(200, 5)
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    "path", sorted(Path(history.__file__).parent.glob("[!_]*.py")), ids=lambda path: path.stem
)
def test_every_benchmark_finds_what_it_imports(path):
    importlib.import_module(f"benchmarks.{path.stem}")
