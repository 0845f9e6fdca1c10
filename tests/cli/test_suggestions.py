"""Wrong calls: one paragraph, what may have been meant, exit code 2; options, not parameters."""

import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import datasets, experiments, files
from ensemblage._device import DEVICES, DeviceError
from ensemblage._messages import Message, Parameter, ParameterError
from ensemblage.cli import _words, app
from ensemblage.cli._engines import AUTO, ENGINES
from ensemblage.cli._speech import in_options
from ensemblage.metrics.choosing import CRITERIA

VOTES = "cell,leiden,kmeans,expert\nc1,0,2,T\nc2,0,2,T\nc3,0,1,T\nc4,1,1,B\nc5,1,0,B\nc6,1,0,B\n"
CELLS = "cell,size,light,kind\nc1,1.5,0.2,T\nc2,1.2,0.1,T\nc3,5.1,3.9,B\nc4,5.0,4.2,B\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text(VOTES)
    (tmp_path / "cells.csv").write_text(CELLS)


def run(call):
    return CliRunner().invoke(app, call.split(), prog_name="ensemblage")


def test_words_are_those_of_the_library():
    assert list(en.METHODS) == list(_words.METHODS)
    assert list(experiments.EXPERIMENTS) == list(_words.TABLES)
    assert CRITERIA == _words.CRITERIA
    assert datasets.NAMES == _words.DATASETS
    assert files.FORMATS == _words.FORMATS
    assert DEVICES == _words.DEVICES
    assert (AUTO, *ENGINES) == _words.ENGINES


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("consenus v.csv -k 2", "There is no command 'consenus'. Did you mean consensus?"),
        ("chose-k v.csv", "Did you mean choose-k?"),
        ("xyz", "There is no command 'xyz'. Known: consensus, predict,"),
        ("--verison", "There is no option --verison. Did you mean --version?"),
        (
            "consensus v.csv --k-rnge 2:3",
            "no option --k-rnge. Did you mean --k-range? See:",
        ),
        ("compare v.csv -k 2 --method eac", "no option --method. Did you mean --methods?"),
        ("consensus v.csv -k", "-k needs a value, and none was given."),
        ("consensus", "VOTES is missing. See: ensemblage consensus --help"),
        ("predict", "MODEL is missing."),
        ("generate cells.csv", "-o or --output is missing."),
        ("demo more", "unexpected extra argument"),
        ("consensus v.csv -k 2 -m ptpg", "There is no method 'ptpg'. Did you mean ptgp?"),
        ("compare v.csv -k 2 --methods eac,voet", "'voet'. Did you mean vote?"),
        ("report v.csv -k 2 -m ptg", "There is no method 'ptg'. Did you mean pt"),
        ("generate cells.csv -o p.csv --method kmean", "'kmean'. Did you mean kmeans?"),
        ("choose-k v.csv --criteria pac,lifetme", "no 'lifetme'. Did you mean lifetime?"),
        ("choose-k v.csv --criterion balanc", "no 'balanc'. Did you mean balance?"),
        ("reproduce comparsion", "no table 'comparsion'. Did you mean comparison?"),
        ("reproduce all --datasets MF,MINST", "no dataset 'MINST'. Did you mean MNIST?"),
        ("consensus v.csv -k 2 --format parket", "Did you mean parquet?"),
        ("consensus v.csv -k 2 --engine strem", "Did you mean stream?"),
        ("consensus v.csv -k 2 --id-column cel", "no column 'cel' to take ids from. Did you mean"),
        ("consensus v.csv -k 2 --truth exprt", "Did you mean expert?"),
        ("consensus v.csv -k 2 --truth exprt -o l.csv --engine stream", "Did you mean 'expert'?"),
        ("compare v.csv -k 2 --truth exprt", "Did you mean expert?"),
        ("generate cells.csv -o p.csv --truth knd", "Did you mean kind?"),
        ("generate cells.csv -o p.csv --drop knd", "Did you mean kind?"),
        ("consensus v.csv -k 2 --seed x", "--seed is a whole number from 0 on. Found 'x'."),
        ("consensus v.csv -k 2 --seed -1", "--seed is a whole number from 0 on. Found '-1'."),
        ("consensus v.csv -k 2 --jobs many", "--jobs is a whole number. Found 'many'."),
        ("compare v.csv -k none", "-k is a whole number from 1 on. Found 'none'."),
        ("generate cells.csv -o p.csv -m 0", "--members is a whole number from 1 on. Found '0'."),
        ("reproduce all --runs 0", "--runs is a whole number from 1 on."),
        ("choose-k v.csv --refits 1", "--refits is a whole number from 2 on."),
        ("reproduce all --pools theirs", "--pools is one of authors, own. Found 'theirs'."),
        ("consensus v.csv -k 2 --device gpu", "--device is one of cpu, cuda, auto. Found 'gpu'."),
        ("consensus v.csv -k 2 -m eac --device cuda", "Method eac has no --device."),
        ("choose-k v.csv -m vote --linkage single", "Method vote has no --linkage."),
        ("report v.csv -k 2 --steps 0", "--steps is auto or a whole number from 1 on."),
        ("consensus v.csv -k 2 --key votes", "--key is for NPZ and MAT, but v.csv is read as CSV."),
    ],
)
def test_wrong_calls_say_what_was_meant(call, words):
    result = run(call)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("--subspace 9", "--subspace 9: there are only 2 feature(s)"),
        ("--projection 9", "--projection 9: there are only 2 feature(s)"),
        ("--subspace 1 --projection 2", "--projection 2: there are only 1 feature(s)"),
        ("--subspace 0.5 --projection 2", "--projection must be a share above 0"),
        ("--k-range 7:9", "--k-range 7:9 asks for at least 7 clusters, but there are only 4"),
        ("--checkpoint cells.csv", "'cells.csv' is a file. Name a folder."),
    ],
)
def test_sizes_are_refused_in_the_words_of_options(call, words):
    result = run(f"generate cells.csv --drop kind -o p.csv -m 2 {call}")
    assert result.exit_code == 1, result.output
    assert words in result.stderr
    assert "parameter" not in result.stderr
    assert "None" not in result.stderr


def test_a_device_that_is_not_there_is_no_defect(monkeypatch):
    def missing(device, n):
        asked = Parameter("device", device)
        raise DeviceError(Message("{asked} was asked for, but there is none.", asked=asked))

    monkeypatch.setattr("ensemblage._device.chosen", missing)
    result = run("consensus v.csv -k 2 -m ptgp --device cuda")
    assert result.exit_code == 1
    assert result.stderr == "error: --device cuda was asked for, but there is none.\n"


def test_the_device_reaches_the_method(monkeypatch):
    asked = []
    monkeypatch.setattr("ensemblage._device.chosen", lambda device, n: asked.append(device))
    for call in (
        "consensus v.csv -k 2 -m ptgp -q",
        "choose-k v.csv -m ptgp",
        "report v.csv -k 2 -m pta -q",
    ):
        asked.clear()
        result = run(f"{call} --device auto")
        assert result.exit_code == 0, result.output
        assert set(asked) == {"auto"}


@pytest.mark.parametrize(
    ("error", "spoken"),
    [
        (
            ParameterError("PTA", "n_jobs", "a whole number other than 0", 0, optional=True),
            "--jobs must be a whole number other than 0. Got 0 instead.",
        ),
        (
            ValueError(Message("Only {n} object(s).", n=Parameter("n_samples", 6))),
            "Only 6 object(s).",
        ),
        (RuntimeError(Message("Use {cpu}.", cpu=Parameter("device", "cpu"))), "Use --device cpu."),
        (ValueError(Message("Leave {it} out.", it=Parameter("truth"))), "Leave --truth out."),
        (MemoryError(Message("With {it}.", it=Parameter("scale", None))), "With no --scale."),
        (ValueError("Column 'n_steps', n_jobs, 'scale=2'"), "Column 'n_steps', n_jobs, 'scale=2'"),
        (UserWarning(Message("{ties}", ties=Parameter("ties", "mean"))), "ties='mean'"),
    ],
)
def test_parameters_become_options_and_texts_stay(error, spoken):
    assert in_options(error) == spoken
