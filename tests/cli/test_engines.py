"""``ensemblage consensus --engine``: in a stream or in memory, with the same labels."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ensemblage import _validate, tables
from ensemblage.cli import app, engines

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def make_votes(n=90, seed=0):
    rng = np.random.default_rng(seed)
    votes = np.repeat((np.arange(n) % 3)[:, None], 6, axis=1)
    wrong = rng.random(votes.shape) < 0.15
    votes[wrong] = rng.integers(0, 4, wrong.sum())
    return votes


VOTES = make_votes()
IDS = np.array([f"cell{i}" for i in range(len(VOTES))], dtype=object)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes").mkdir()
    for place, part in enumerate(np.array_split(np.arange(len(VOTES)), 3)):
        columns = {"cell": IDS[part], **{f"m{j}": VOTES[part, j] for j in range(6)}}
        columns["gt"] = part % 3
        tables.write(f"votes/part-{place}.parquet", columns)
        tables.write(f"votes/part-{place}.csv", columns)
    return tmp_path


@pytest.fixture
def run():
    def invoke(*arguments):
        return CliRunner().invoke(app, ["consensus", *map(str, arguments)])

    return invoke


@pytest.fixture
def used(monkeypatch):
    """Remember which engine was taken."""
    names = []
    for name, engine in list(engines.ENGINES.items()):

        def spy(task, name=name, engine=engine):
            names.append(name)
            return engine(task)

        monkeypatch.setitem(engines.ENGINES, name, spy)
    return names


def content(path):
    return pq.read_table(path).to_pydict()


@pytest.mark.usefixtures("folder")
class TestSameLabels:
    @pytest.mark.parametrize("kind", ["parquet", "csv"])
    @pytest.mark.parametrize(
        "options",
        [["-k", 3], ["-k", 3, "--confidence"], ["--k-range", "2:4"], ["-k", 3, "-m", "pta"]],
    )
    def test_as_in_memory(self, run, kind, options):
        votes = [f"votes/part-{place}.{kind}" for place in range(3)]
        told = []
        for engine in ("memory", "stream"):
            result = run(
                *votes, *options, "--truth", "gt", "-o", f"{engine}.parquet", "--engine", engine
            )
            assert result.exit_code == 0, result.stderr
            told.append(result.stderr.rpartition(":")[0])
        assert told[0] == told[1]
        assert "90 objects (ids from 'cell'), 6 clusterings" in told[0]
        assert content("memory.parquet") == content("stream.parquet")

    def test_as_in_memory_in_text(self, run):
        for engine in ("memory", "stream"):
            votes = [f"votes/part-{place}.csv" for place in range(3)]
            result = run(*votes, "-k", 3, "--confidence", "-o", f"{engine}.csv", "--engine", engine)
            assert result.exit_code == 0, result.stderr
            assert "column 'gt' counts as a clustering" in result.stderr
        assert Path("memory.csv").read_text() == Path("stream.csv").read_text()

    def test_a_folder_gets_a_file_for_each_input(self, run, used, folder):
        result = run("votes/*.parquet", "-k", 3, "-o", "out/", "--truth", "gt")
        assert result.exit_code == 0, result.stderr
        assert used == ["stream"]
        assert run("votes/*.parquet", "-k", 3, "-o", "all.parquet", "--truth", "gt").exit_code == 0
        found = [content(f"out/part-{place}.parquet") for place in range(3)]
        joined = {name: [v for part in found for v in part[name]] for name in found[0]}
        assert joined == content("all.parquet")
        assert sorted(path.name for path in folder.iterdir()) == ["all.parquet", "out", "votes"]

    @pytest.mark.parametrize("engine", ["memory", "stream"])
    def test_arrow_files_are_read_by_both(self, run, used, engine):
        table = pq.read_table("votes/part-0.parquet")
        with pa.ipc.new_file("v.arrow", table.schema) as writer:
            writer.write_table(table)
        result = run("v.arrow", "-k", 3, "--truth", "gt", "-o", "l.parquet", "--engine", engine)
        assert result.exit_code == 0, result.stderr
        assert used == [engine]


@pytest.mark.usefixtures("folder")
class TestChoice:
    VOTES = "votes/part-0.parquet"

    def test_small_votes_stay_in_memory(self, run, used):
        assert run(self.VOTES, "-k", 3, "-o", "l.parquet").exit_code == 0
        assert used == ["memory"]

    @pytest.mark.parametrize("kind", ["parquet", "csv"])
    def test_votes_that_do_not_fit_are_streamed(self, run, used, kind, monkeypatch):
        monkeypatch.setattr(engines, "_SHARE", 1e-9)
        result = run(f"votes/part-0.{kind}", "-k", 3, "-m", "vote", "-o", "l.csv")
        assert result.exit_code == 0, result.stderr
        assert used == ["stream"]

    @pytest.mark.parametrize(("share", "engine"), [(0.49, "memory"), (0.51, "stream")])
    def test_half_of_the_available_memory_is_the_limit(self, run, used, share, engine, monkeypatch):
        needed = tables.bytes_in_memory([self.VOTES])
        monkeypatch.setattr(_validate, "available_memory", lambda: needed / share)
        assert run(self.VOTES, "-k", 3, "-m", "vote", "-o", "l.csv").exit_code == 0
        assert used == [engine]

    @pytest.mark.parametrize("suffix", ["arrow", "orc"])
    def test_rows_of_typed_files_count_and_not_their_bytes(self, run, used, suffix, monkeypatch):
        n = 100_000
        table = pa.table({"a": pa.array([0, 1] * (n // 2), pa.int8()), "b": pa.nulls(n, pa.int8())})
        if suffix == "arrow":
            table = table.set_column(1, "b", pa.nulls(n))  # which take no byte
        tables.write(f"v.{suffix}", dict(zip("ab", table.columns, strict=True)))
        monkeypatch.setattr(_validate, "available_memory", lambda: n * (2 * 2 + 64))
        assert run(f"v.{suffix}", "-k", 2, "-m", "vote", "-o", "l.csv").exit_code == 0
        assert used == ["stream"]

    @pytest.mark.parametrize("output", ["-", "l.npy", "l.csv.gz"])
    def test_what_cannot_be_streamed_is_not(self, run, used, output, monkeypatch):
        monkeypatch.setattr(engines, "_SHARE", 1e-9)
        run(self.VOTES, "-k", 3, "-m", "vote", "-o", output)
        assert used == ["memory"]

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["-o", "l.npy"], "streamed to .parquet, .csv or .tsv files"),
            (["-o", "-"], "streamed to .parquet, .csv or .tsv files"),
            (["-o", "l.csv", "--truth", "votes/part-1.csv"], "Name a column of the votes"),
            (["-o", "l.csv", "--key", "votes"], "--key is for NPZ and MAT"),
            (["-o", "l.csv", "--format", "npy"], "is NPY"),
        ],
    )
    def test_refusals(self, run, arguments, words):
        result = run(self.VOTES, "-k", 3, "--engine", "stream", *arguments)
        assert result.exit_code == 2
        assert words in result.stderr

    def test_standard_input_is_read_once(self, run):
        result = run("-", "-k", 3, "--engine", "stream", "-o", "l.csv")
        assert result.exit_code == 2
        assert "standard input can be read once only" in result.stderr

    def test_an_unknown_engine(self, run):
        result = run(self.VOTES, "-k", 3, "--engine", "spark")
        assert result.exit_code == 2
        assert "Unknown engine 'spark'. Known: auto, memory, stream, dask." in result.stderr

    def test_a_folder_is_nothing_for_memory(self, run):
        result = run(self.VOTES, "-k", 3, "--engine", "memory", "-o", "out/")
        assert result.exit_code == 2
        assert "a folder gets a file for each input" in result.stderr

    def test_help_names_it(self, run):
        assert "--engine" in run("--help").stdout


@pytest.mark.usefixtures("folder")
def test_failures_are_told_in_a_line(run):
    damaged = Path("votes/part-1.parquet")
    damaged.write_bytes(damaged.read_bytes()[:200])
    result = run("votes/*.parquet", "-k", 3, "-o", "out/")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: votes/part-1.parquet cannot be read as Parquet")
    result = run("votes/part-0.parquet", "-k", 300, "-o", "out/")
    assert result.exit_code == 1
    assert "Consensus was asked for -k 300, but the ensemble tells only" in result.stderr


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_texts_for_missing_values_are_told(tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    Path("sql.csv").write_text("id,a,b\nx,T,1\ny,NULL,1\nz,B,2\nu,,2\n")
    call = ["consensus", "sql.csv", "-k", "2", "--engine", engine, "-o", "labels.csv"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0
    words = "Column 'a' has the label 'NULL', which counts as a cluster. Where a vote is missing"
    assert words in " ".join(result.stderr.split())
