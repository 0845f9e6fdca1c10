"""``ensemblage generate``: features in, a pool of base clusterings out."""

import contextlib
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from generate_inputs import COLUMNS, ENSEMBLAGE, FEATURES, IDS, KINDS, made
from scipy.io import loadmat
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import datasets, tables
from ensemblage.cli import app


@pytest.fixture
def consensus():
    def invoke(*arguments):
        return CliRunner().invoke(app, ["consensus", *map(str, arguments), "-k", "3", "-q"])

    return invoke


def expected(n_members=6, **options):
    options = {"random_state": 0, **options}
    return en.ensembles.generate(FEATURES, n_members, **options)


class TestOutput:
    @pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.csv.gz", "p.parquet"])
    def test_tables_have_ids_clusterings_and_truth(self, generate, name):
        result = generate(
            "cells.csv", "-m", 6, "--truth", "kind", "--method", "kmeans,rpcl", "-o", name
        )
        assert result.exit_code == 0, result.output
        assert result.stdout == ""
        assert "60 objects (ids from 'cell'), 4 features, 6 clusterings with 2 to" in result.stderr
        assert f"clusters in {name}: " in result.stderr
        table = tables.read(name)
        assert table.names[:3] == ["kmeans_001", "rpcl_002", "kmeans_003"]
        assert table.names[6:] == ["kind"]
        assert (table.id_name, table.ids.tolist()) == ("cell", IDS.tolist())
        truth, table = tables.take_column(table, "kind")
        assert truth.tolist() == KINDS.tolist()
        assert np.array_equal(table.matrix, expected(method=["kmeans", "rpcl"]))

    def test_arrays(self, generate):
        votes = expected()
        assert generate("cells.csv", "-m", 6, "--truth", "kind", "-o", "p.npz").exit_code == 0
        assert generate("cells.csv", "-m", 6, "--truth", "kind", "-o", "p.mat").exit_code == 0
        assert generate("cells.csv", "-m", 6, "--drop", "kind", "-o", "p.npy").exit_code == 0
        content = loadmat("p.mat")
        assert np.array_equal(content["members"], votes + 1)
        assert content["gt"].ravel().tolist() == np.repeat([3, 1, 2], 20).tolist()
        arrays = tables.read_arrays("p.npz")
        assert np.array_equal(arrays["members"], votes)
        assert arrays["gt"].tolist() == KINDS.tolist()
        assert np.array_equal(np.load("p.npy"), votes)
        for name in ("p.mat", "p.npz"):
            assert datasets.load_pool(name).truth.max() == 2

    @pytest.mark.parametrize("engine", ["memory", "stream"])
    def test_classes_among_the_votes_draw_a_warning(self, generate, consensus, engine):
        assert generate("cells.csv", "-m", 4, "--truth", "kind", "-o", "p.csv").exit_code == 0
        result = consensus("p.csv", "--engine", engine, "-o", "l.csv")
        assert "column 'kind' counts as a clustering; --truth kind would" in result.stderr
        assert "warning" not in consensus("p.csv", "--truth", "kind").stderr

    @pytest.mark.parametrize(
        ("name", "truth"),
        [("p.csv", "kind"), ("p.parquet", "kind"), ("p.npz", "gt"), ("p.mat", "gt")],
    )
    @pytest.mark.parametrize("options", [[], ["--subsample", "0.7"]])
    def test_a_consensus_is_that_of_the_votes(self, generate, consensus, name, truth, options):
        assert (
            generate("cells.csv", "-m", 6, "--truth", "kind", "-o", name, *options).exit_code == 0
        )
        result = consensus(name, "--truth", truth)
        assert result.exit_code == 0, result.output
        votes = expected(subsample=0.7 if options else None)
        labels = en.Consensus(3, random_state=0).fit(votes).labels_
        found = [int(line.split(",")[1]) for line in result.stdout.splitlines()[1:]]
        assert found == labels.tolist()
        assert "NMI (max)" in result.stderr

    def test_one_clustering_is_a_table_too(self, generate):
        assert generate("x.npy", "-m", 1, "-o", "p.npy").exit_code == 0
        assert np.load("p.npy").shape == (60, 1)

    def test_standard_output_and_quiet(self, generate):
        result = generate("x.npy", "-m", 2, "-o", "-", "--quiet")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.splitlines()[0] == "row,kmeans_001,kmeans_002"
        assert len(result.stdout.splitlines()) == 61

    def test_nothing_else_is_left_behind(self, generate, tmp_path):
        before = set(tmp_path.iterdir())
        made(generate)
        assert set(tmp_path.iterdir()) - before == {tmp_path / "pool.npy"}

    def test_names_of_more_than_a_thousand(self, generate):
        assert generate("x.npy", "-m", 1001, "--k-range", "2:2", "-o", "p.csv").exit_code == 0
        assert tables.read("p.csv").names[::1000] == ["kmeans_0001", "kmeans_1001"]


class TestInput:
    def test_from_files_of_every_format(self, generate):
        tables.write("c.parquet", {"cell": IDS, **COLUMNS})
        tables.write("c.tsv.gz", {"cell": IDS, **COLUMNS})
        np.savez("c.npz", X=FEATURES, y=np.arange(60) % 3)
        votes = expected()
        for name in ("c.parquet", "c.tsv.gz", "c.npz", "x.npy"):
            assert np.array_equal(made(generate, data=name), votes)
        result = generate("c.npz", "-m", 6, "--truth", "y", "-o", "p.csv")
        assert result.exit_code == 0
        assert tables.take_column(tables.read("p.csv"), "y")[0].tolist() == [0, 1, 2] * 20

    def test_from_standard_input_and_several_files(self, generate, tmp_path):
        text = "\n".join(",".join(map(str, row)) for row in FEATURES.tolist())
        result = generate("-", "-m", 6, "-o", "pool.npy", stdin=text)
        assert result.exit_code == 0, result.output
        assert np.array_equal(np.load("pool.npy"), expected())
        np.save("a.npy", FEATURES[:25])
        np.save("b.npy", FEATURES[25:])
        assert generate("a.npy", "b.npy", "-m", 6, "-o", "pool.npy").exit_code == 0
        assert np.array_equal(np.load("pool.npy"), expected())

    def test_options_of_reading(self, generate):
        np.savez("two.npz", one=FEATURES, two=FEATURES[:, :2])
        assert generate("two.npz", "-m", 2, "-o", "p.npy").exit_code == 1
        assert generate("two.npz", "-m", 2, "-o", "p.npy", "--key", "one").exit_code == 0
        tables.write("h.csv", {"7": FEATURES[:, 0], "8": FEATURES[:, 1]})
        assert generate("h.csv", "-m", 2, "-o", "p.npy", "--header").exit_code == 0
        assert len(np.load("p.npy")) == 60
        options = ["--format", "csv", "--id-column", "kind", "--drop", "cell"]
        assert generate("cells.csv", "-m", 2, "-o", "p.csv", *options).exit_code == 0
        assert tables.read("p.csv", id_column="kind").ids.tolist() == KINDS.tolist()

    def test_truth_from_a_file_by_id(self, generate):
        order = np.random.default_rng(1).permutation(60)
        tables.write("t.csv", {"cell": IDS[order], "class": KINDS[order]})
        options = ["--drop", "kind", "--truth", "t.csv"]
        assert generate("cells.csv", "-m", 2, "-o", "p.csv", *options).exit_code == 0
        truth, _ = tables.take_column(tables.read("p.csv"), "truth")
        assert truth.tolist() == KINDS.tolist()

    def test_a_dataset_by_name(self, generate, data_folder, monkeypatch):
        monkeypatch.setenv("ENSEMBLAGE_DATA", str(data_folder))
        result = generate("is", "-m", 2, "--truth", "truth", "--k-range", "2:4", "-o", "p.mat")
        assert result.exit_code == 0, result.output
        assert "clustered these data with --scale minmax" in result.stderr
        pool = datasets.load_pool("p.mat")
        assert np.array_equal(pool.truth, datasets.load("IS").truth)
        assert pool.members.shape == (2310, 2)
        result = generate("IS", "-m", 2, "--scale", "minmax", "--drop", "hue-mean", "-o", "p.npy")
        assert (result.exit_code, "warning" in result.stderr) == (0, False)

    @pytest.mark.parametrize(
        ("name", "has_classes"), [("p.mat", True), ("p.npz", True), ("p.csv", False)]
    )
    def test_classes_of_a_dataset_come_along_where_they_are_apart(
        self, generate, data_folder, name, has_classes
    ):
        assert generate("IS", "-m", 1, "--k-range", "2:3", "-q", "-o", name).exit_code == 0
        pool = datasets.load_pool(name)
        assert pool.members.shape == (2310, 1)
        assert (pool.truth is not None) == has_classes

    def test_a_file_goes_before_a_dataset(self, generate):
        Path("x.npy").rename("PD")
        assert generate("PD", "--format", "npy", "-m", 2, "-o", "p.npy").exit_code == 0
        assert len(np.load("p.npy")) == 60


class TestOptions:
    @pytest.mark.parametrize(
        ("arguments", "options"),
        [
            (["--method", "rpcl"], {"method": "rpcl"}),
            (["--method", " KMeans, rpcl"], {"method": ["kmeans", "rpcl"]}),
            (["--k-range", "3:5"], {"n_clusters_range": (3, 5)}),
            (["--scale", "minmax"], {"scale": "minmax"}),
            (["--scale", "Standard"], {"scale": "standard"}),
            (["--subspace", "0.5"], {"subspace": 0.5}),
            (["--subspace", "3"], {"subspace": 3}),
            (["--projection", "2"], {"projection": 2}),
            (["--subsample", "0.8"], {"subsample": 0.8}),
            (["--seed", "7"], {"random_state": 7}),
            (["--jobs", "1"], {}),
            (["--jobs", "2"], {}),
        ],
    )
    def test_reach_the_library(self, generate, arguments, options):
        assert np.array_equal(made(generate, *arguments), expected(**options))

    def test_objects_without_a_vote_are_told(self, generate):
        result = generate("x.npy", "-m", 1, "--subsample", "0.5", "-o", "p.csv")
        assert result.exit_code == 0
        assert "warning: 30 object(s) have no vote in any clustering" in result.stderr


class TestMembersForAConsensus:
    def test_k_gives_the_range_of_the_clusterer_of_features(self, generate):
        assert generate("x.npy", "-m", 6, "-k", 5, "-o", "p.npy").exit_code == 0
        model = en.EnsembleClustering(5, n_members=6, random_state=0).fit(FEATURES)
        assert np.array_equal(np.load("p.npy"), model.votes_)
        assert np.array_equal(np.load("p.npy"), expected(n_clusters=5))
        assert np.load("p.npy").max(axis=0).min() + 1 >= 10

    def test_k_and_a_range_are_refused(self, generate):
        result = generate("x.npy", "-k", 5, "--k-range", "2:9", "-o", "p.npy")
        assert result.exit_code == 2
        assert "Use only one of them" in result.stderr
        assert generate("x.npy", "-k", 0, "-o", "p.npy").exit_code == 2

    def test_a_range_goes_first_in_python(self):
        votes = expected(n_clusters=5, n_clusters_range=(2, 3))
        assert np.array_equal(votes, expected(n_clusters_range=(2, 3)))
        with pytest.raises(ValueError, match="'n_clusters' parameter of generate"):
            expected(n_clusters=0)


def test_unscaled_features_are_told_by_name(generate):
    columns = {
        name: values * (1000.0 if name == "gene1" else 1.0) for name, values in COLUMNS.items()
    }
    tables.write("wide.csv", {"cell": IDS, **columns})
    result = generate("wide.csv", "-m", 2, "-o", "p.csv")
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
    assert len(lines) == 1
    assert "The scales of the features differ" in lines[0]
    assert "column 'gene1' has" in lines[0]
    assert "Use --scale standard, unless" in lines[0]
    scaled = generate("wide.csv", "-m", 2, "-o", "p.csv", "--scale", "standard")
    assert "warning" not in scaled.stderr


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["-m", "0"], "--members"),
            (["--method", "ward"], "Unknown method 'ward'. Known: kmeans, kmeans++, rpcl."),
            (["--method", ","], "--method needs names"),
            (["--k-range", "5"], "two numbers with a colon"),
            (["--k-range", "9:3"], "from a smaller to a larger"),
            (["--scale", "robust"], "Unknown scale 'robust'. Known: minmax, standard."),
            (["--subspace", "1.5"], "--subspace must be a whole number from 1 up, or a share"),
            (["--projection", "many"], "--projection must be a whole number"),
            (["--subsample", "3"], "--subsample must be a share above 0"),
            (["--jobs", "0"], "--jobs must be a number from 1 up"),
            (["--format", "xls"], "Unknown format 'xls'"),
            (["--truth", "nothing"], "neither a column nor a file of that name"),
            (["--truth", "cell"], "that column holds the ids"),
            (["--drop", "nothing"], "--drop nothing: there is no such column"),
            (["--key", "X"], "--key is for NPZ and MAT"),
            (["-o", "./cells.csv"], "The output ./cells.csv is the input cells.csv"),
            (["-o", "nofolder/../cells.csv"], "is the input cells.csv"),
            (["-o", "./pool.csv", "--checkpoint", "nofolder/.."], "is in the checkpoint folder"),
            (["-o", "new", "--checkpoint", "./new"], "checkpoint folder ./new have one name"),
            (["-o", "new", "--checkpoint", "new/er"], "checkpoint folder new/er have one name"),
            (["-o", "pool.xlsx"], "cannot be written under the name pool.xlsx"),
            (["-o", "pool.npy", "--truth", "kind"], "An NPY file holds votes only"),
        ],
    )
    def test_wrong_calls(self, generate, arguments, words):
        result = generate("cells.csv", "-o", "p.csv", *arguments)
        assert result.exit_code == 2, result.output
        assert words in result.stderr
        assert not Path("p.csv").exists()

    @pytest.mark.parametrize(
        ("text", "arguments", "words"),
        [
            ("id,a,kind\n1,2,x\n2,3,y\n", [], "Column 'kind' holds text, such as 'x'"),
            ("id,a,kind\n1,2,x\n2,3,y\n", [], "Leave such columns out with --drop kind"),
            ("id,a\nx,1\ny,2\nz,N/A\n", [], "t.csv, row 4, column 'a': 'N/A' is not a number. Fea"),
            ("id,a\n" + "u,1\nv,2\nid,a\n" * 3, ["--id-column", "id"], "(2 further cells are none"),
            ("a,b\n1,2\n,3\n", [], "t.csv, row 3, column 'a' is missing. Features must be finite"),
            ("a,b\n1,\n,3\n", [], "column 'b' is missing (1 further cell is missing or inf"),
            ("a,b\n,\n,3\n", [], "column 'a' is missing (2 further cells are missing or inf"),
            ("a,b\n1,2\n2,inf\n", [], "row 3, column 'b' is infinite"),
            ("a,b\n1,2\n2,3\n", ["--truth", "b", "--drop", "a"], "No features are left"),
            ("a,b\n1,2.5\n2,3\n", ["--truth", "b"], "must be integers or names, got 2.5"),
            ("a,b\n1,\n2,\n", ["--truth", "b"], "all of these classes are missing"),
            ("a,b\n1,2\n2,3\n", ["--subspace", "5"], "subspace"),
            ("a;b\n1,71;2\n1,55;3\n9,1;3\n", [], "Column 'a' holds '1,71', a number with a dec"),
            ("1,71;2,3\n1,55;3,1\n9,1;3,2\n", [], "decimal comma"),
            ("", [], "is empty"),
        ],
    )
    def test_what_cannot_be_clustered(self, generate, text, arguments, words):
        Path("t.csv").write_text(text)
        result = generate("t.csv", "-m", 2, "-o", "p.csv", *arguments)
        assert result.exit_code == 1, result.output
        assert words in result.stderr
        assert not Path("p.csv").exists()

    def test_the_output_is_an_input(self, generate, consensus):
        tables.write("t.csv", {"id": IDS, "truth": KINDS})
        Path("link.csv").symlink_to("t.csv")
        assert generate("cells.csv", "--truth", "t.csv", "-o", "link.csv").exit_code == 2
        assert generate("x.npy", "-m", 3, "-o", "pool.csv").exit_code == 0
        before = Path("pool.csv").read_bytes(), Path("t.csv").read_bytes()
        for arguments in (["-o", "pool.csv"], ["--truth", "t.csv", "-o", "t.csv"]):
            result = consensus("pool.csv", *arguments)
            assert result.exit_code == 2, result.output
            assert "which it would replace" in result.stderr
        assert (Path("pool.csv").read_bytes(), Path("t.csv").read_bytes()) == before

    def test_two_columns_of_one_name(self, generate):
        tables.write("t.csv", {**COLUMNS, "kmeans_001": KINDS})
        result = generate("t.csv", "-m", 2, "-o", "p.csv", "--truth", "kmeans_001")
        assert result.exit_code == 1
        assert "Two columns of the output would be called 'kmeans_001'" in result.stderr

    def test_no_such_file_or_folder(self, generate):
        result = generate("none.csv", "-o", "p.csv")
        assert result.exit_code == 1
        assert "There is no file none.csv" in result.stderr
        result = generate("x.npy", "-o", "none/p.csv")
        assert result.exit_code == 1
        assert "there is no folder" in result.stderr

    def test_a_dataset_that_is_not_at_hand(self, generate, monkeypatch, tmp_path):
        monkeypatch.setenv("ENSEMBLAGE_DATA", str(tmp_path))
        monkeypatch.setenv("ENSEMBLAGE_CACHE", str(tmp_path))
        result = generate("Pollen", "-o", "p.csv")
        assert result.exit_code == 1
        assert "error: The dataset Pollen is not available" in result.stderr


def test_progress_is_shown_on_a_terminal(generate, tmp_path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*ENSEMBLAGE, "x.npy", "-m", "6", "-o", "p.npy"],
        cwd=tmp_path,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
        check=False,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # at the end
        while part := os.read(ours, 100_000):
            shown += part
    os.close(ours)
    shown = shown.decode()
    assert done.returncode == 0, shown
    assert "Clustering" in shown
    assert "6 clusterings with" in shown
