import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest
from scipy.io import savemat
from typer.testing import CliRunner

from ensemblage.cli import app
from ensemblage.experiments import ALIASES, EXPERIMENTS, Plan, records
from ensemblage.experiments.verdicts import FAILS, HOLDS, IN_PART, UNDECIDED

runner = CliRunner()


def invoke(*words):
    return runner.invoke(app, ["reproduce", *map(str, words)])


@pytest.fixture(scope="module")
def quick(small_world, tmp_path_factory):
    """Run everything once, quickly; return the folder."""
    folder = tmp_path_factory.mktemp("quick")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENSEMBLAGE_DATA", str(small_world))
        found = invoke("all", "--quick", "--runs", 1, "--out", folder)
    assert found.exit_code == 0, found.stderr
    return folder


def test_every_table_and_figure_appears(quick):
    page = (quick / "index.html").read_text()
    for name in EXPERIMENTS:
        assert f'id="{name}"' in page
        assert (quick / f"{name}.md").exists()
        text = (quick / f"{name}.md").read_text()
        for file in re.findall(r"\]\(([^)]+)\)", text):
            assert (quick / file).stat().st_size > 0
            assert (quick / file).with_suffix(".svg").exists() or file.endswith(".csv")
    assert "Nothing is recorded" not in page
    for file in re.findall(r'(?:src|href)="([^"#]+)"', page):
        assert (quick / file).exists()
    for anchor in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{anchor}"' in page
    for alias, name in ALIASES.items():
        assert f'id="{alias}"' in page.split(f'id="{name}"')[1].split("</h2>")[0]
    assert not list(quick.glob("*.tmp*"))


def test_the_papers_numbers_stand_beside_ours(quick):
    text = (quick / "comparison.md").read_text()
    assert text.startswith("# Table 9 and Figure 9: ")
    row = next(line for line in text.splitlines() if line.startswith("| PTGP |"))
    assert "(0.626)" in row  # MF at the best k


def test_the_verdicts_come_first(quick):
    page = (quick / "index.html").read_text()
    assert page.index("Verdicts") < page.index("Contents") < page.index('id="link-weights"')
    claims = (quick / "claims.md").read_text()
    assert "section 4.5" in claims
    headings = re.findall(r"^## \d+\. (.+): (.+)$", claims, flags=re.MULTILINE)
    assert len(headings) == len({title for title, _ in headings}) == claims.count("\n## ") > 0
    assert {verdict for _, verdict in headings} <= {HOLDS, IN_PART, FAILS, UNDECIDED}


def _shown_cells(text, title):
    """Return the cells of a Markdown table by row and column, as they are shown."""
    part = text.split(f"\n## {title}\n")[1].split("\n[CSV]")[0]
    lines = [line.strip("| ").split(" | ") for line in part.strip().splitlines()]
    header, rows = lines[0], lines[2:]
    return {(row[0], name): cell for row in rows for name, cell in zip(header, row, strict=True)}


@pytest.mark.parametrize(("which", "declared"), [("best", 100), ("true", 100)])
def test_no_cell_has_fewer_draws_than_it_says(quick, which, declared):
    """Counts in cells, in the CSV and in the records agree, and both columns have equal draws."""
    text = (quick / "comparison.md").read_text()
    shown = _shown_cells(text, f"NMI at the {which} k")
    lines = csv.DictReader((quick / f"comparison-{which}-k.csv").read_text().splitlines())
    counted = Counter(
        (record["what"]["method"], record["what"]["dataset"])
        for record in records.read(quick).values()
        if record["what"]["kind"] == "scores"
        and record["what"]["members"] == 10
        and record["what"]["seed"] == 0
        and record["scores"].get("nmi_best") is not None
    )
    for line in lines:
        place = line["method"], line["column"]
        assert int(line["runs"]) == counted[place], place
        stated = re.search(r"n=(\d+)$", shown[place])
        if line["ours"]:
            assert int(stated[1] if stated else declared) == counted[place], place


def test_the_caption_says_how_many_draws(quick):
    text = (quick / "comparison.md").read_text()
    n_cells = len(re.findall(r"n=1\b", _table_of(text, "NMI at the best k")))
    assert "The paper has 100 draws. n=… is the number of draws of a cell" in text
    assert f"({n_cells} cells)" in text


def _table_of(text, title):
    return text.split(f"\n## {title}\n")[1].split("\n[CSV]")[0]


def test_records_that_are_run_again_are_the_same(quick, small_world, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(small_world))
    found = invoke("all", "--check", 20, "--out", quick)
    assert found.exit_code == 0, found.stderr
    assert "20 records were run again; 0 scores differ." in found.stdout


def test_a_record_that_comes_out_differently_is_named(quick, small_world, tmp_path, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(small_world))
    lines = (quick / records.FILE).read_text().splitlines()
    record = next(r for r in map(json.loads, lines) if r["what"].get("method") == "PTA-AL")
    record["scores"]["nmi_true"] += 1e-6
    (tmp_path / records.FILE).write_text(json.dumps(record) + "\n")
    found = invoke("all", "--check", 1, "--out", tmp_path)
    assert found.exit_code == 1
    assert "nmi_true differs by 1e-06" in found.stderr


def test_runs_means_that_many_for_every_method():
    plan = Plan(datasets=("MF",), runs=7, at_hand=frozenset({"MF"}))
    counts = Counter(task["method"] for task in EXPERIMENTS["comparison"].tasks(plan))
    assert set(counts.values()) == {7}


def test_a_second_run_does_nothing_and_the_page_is_the_same(quick, small_world, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(small_world))
    before = {file: file.read_bytes() for file in quick.iterdir() if file.is_file()}
    monkeypatch.setattr("ensemblage.experiments.runner.measure", None)  # nobody may call it
    found = invoke("all", "--quick", "--runs", 1, "--out", quick)
    assert found.exit_code == 0, found.stderr
    assert {file: file.read_bytes() for file in quick.iterdir() if file.is_file()} == before


def test_rendering_needs_records_only(quick, tmp_path, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(tmp_path / "nowhere"))
    (tmp_path / records.FILE).write_bytes((quick / records.FILE).read_bytes())
    found = invoke("all", "--render", "--out", tmp_path)
    assert found.exit_code == 0, found.stderr
    assert (tmp_path / "ranking.md").read_text() == (quick / "ranking.md").read_text()
    assert (tmp_path / "comparison.md").read_text() == (quick / "comparison.md").read_text()


def test_killed_in_the_middle_it_goes_on(small_world, tmp_path):
    command = [
        sys.executable,
        "-m",
        "ensemblage",
        "reproduce",
        "pta-parameters",
        "--datasets",
        "MF",
    ]
    command += ["--runs", "1", "--jobs", "1", "--out", str(tmp_path)]
    environment = {**os.environ, "ENSEMBLAGE_DATA": str(small_world)}
    file = tmp_path / records.FILE
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not (file.exists() and file.read_bytes().count(b"\n") >= 3):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    kept = file.read_bytes()
    done = len(records.read(tmp_path))
    assert 3 <= done < 16
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert file.read_bytes().startswith(kept)
    lines = [json.loads(line) for line in file.read_bytes()[len(kept) :].splitlines() if line]
    assert len({records.key(line["what"]) for line in lines}) == len(lines) == 16 - done
    assert len(records.read(tmp_path)) == 16


def test_datasets_that_cannot_be_had_are_left_out_with_the_reason(
    small_world, tmp_path, monkeypatch
):
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(small_world))
    monkeypatch.setenv("ENSEMBLAGE_CACHE", str(tmp_path / "cache"))

    def offline(*_words, **_more):
        raise OSError("no network here; place USPS.npz in the data folder")

    monkeypatch.setattr("ensemblage.experiments.sources.datasets.load", offline)
    found = invoke("microclusters", "--datasets", "MF,USPS", "--runs", 1, "--out", tmp_path)
    assert found.exit_code == 0, found.stderr
    assert "USPS is left out: no network here" in found.stderr
    assert "| MF |" in (tmp_path / "microclusters.md").read_text()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["table99"], 2, "Unknown table 'table99'."),
        (["all", "--check", "5"], 1, "There are no records in"),
        (["all", "--datasets", "iris"], 2, "Unknown dataset 'iris'."),
        (["all", "--datasets", ","], 2, "--datasets needs names"),
        (["all", "--pools", "both"], 2, "Unknown pool 'both'. Known: authors, own"),
        (["all", "--jobs", "0"], 2, "--jobs must be a number from 1 up"),
        (["all", "--runs", "0"], 2, "--runs"),
        (["all", "--render"], 1, "There are no records in"),
        (["all", "--render", "--check", "3"], 2, "--render and --check cannot be combined."),
    ],
)
def test_wrong_calls_say_what_to_do(tmp_path, words, code, message):
    found = invoke(*words, "--out", tmp_path)
    assert found.exit_code == code
    assert message in " ".join(found.stderr.split())


def test_an_interrupt_does_not_wait_for_a_long_task(small_world, tmp_path):
    """A task that sleeps stands for one that takes minutes."""
    script = tmp_path / "slow.py"
    script.write_text(
        "import sys, time\n"
        "from ensemblage.experiments import runner\n"
        "def slow(folder, task):\n"
        "    print('begun', flush=True)\n"
        "    time.sleep(300)\n"
        "runner.measure = slow\n"
        "if __name__ == '__main__':\n"
        "    from ensemblage.cli import app\n"
        "    app(['reproduce', 'microclusters', '--datasets', 'MF', '--out', sys.argv[1]])\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "out")],
        env={**os.environ, "ENSEMBLAGE_DATA": str(small_world)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "begun\n"
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted. Finished runs are kept in" in told
    assert "Traceback" not in told


def test_bad_pools_are_left_out_with_the_reason(small_world, tmp_path, monkeypatch):
    world = tmp_path / "world"
    (world / "pools").mkdir(parents=True)
    good = (small_world / "pools" / "bc_pool_MF.mat").read_bytes()
    (world / "pools" / "bc_pool_MF.mat").write_bytes(good)
    members = np.ones((20, 12), dtype=np.uint8)
    savemat(world / "pools" / "bc_pool_IS.mat", {"members": members})
    savemat(world / "pools" / "bc_pool_PD.mat", {"members": members[:, :5], "gt": members[:, :1]})
    (world / "pools" / "bc_pool_LS.mat").write_bytes(good[:500])
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(world))
    found = invoke("microclusters", "--pools", "authors", "--runs", 1, "--out", tmp_path / "o")
    assert found.exit_code == 0, found.stderr
    assert "IS is left out: the pool of IS has no true classes" in found.stderr
    assert "PD is left out: its pool has 5 clusterings, but 10 are drawn" in found.stderr
    assert "LS is left out" in found.stderr
    assert "| MF |" in (tmp_path / "o" / "microclusters.md").read_text()


def test_nothing_to_run_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(tmp_path / "nowhere"))
    found = invoke("microclusters", "--pools", "authors", "--out", tmp_path / "o")
    assert found.exit_code == 1
    assert "nothing to run" in found.stderr


def test_a_run_without_data_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(tmp_path / "nowhere"))

    def offline(*_words, **_more):
        raise OSError("no network here")

    monkeypatch.setattr("ensemblage.experiments.sources.datasets.load", offline)
    folder = tmp_path / "new" / "o"
    found = invoke("microclusters", "--datasets", "MF", "--runs", 1, "--out", folder)
    assert found.exit_code == 1
    assert "Nothing could be run" in found.stderr
    assert list(tmp_path.iterdir()) == []
    folder.mkdir(parents=True)  # folders that existed before stay
    assert invoke("microclusters", "--datasets", "MF", "--out", folder).exit_code == 1
    assert folder.exists()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("words", [["--runs", 1], ["--render"]])
def test_a_file_instead_of_a_folder_is_rejected(tmp_path, words):
    (tmp_path / "afile").write_text("")
    found = invoke("microclusters", *words, "--out", tmp_path / "afile")
    assert found.exit_code == 2
    assert "-o must be a folder, got the file" in " ".join(found.stderr.split())


def test_missing_matplotlib_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = invoke("microclusters", "--out", tmp_path)
    assert found.exit_code == 1
    assert found.stderr.startswith("error: Figures need matplotlib")
    assert "ensemblage[report]" in found.stderr


STRANGE_RECORDS = [
    {"what": 3},
    {"what": {}},
    {"what": {"kind": "scores", "dataset": ["MF"]}, "scores": {}},
    {"what": {"kind": "scores", "dataset": "MF", "pool": "own"}, "scores": {}},
    {"what": {"kind": "scores", "dataset": "MF", "pool": None}, "scores": {}},
    {"what": {"kind": "graph", "dataset": "MF", "pool": "authors"}, "scores": None},
    {"what": {"kind": "graph", "dataset": "MF", "pool": "authors"}, "skipped": 3},
    {"what": {"kind": "scores", "dataset": "<i>", "pool": "authors"}, "scores": {"x": 1}},
    {"what": {"kind": "graph", "dataset": "MF", "pool": "authors"}, "scores": {}},
    {"what": {"kind": "description", "dataset": "MF"}, "scores": {"objects": "many"}},
]


def test_strange_records_spoil_no_page(quick, tmp_path):
    lines = [json.dumps(line) + "\n" for line in STRANGE_RECORDS]
    (tmp_path / records.FILE).write_text((quick / records.FILE).read_text() + "".join(lines))
    found = invoke("ranking", "microclusters", "--render", "--out", tmp_path)
    assert found.exit_code == 0, found.stderr
    assert "<i>" not in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("damage", [b"", b"\x1f\x8b\x08\x00damaged", b"text"])
def test_damaged_packed_records_are_named(tmp_path, damage):
    (tmp_path / records.PACKED).write_bytes(damage)
    found = invoke("microclusters", "--render", "--out", tmp_path)
    assert found.exit_code == 1
    assert records.PACKED in found.stderr or not damage
