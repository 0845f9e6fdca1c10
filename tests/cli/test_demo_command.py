"""``ensemblage demo``: a table on real data, and files to go on with."""

import pytest
from sklearn.datasets import load_digits
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    arguments = ["demo", "--members", "6", "--repeats", "2", "-o", str(folder / "out")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    return result, folder / "out"


ROWS = ("base clusterings", "k-means, n_init=10", "Consensus, the default", "PTA", "PTGP")


def scores_in(result):
    """Return the numbers of the table by row: NMI, its sd, ARI, its sd, seconds."""
    return {
        name: [float(cell) for cell in line[len(name) :].split()]
        for line in result.stdout.splitlines()
        for name in ROWS
        if line.startswith(f"{name} ")
    }


def test_table_compares_the_consensus_with_its_votes_and_with_k_means(demo):
    lines = demo[0].stdout.splitlines()
    assert lines[0] == (
        "1,797 images of digits, k = 10, means over 2 ensembles of 6 k-means clusterings"
    )
    scores = scores_in(demo[0])
    assert tuple(scores) == ROWS
    for name in ROWS[2:]:
        nmi, _, _, _, seconds = scores[name]
        assert nmi > scores["base clusterings"][0]
        assert seconds < 5


def test_figures_are_means_over_seeds():
    one, other, both = (
        scores_in(CliRunner().invoke(app, ["demo", "-m", "3", "-k", "5", *arguments]))
        for arguments in (
            ["--repeats", "1", "--seed", "3"],
            ["--repeats", "1", "--seed", "4"],
            ["--repeats", "2", "--seed", "3"],
        )
    )
    for name in ROWS:
        nmis = [one[name][0], other[name][0]]
        assert both[name][0] == pytest.approx(sum(nmis) / 2, abs=0.0011)
        assert both[name][1] == pytest.approx(abs(nmis[0] - nmis[1]) / 2**0.5, abs=0.0015)


def test_the_consensus_is_what_ensemble_clustering_finds(demo):
    features, digits = load_digits(return_X_y=True)
    model = en.EnsembleClustering(10, n_members=6, random_state=0).fit(features)
    written = tables.read(demo[1] / "labels.csv")
    labels = dict(zip(written.names, written.matrix.T, strict=True))
    assert en.metrics.ari(labels["consensus"], model.labels_) == 1
    assert en.metrics.ari(labels["truth"], digits) == 1


def test_files_can_be_used_at_once(demo):
    result, folder = demo
    votes = tables.read(folder / "votes.csv")
    assert (votes.id_name, votes.names[0], len(votes.names)) == ("id", "kmeans_1", 6)
    assert tables.read(folder / "labels.csv").names == ["truth", "consensus", "pta", "ptgp"]
    command = next(line for line in result.stdout.splitlines() if "--truth" in line)
    arguments = command[command.index("ensemblage ") :].split()[1:-2]  # without -o
    again = CliRunner().invoke(app, [*arguments, "--quiet"])
    assert again.exit_code == 0, again.stderr
    assert "NMI" in again.stderr
    outputs = [line.split()[-1] for line in result.stdout.splitlines() if " -o " in line]
    assert len(set(outputs)) == len(outputs) == 3


def test_demo_repeats_itself_and_writes_nothing_unasked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["demo", "--members", "3", "-k", "5", "--seed", "1", "--repeats", "1"]
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
    result = CliRunner().invoke(
        app, ["demo", "-m", "2", "--repeats", "1", "-o", str(tmp_path / "out")]
    )
    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith(
        "No report was written. Reports need jinja2. Install it with: pip install"
        " 'ensemblage[report]'\n"
    )
    assert (tmp_path / "out" / "votes.csv").is_file()


def test_quiet_prints_nothing_where_there_are_files(tmp_path):
    call = ["demo", "--members", "5", "--repeats", "1", "-q", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.stderr
    assert (result.stdout, result.stderr) == ("", "")
    assert (tmp_path / "out" / "votes.csv").exists()
