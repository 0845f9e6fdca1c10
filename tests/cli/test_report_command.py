"""``ensemblage report``: from files of votes to a page, and what is refused on the way."""

import html
import json
import re
import shlex

import numpy as np
import pytest
from report_inputs import HOSTILE, noisy_votes
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app, report


def run(*arguments):
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


def data_of(path):
    page = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture
def votes(tmp_path):
    labels, truth = noisy_votes(50, 5, 3)
    ids = np.array([f"c{i}" for i in range(50)], dtype=object)
    columns = {f"member {m}": labels[:, m] for m in range(5)}
    path = tmp_path / "votes.csv"
    tables.write(path, {"cell": ids, **columns, "kind": truth})
    return path


def test_votes_in_a_page_out(votes, tmp_path):
    page = tmp_path / "report.html"
    done = run(votes, "-k", 3, "--truth", "kind", "-o", page)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == ""
    assert re.fullmatch(
        rf"50 objects, 5 clusterings, \d+ microclusters, k = 3, Consensus: \d+\.\d\d s(, and .*)?\n"
        rf"The report is in {re.escape(str(page))}\.\n",
        done.stderr,
    )
    data = data_of(page)
    assert data["objects"]["id"][:2] == ["c0", "c1"]
    assert data["members"]["name"] == [f"member {m}" for m in range(5)]
    assert data["truth"]["nmi"] > 0.8
    text = page.read_text(encoding="utf-8")
    assert "<h1><bdi>votes.csv</bdi></h1>" in text
    command = re.search(r"<code>(ensemblage report .*?)</code>", text)[1]
    assert command.endswith(f"-k 3 -m auto --seed 0 --truth kind -o {page}")


def test_the_command_in_the_page_makes_the_page_again(votes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = run("votes.csv", "-k", "auto", "-m", "pta", "--truth", "kind")
    assert made.exit_code == 0
    assert "\nRecommended: k = 3\n  " in made.stderr
    page = tmp_path / "report.html"
    first = page.read_text(encoding="utf-8")
    command = re.search(r"<code>ensemblage report (.*?)</code>", first)[1].split()
    page.unlink()
    assert run(*command).exit_code == 0
    assert page.read_text(encoding="utf-8") == first


def test_features_are_matched_by_id(votes, tmp_path):
    rng = np.random.default_rng(0)
    order = rng.permutation(50)
    place = np.arange(50.0)
    ids = np.array([f"c{i}" for i in order], dtype=object)
    features = tmp_path / "features.csv"
    tables.write(features, {"cell": ids, "x": place[order], "y": -0.5 * place[order]})
    page = tmp_path / "report.html"
    done = run(votes, "-k", 3, "--truth", "kind", "--features", features, "-o", page)
    assert done.exit_code == 0, done.stderr
    shown = data_of(page)["maps"][1]
    assert shown["title"] == "By features"
    x = np.array(shown["x"])[np.argsort(shown["of"])]
    assert (np.diff(x) > 0).all() or (np.diff(x) < 0).all()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_features_are_matched_by_ids_that_are_numbers(votes, tmp_path, suffix):
    rng = np.random.default_rng(0)
    order, patients = rng.permutation(50), rng.choice(10**6, 50, replace=False)
    labels = tables.read(votes).matrix
    votes, features = tmp_path / "numbers.csv", tmp_path / f"features.{suffix}"
    tables.write(votes, {"patient": patients} | {f"m{m}": labels[:, m] for m in range(5)})
    columns = {"patient": patients[order], "x": 0.5 * order, "y": -0.5 * order}
    tables.write(features, columns)
    page = tmp_path / "report.html"
    assert run(votes, "-k", 3, "--features", features, "-o", page).exit_code == 0
    shown = data_of(page)["maps"][1]
    x = np.array(shown["x"])[np.argsort(shown["of"])]
    assert (np.diff(x) > 0).all() or (np.diff(x) < 0).all()
    columns["patient"] = np.append(patients[order][1:], patients[order][1])
    tables.write(features, columns)
    done = run(votes, "-k", 3, "--features", features, "-o", page)
    assert done.exit_code == 1
    assert re.search("(several rows|no row) for the object", done.stderr)


def test_hostile_files(tmp_path):
    labels, _ = noisy_votes(40, 4, 2)
    names = [HOSTILE[place] for place in (0, 1, 9, 14)]
    columns = {name: np.array([HOSTILE[v] for v in labels[:, m]]) for m, name in enumerate(names)}
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    ids = np.array([f"{HOSTILE[i % 6]}{i}" for i in range(40)], dtype=object)
    tables.write(path, {"id": ids, **columns})
    page = tmp_path / "report.html"
    done = run(path, "-k", 2, "--header", "--id-column", "id", "-o", page)
    assert done.exit_code == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert "<img" not in text
    assert text.count("<script") == 2
    assert data_of(page)["members"]["name"] == names


def test_standard_output_and_a_title(votes):
    done = run(votes, "-k", 2, "-o", "-", "--title", "My <cells>")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("<!doctype html>")
    assert "<title>My &lt;cells&gt;</title>" in done.stdout
    assert "The report is in standard output." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-k", "many"], 2, "-k must be auto or a whole number from 1 up, got 'many'."),
        (["-k", "0"], 2, "-k must be auto or a whole number from 1 up, got '0'."),
        (["-k", "3", "-m", "ptpg"], 2, "Unknown method 'ptpg'. Did you mean 'ptgp'?"),
        (["-k", "51"], 1, "51 clusters were asked for, but the votes distinguish only"),
        (["-k", "3", "--truth", "sort"], 2, "--truth sort: there is neither a column nor a file"),
        (["-k", "3", "-o", "none/report.html"], 1, "there is no folder"),
        (["-k", "3", "--features", "none.csv"], 1, "There is no file none.csv"),
    ],
)
def test_what_is_refused(votes, arguments, code, message):
    done = run(votes, *arguments)
    assert done.exit_code == code
    assert message in done.stderr
    assert done.stderr.count("error: ") == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1.5", "", "2"], "column 'y' is missing. Features must be finite"),
        (["1.5", "low", "2"], "row 3, column 'y': 'low' is not a number"),
    ],
)
def test_features_that_are_no_numbers(values, message, votes, tmp_path):
    features = tmp_path / "features.csv"
    lines = [f"{place / 2 + 0.25},{value}" for place, value in enumerate(values)]
    features.write_text("\n".join(["x,y", *lines]) + "\n")
    done = run(votes, "-k", 3, "--features", features, "-o", tmp_path / "report.html")
    assert done.exit_code == 1
    assert message in done.stderr
    assert "out of the file" in done.stderr
    assert "--drop" not in done.stderr  # which is no option of this command


def test_features_of_other_objects_are_refused(votes, tmp_path):
    features = tmp_path / "features.csv"
    tables.write(features, {"x": np.arange(7.0), "y": np.arange(7.0) ** 2 + 0.5})
    done = run(votes, "-k", 3, "--features", features, "-o", tmp_path / "report.html")
    assert done.exit_code == 1
    assert "has 7 rows, but there are 50 objects. Give one for each" in done.stderr
    assert not (tmp_path / "report.html").exists()


def test_the_input_is_not_overwritten(votes):
    done = run(votes, "-k", 3, "-o", votes)
    assert done.exit_code == 2
    assert "which it would replace" in done.stderr


def test_without_the_extra_it_says_so_before_reading(votes, monkeypatch):
    from ensemblage.report import _report

    monkeypatch.setattr(_report.importlib.util, "find_spec", lambda name: None)
    done = run(votes, "-k", 3)
    assert done.exit_code == 1
    assert done.stderr == (
        "error: Reports need jinja2. Install it with: pip install 'ensemblage[report]'\n"
    )


def test_the_command_in_the_report_has_every_option_that_was_given():
    given = {"-k": "auto", "--truth": None, "--title": "A & B", "--header": True, "--seed": 0}
    assert report._command(["v 1.csv", "w.csv"], given) == (
        "ensemblage report 'v 1.csv' w.csv -k auto --title 'A & B' --header --seed 0"
    )


def test_every_option_that_matters_is_in_the_command(votes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["-k", "3", "-m", "ptgp", "--neighbors", "7", "--steps", "2", "--by-size", "--header"]
    more = ["--id-column", "cell", "--truth", "kind", "--seed", "5", "--title", "My cells"]
    done = run("votes.csv", *options, *more, "--jobs", "1", "-q")
    assert done.exit_code == 0, done.stderr
    page = tmp_path / "report.html"
    first = page.read_text(encoding="utf-8")
    command = html.unescape(re.search(r"<code>ensemblage report (.*?)</code>", first)[1])
    words = shlex.split(command)
    for option, value in zip(options[::2], options[1::2], strict=True):
        if option.startswith("-") and not value.startswith("-"):
            assert words[words.index(option) + 1] == value
    assert {"--by-size", "--header"} <= set(words)
    assert "--jobs" not in words
    page.unlink()
    assert run(*words).exit_code == 0
    assert page.read_text(encoding="utf-8") == first


# -- saved models ----------------------------------------------------------------------------------


@pytest.fixture
def model(votes, tmp_path, monkeypatch):
    """Return a model that the command has saved, in the folder where it is."""
    monkeypatch.chdir(tmp_path)
    arguments = ["votes.csv", "-k", "3", "-o", "labels.csv", "--save", "model.ensemblage"]
    done = CliRunner().invoke(app, ["consensus", *arguments, "--truth", "kind", "-q"])
    assert done.exit_code == 0, done.stderr
    return tmp_path / "model.ensemblage"


def test_a_saved_model_has_a_report(model, tmp_path):
    done = run("model.ensemblage")
    assert done.exit_code == 0, done.stderr
    assert re.match(r"50 objects, 5 clusterings, \d+ microclusters, k = 3, Consensus", done.stderr)
    page = tmp_path / "report.html"
    data = data_of(page)
    assert sum(data["clusters"]["size"]) == 50
    assert data["members"]["name"] == [f"member {m}" for m in range(5)]
    text = page.read_text(encoding="utf-8")
    assert "<h1><bdi>model.ensemblage</bdi></h1>" in text
    assert "ensemblage report model.ensemblage -o report.html" in text


def test_a_saved_model_may_have_any_name(model, tmp_path):
    model.rename(tmp_path / "model.npz")
    done = run("model.npz", "votes.csv")
    assert done.exit_code == 0, done.stderr
    assert "ensemblage report model.npz votes.csv -o" in (tmp_path / "report.html").read_text()


def test_a_wrong_suffix_is_reported_before_the_fit(votes, monkeypatch):
    monkeypatch.setattr(en.Consensus, "fit", None)
    done = run(votes, "-k", 3, "-o", "report.pdf")
    assert done.exit_code == 2
    assert "must end with .html or .htm, got 'report.pdf'. Use 'report.html'." in done.stderr


def test_votes_after_a_model_name_its_objects(model, tmp_path):
    page = tmp_path / "report.html"
    assert run("votes.csv", "-k", 3, "--truth", "kind", "-q").exit_code == 0
    whole = data_of(page)
    done = run(model, "votes.csv", "--truth", "kind")
    assert done.exit_code == 0, done.stderr
    found = data_of(page)
    assert found["objects"] == whole["objects"]
    assert found["truth"] == whole["truth"]
    labels = np.genfromtxt("labels.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert found["objects"]["cluster"] == labels["label"].tolist()
    assert f"ensemblage report {model} votes.csv --truth kind -o report.html" in page.read_text(
        encoding="utf-8"
    )


def test_columns_of_the_votes_may_stand_in_another_order(model, tmp_path):
    table = tables.read("votes.csv", id_column="cell")
    columns = dict(zip(table.names, np.asarray(tables.votes_of(table)).T, strict=True))
    del columns["kind"]
    tables.write("turned.csv", {"cell": table.ids, **dict(reversed(columns.items()))})
    done = run(model, "turned.csv")
    assert done.exit_code == 0, done.stderr
    labels = np.genfromtxt("labels.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert data_of(tmp_path / "report.html")["objects"]["cluster"] == labels["label"].tolist()


def test_names_that_look_like_numbers_are_those_of_the_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = np.array(["01", "1", "2", "02"] * 4, dtype=object)
    columns = {"a": names, "b": np.arange(16) % 4}
    for name in ("votes.parquet", "votes.csv"):
        tables.write(name, columns)
    arguments = ["votes.parquet", "-k", "4", "-m", "eac", "-q", "--save", "model.ensemblage"]
    assert CliRunner().invoke(app, ["consensus", *arguments]).exit_code == 0
    done = run("model.ensemblage", "votes.csv")
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "3"], "-k is an option of a fit, and model.ensemblage is fitted already"),
        (["--seed", "1"], "--seed is an option of a fit"),
        (["--min-cluster-size", "5"], "--min-cluster-size is an option of a fit"),
        (["votes.csv", "-m", "eac"], "-m is an option of a fit"),
        (["--truth", "kind"], "--truth and --features need votes"),
        (["other.ensemblage"], "A report is on one model"),
    ],
)
def test_what_is_refused_beside_a_model(model, arguments, message):
    done = run("model.ensemblage", *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_votes_of_other_objects_are_refused(model):
    labels, _ = noisy_votes(50, 5, 3, seed=1)
    tables.write("other.csv", {f"member {m}": labels[:, m] for m in range(5)})
    done = run("model.ensemblage", "other.csv")
    assert done.exit_code == 1
    assert "The votes differ from those that the model was fitted on" in done.stderr


def test_a_model_that_is_none_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.ensemblage").write_text("no model")
    done = run("m.ensemblage")
    assert done.exit_code == 1
    assert done.stderr.count("error: ") == 1


def test_json_of_a_report_on_a_model(model):
    done = run("model.ensemblage", "--json")
    found = json.loads(done.stdout)
    assert (found["model"], found["n_objects"], found["ks"]) == ("model.ensemblage", 50, [3])
