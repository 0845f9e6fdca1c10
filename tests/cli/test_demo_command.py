"""``ensemblage demo``: a table on real data, and files to go on with."""

import pytest
from typer.testing import CliRunner

from ensemblage import files
from ensemblage.cli import app


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    result = CliRunner().invoke(app, ["demo", "--members", "6", "-o", str(folder / "out")])
    assert result.exit_code == 0, result.stderr
    return result, folder / "out"


def test_table_compares_the_consensus_with_its_votes(demo):
    lines = demo[0].stdout.splitlines()
    assert lines[0].startswith("1,797 images of digits, 6 base clusterings by k-means")
    scores = {
        name: [float(cell) for cell in line[len(name) :].split()]
        for line in lines
        for name in ("base clusterings, mean", "PTA consensus", "PTGP consensus")
        if line.startswith(name)
    }
    mean_nmi = scores["base clusterings, mean"][0]
    for name in ("PTA consensus", "PTGP consensus"):
        nmi, _, seconds = scores[name]
        assert nmi > mean_nmi
        assert seconds < 5


def test_files_can_be_used_at_once(demo):
    result, folder = demo
    votes = files.read_table(folder / "votes.csv")
    assert (votes.id_name, votes.names[0], len(votes.names)) == ("id", "kmeans_1", 6)
    assert files.read_table(folder / "labels.csv").names == ["truth", "pta", "ptgp"]
    command = next(line for line in result.stdout.splitlines() if "--truth" in line)
    arguments = command[command.index("ensemblage ") :].split()[1:-2]  # without -o
    again = CliRunner().invoke(app, [*arguments, "--quiet"])
    assert again.exit_code == 0, again.stderr
    assert "NMI" in again.stderr
    outputs = [line.split()[-1] for line in result.stdout.splitlines() if " -o " in line]
    assert len(set(outputs)) == len(outputs) == 3


def test_demo_repeats_itself_and_writes_nothing_unasked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["demo", "--members", "3", "-k", "5", "--seed", "1"]
    tables = [CliRunner().invoke(app, arguments).stdout.splitlines() for _ in range(2)]
    without_seconds = [[line.rsplit(maxsplit=1)[0] for line in t if line] for t in tables]
    assert without_seconds[0] == without_seconds[1]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "file")])
    assert result.exit_code == 1
    assert "error: " in result.stderr


def test_it_ends_with_a_report(demo):
    result, folder = demo
    assert result.stdout.splitlines()[-1] == f"A report to open in a browser: {folder}/report.html"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Handwritten digits" in page
    assert "kmeans_6" in page


def test_without_the_extra_it_says_how_to_get_the_report(tmp_path, monkeypatch):
    from ensemblage.report import _report

    def missing(name):
        return None

    monkeypatch.setattr(_report.importlib.util, "find_spec", missing)
    result = CliRunner().invoke(app, ["demo", "--members", "2", "-o", str(tmp_path / "out")])
    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith(
        "No report was written. Reports need jinja2. Install it with: pip install"
        " 'ensemblage[report]'\n"
    )
    assert (tmp_path / "out" / "votes.csv").is_file()


def test_quiet_prints_nothing_where_there_are_files(tmp_path):
    call = ["demo", "--members", "2", "-q", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.stderr
    assert (result.stdout, result.stderr) == ("", "")
    assert (tmp_path / "out" / "votes.csv").exists()
