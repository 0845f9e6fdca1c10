"""``ensemblage consensus``: files in, labels out, and every way it can go wrong."""

import gzip
import io
import re

import numpy as np
import pytest
from scipy.io import savemat
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app


def make_votes(n=60, n_clusterings=6, seed=0):
    """Three groups, and clusterings that get a tenth of the objects wrong."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    votes = np.repeat(truth[:, None], n_clusterings, axis=1)
    wrong = rng.random(votes.shape) < 0.1
    votes[wrong] = rng.integers(0, 4, wrong.sum())
    return votes, truth


VOTES, TRUTH = make_votes()
IDS = np.array([f"cell{i}" for i in range(len(VOTES))], dtype=object)
COLUMNS = {f"m{j}": VOTES[:, j] for j in range(VOTES.shape[1])}


@pytest.fixture
def run():
    def invoke(*arguments, stdin=None):
        return CliRunner().invoke(app, ["consensus", *map(str, arguments)], input=stdin)

    return invoke


@pytest.fixture
def votes_csv(tmp_path):
    tables.write(tmp_path / "votes.csv", {"id": IDS, **COLUMNS})
    return tmp_path / "votes.csv"


def columns_of(text):
    """Return the columns of a CSV text by name."""
    header, *rows = [line.split(",") for line in text.strip().splitlines()]
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def expected(method="auto", k=3, **parameters):
    cls = en.METHODS[method]
    if "random_state" in cls._get_param_names():
        parameters.setdefault("random_state", 0)
    return cls(k, **parameters).fit(VOTES)


class TestOutput:
    def test_has_ids_and_labels(self, run, votes_csv, tmp_path):
        result = run(votes_csv, "-k", 3, "-o", tmp_path / "labels.csv")
        assert result.exit_code == 0, result.stderr
        assert result.stdout == ""
        assert "60 objects (ids from 'id'), 6 clusterings" in result.stderr
        assert "microclusters, k = 3, Consensus" in result.stderr
        found = columns_of((tmp_path / "labels.csv").read_text())
        assert list(found) == ["id", "label"]
        assert found["id"] == IDS.tolist()
        assert list(map(int, found["label"])) == expected().labels_.tolist()

    def test_goes_to_standard_output_and_can_be_quiet(self, run, votes_csv):
        result = run(votes_csv, "-k", 3, "--quiet")
        assert result.exit_code == 0
        assert result.stderr == ""
        assert list(columns_of(result.stdout)) == ["id", "label"]

    def test_numbers_rows_that_have_no_ids(self, run, tmp_path):
        np.save(tmp_path / "v.npy", VOTES)
        found = columns_of(run(tmp_path / "v.npy", "-k", 3).stdout)
        assert found["row"] == [str(i) for i in range(len(VOTES))]

    def test_has_confidence_if_asked(self, run, votes_csv):
        found = columns_of(run(votes_csv, "-k", 3, "--confidence").stdout)
        assert list(found) == ["id", "label", "confidence"]
        shown = list(map(float, found["confidence"]))
        np.testing.assert_allclose(shown, expected().confidence_, atol=1e-6)
        assert max(map(len, found["confidence"])) <= len("0.123456")

    def test_has_a_column_for_each_k(self, run, votes_csv):
        result = run(votes_csv, "--k-range", "2:4", "--method", "pta")
        found = columns_of(result.stdout)
        assert list(found) == ["id", "k2", "k3", "k4"]
        fitted = expected("pta", 4)
        for k in (2, 3, 4):
            assert list(map(int, found[f"k{k}"])) == fitted.cut(k).tolist()
        assert "k = 2 to 4" in result.stderr

    @pytest.mark.parametrize("name", ["l.parquet", "l.tsv.gz", "l.npy", "l.npz"])
    def test_takes_the_format_of_its_name(self, run, votes_csv, tmp_path, name):
        assert run(votes_csv, "-k", 3, "-o", tmp_path / name).exit_code == 0
        assert tables.read_labels(tmp_path / name).labels.tolist() == expected().labels_.tolist()

    def test_parameters_reach_the_method(self, run, votes_csv):
        options = ["--linkage", "complete", "--neighbors", "2", "--steps", "3"]
        found = columns_of(run(votes_csv, "-k", 3, "--method", "pta", *options).stdout)
        fitted = expected("pta", linkage="complete", n_neighbors=2, n_steps=3)
        assert list(map(int, found["label"])) == fitted.labels_.tolist()

    @pytest.mark.parametrize("method", ["auto", "eac"])
    def test_the_least_size_of_a_cluster(self, run, votes_csv, method):
        labels = {}
        for text, size in {"1": 1, "1.0": 1.0, "4": 4, "AUTO": "auto"}.items():
            options = ["-k", 6, "--method", method, "--min-cluster-size", text]
            found = columns_of(run(votes_csv, *options).stdout)
            labels[text] = list(map(int, found["label"]))
            assert labels[text] == expected(method, 6, min_cluster_size=size).labels_.tolist()
        assert labels["1"] != labels["4"]


class TestInput:
    @pytest.mark.parametrize("name", ["v.tsv", "v.csv.gz", "v.parquet"])
    def test_in_other_formats(self, run, votes_csv, tmp_path, name):
        tables.write(tmp_path / name, {"id": IDS, **COLUMNS})
        assert run(tmp_path / name, "-k", 3).stdout == run(votes_csv, "-k", 3).stdout

    def test_from_arrays_by_key(self, run, tmp_path):
        np.savez(tmp_path / "v.npz", a=VOTES, b=VOTES)
        np.save(tmp_path / "v.npy", VOTES)
        result = run(tmp_path / "v.npz", "-k", 3, "--key", "b")
        assert result.stdout == run(tmp_path / "v.npy", "-k", 3).stdout

    def test_from_standard_input(self, run, votes_csv):
        content = votes_csv.read_bytes()
        wanted = run(votes_csv, "-k", 3).stdout
        assert run("-", "-k", 3, stdin=content).stdout == wanted
        assert run("-", "-k", 3, stdin=gzip.compress(content)).stdout == wanted
        buffer = io.BytesIO()
        np.save(buffer, VOTES)
        result = run("-", "-k", 3, "--format", "npy", stdin=buffer.getvalue())
        assert columns_of(result.stdout)["label"] == columns_of(wanted)["label"]

    def test_from_several_files(self, run, votes_csv, tmp_path):
        for name, part in {"a.csv": slice(0, 25), "b.csv": slice(25, None)}.items():
            columns = {"id": IDS, **COLUMNS}
            tables.write(tmp_path / name, {key: v[part] for key, v in columns.items()})
        result = run(tmp_path / "a.csv", tmp_path / "b.csv", "-k", 3)
        assert result.stdout == run(votes_csv, "-k", 3).stdout

    def test_with_names_for_labels_and_missing_votes(self, run, tmp_path):
        named = VOTES[:, 0].astype(object)
        named[:] = [f"type {label}" for label in VOTES[:, 0]]
        named[3] = None
        tables.write(tmp_path / "v.csv", COLUMNS | {"m0": named})
        result = run(tmp_path / "v.csv", "-k", 3)
        assert result.exit_code == 0, result.stderr
        numbers = VOTES.copy()
        numbers[3, 0] = -1
        wanted = en.Consensus(3, random_state=0).fit(numbers).labels_
        assert list(map(int, columns_of(result.stdout)["label"])) == wanted.tolist()

    def test_header_and_ids_can_be_set(self, run, tmp_path):
        (tmp_path / "v.csv").write_text("a,b,c\n1,1,x\n1,2,x\n2,2,y\n")
        result = run(tmp_path / "v.csv", "-k", 2, "--id-column", "b")
        assert list(columns_of(result.stdout)) == ["b", "label"]
        (tmp_path / "n.csv").write_text("1,2\n1,2\n2,2\n")
        assert len(columns_of(run(tmp_path / "n.csv", "-k", 2, "--header").stdout)["row"]) == 2


class TestTruth:
    def scores(self, result):
        name, nmi, ari, agreement = result.stderr.splitlines()[1].split()
        return name, float(nmi), float(ari), float(agreement)

    def assert_scores(self, result):
        assert result.exit_code == 0, result.stderr
        labels = expected().labels_
        name, nmi, ari, agreement = self.scores(result)
        assert name == "label"
        assert nmi == pytest.approx(en.metrics.nmi(TRUTH, labels, average="max"), abs=1e-4)
        assert ari == pytest.approx(en.metrics.ari(TRUTH, labels), abs=1e-4)
        with_each = [en.metrics.nmi(member, labels, average="max") for member in VOTES.T]
        assert agreement == pytest.approx(np.mean(with_each), abs=1e-4)

    def test_is_a_column_that_does_not_vote(self, run, tmp_path):
        tables.write(tmp_path / "v.csv", {"id": IDS, "class": TRUTH, **COLUMNS})
        self.assert_scores(run(tmp_path / "v.csv", "-k", 3, "--truth", "class"))

    def test_is_a_file_whose_ids_may_stand_in_another_order(self, run, votes_csv, tmp_path):
        order = np.random.default_rng(0).permutation(len(TRUTH))
        truth = tmp_path / "truth.csv"
        tables.write(truth, {"id": IDS[order], "label": TRUTH[order]})
        self.assert_scores(run(votes_csv, "-k", 3, "--truth", truth))
        np.save(tmp_path / "truth.npy", TRUTH)
        self.assert_scores(run(votes_csv, "-k", 3, "--truth", tmp_path / "truth.npy"))

    def test_is_gt_of_a_pool(self, run, tmp_path):
        savemat(tmp_path / "pool.mat", {"members": VOTES, "gt": TRUTH[:, None]})
        self.assert_scores(run(tmp_path / "pool.mat", "-k", 3, "--truth", "gt"))

    def test_has_a_line_for_each_k(self, run, tmp_path):
        savemat(tmp_path / "pool.mat", {"members": VOTES, "gt": TRUTH[:, None]})
        result = run(tmp_path / "pool.mat", "--k-range", "2:3", "--truth", "gt", "-q")
        assert re.findall("^k[0-9]+", result.stderr, re.MULTILINE) == ["k2", "k3"]

    def test_left_among_the_votes_draws_a_warning(self, run, tmp_path):
        tables.write(tmp_path / "v.csv", {"id": IDS, "gt": TRUTH, **COLUMNS})
        result = run(tmp_path / "v.csv", "-k", 3)
        assert "warning: column 'gt' counts as a clustering; --truth gt" in result.stderr

    def test_of_another_length_or_for_other_objects(self, run, votes_csv, tmp_path):
        truth = tmp_path / "truth.csv"
        tables.write(truth, {"label": TRUTH[:-1]})
        result = run(votes_csv, "-k", 3, "--truth", truth)
        assert result.exit_code == 1
        assert "59 true labels, but there are 60 objects" in result.stderr
        tables.write(truth, {"id": np.arange(60), "label": TRUTH})
        result = run(votes_csv, "-k", 3, "--truth", truth)
        assert "no true label for the object 'cell0'" in result.stderr


class TestWrongCalls:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["-m", "ptgp"], "neither was given"),
            (["-k", 3, "--k-range", "2:4"], "both were given"),
            (["-k", 0], "-k must be auto or a whole number from 1 up"),
            (["-k", "many"], "-k"),
            (["--k-range", "4:2"], "from a smaller to a larger"),
            (["--k-range", "0:2"], "at least 1"),
            (["--k-range", "4"], "two numbers with a colon"),
            (
                ["-k", 3, "--method", "ptpg"],
                "Unknown method 'ptpg'. Did you mean 'ptgp'? Known: auto, consensus, cspa",
            ),
            (
                ["-k", 3, "--method", "magic"],
                "Unknown method 'magic'. Known: auto, consensus, cspa",
            ),
            (["-k", 3, "--linkage", "average"], "Method auto has no --linkage. Name a method"),
            (["-k", 3, "-m", "ptgp", "--linkage", "average"], "Method ptgp has no --linkage"),
            (
                ["-k", 3, "--method", "pta", "--linkage", "ward"],
                "Unknown linkage 'ward'. Known: average",
            ),
            (["-k", 3, "--neighbors", "some"], "--neighbors must be auto, all or a whole number"),
            (["-k", 3, "--steps", "0"], "--steps must be auto or a whole number from 1"),
            (["-k", 3, "--format", "xls"], "Unknown format 'xls'. Did you mean 'xlsx'?"),
            (["-k", 3, "-o", "labels.xlsx"], "cannot be written as '.xlsx'"),
            (["-k", 3, "--truth", "nothing"], "neither a column nor a file"),
            (["--k-range", "2:4", "--confidence"], "--confidence needs one k"),
            (["-k", 3, "--confidence", "-o", "l.npy"], "NPY file holds labels only"),
            (["-k", 3, "--frobnicate"], "Unknown option --frobnicate."),
        ],
    )
    def test_end_with_2_and_say_why(self, run, votes_csv, arguments, words):
        result = run(votes_csv, *arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert words in result.stderr
        assert "Traceback" not in result.stderr

    def test_without_votes(self, run):
        assert run("-k", 3).exit_code == 2
        assert run("-", "-", "-k", 3).exit_code == 2


class TestFailures:
    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("v.csv", "", "is empty"),
            ("v.csv", "a,b\n1,1\n1\n", "row 3 has 1 cell"),
            ("v.csv", "a,b\n1,1\n1,2\n1,oops\n", "row 4, column 'b': 'oops'"),
            ("v.csv", "a,b\n.5,1.5\n.25,1.5\n", "EnsembleClustering"),
            ("v.csv", "a,b\n1,1\n,\n1,2\n", "vote"),
            ("v.csv", "a,b\n1,1\n1,2\n1,1\n", "2"),  # k = 3 of two microclusters
            ("v.parquet", "PAR1 and then nothing", "cannot be read as Parquet"),
            ("v.npy", "1,1\n", "cannot be read as NPY"),
        ],
    )
    def test_end_with_1_and_leave_the_output_alone(self, run, tmp_path, name, content, words):
        (tmp_path / name).write_text(content)
        output = tmp_path / "labels.csv"
        output.write_text("precious")
        result = run(tmp_path / name, "-k", 3, "-o", output)
        assert result.exit_code == 1
        assert words in result.stderr
        assert result.stderr.startswith("error: ")
        assert len(result.stderr.strip().splitlines()) == 1
        assert output.read_text() == "precious"

    def test_one_dimensional_votes(self, run, tmp_path):
        np.save(tmp_path / "v.npy", np.arange(4))
        result = run(tmp_path / "v.npy", "-k", 2)
        assert (result.exit_code, "2-D array" in result.stderr) == (1, True)

    def test_no_such_input(self, run, tmp_path):
        result = run(tmp_path / "nowhere.csv", "-k", 3)
        assert result.exit_code == 1
        assert "There is no file" in result.stderr

    def test_an_output_that_cannot_be_written_is_found_before_the_work(self, run, tmp_path):
        result = run(tmp_path / "nowhere.csv", "-k", 3, "-o", tmp_path / "no" / "labels.csv")
        assert result.exit_code == 1
        assert "there is no folder" in result.stderr

    def test_debug_shows_where(self, run, tmp_path):
        result = run(tmp_path / "nowhere.csv", "-k", 3, "--debug")
        assert result.exit_code == 1
        assert "Traceback" in result.stderr

    def test_an_id_column_with_a_name_of_the_output(self, run, tmp_path):
        tables.write(tmp_path / "v.csv", {"label": IDS, **COLUMNS})
        result = run(tmp_path / "v.csv", "-k", 3)
        assert result.exit_code == 1
        assert "Rename it" in result.stderr

    def test_warnings_are_single_lines(self, run, tmp_path):
        np.save(tmp_path / "v.npy", make_votes(n=500)[0].T)
        result = run(tmp_path / "v.npy", "-k", 2)
        lines = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
        assert len(lines) == 1
        assert "a row for each object" in lines[0]
