"""Wrong calls: one paragraph, what may have been meant, exit code 2; options, not parameters."""

from typing import Literal, get_args, get_origin

import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import datasets, experiments, tables
from ensemblage._device import DEVICES, DeviceError
from ensemblage._messages import Message, Parameter, ParameterError
from ensemblage.cli import app, options, parsers
from ensemblage.cli.engines import ENGINES
from ensemblage.cli.errors import with_options
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


def words(option):
    """Return the words of an option whose type is a Literal."""
    types = [part for part in get_args(get_args(option)[0]) if part is not type(None)]
    return get_args(types[0]) if get_origin(types[0]) is Literal else tuple(types)


def test_words_are_those_of_the_library():
    assert words(options.Method) == tuple(en.METHODS)
    assert list(experiments.EXPERIMENTS) == list(parsers.TABLES)
    assert [*experiments.EXPERIMENTS, *experiments.ALIASES] == list(parsers.KNOWN_TABLES)
    assert CRITERIA == parsers.CRITERIA
    assert datasets.NAMES == parsers.DATASETS
    assert words(options.Format) == tables.FORMATS
    assert words(options.Device) == DEVICES
    assert words(options.Layout) == tables.LAYOUTS
    assert words(options.Engine) == ("auto", *ENGINES)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("consenus v.csv -k 2", "Unknown command 'consenus'. Did you mean 'consensus'?"),
        ("chose-k v.csv", "Did you mean 'choose-k'?"),
        ("xyz", "Unknown command 'xyz'. Known: consensus, predict,"),
        ("--verison", "Unknown option --verison. Did you mean '--version'?"),
        (
            "consensus v.csv --k-rnge 2:3",
            "Unknown option --k-rnge. Did you mean '--k-range'? See:",
        ),
        ("compare v.csv -k 2 --method eac", "Unknown option --method. Did you mean '--methods'?"),
        ("predict v.csv --model m.npz", "Unknown option --model. See: ensemblage predict --help"),
        ("consensus v.csv -k 2 --quiet=yes", "--quiet"),
        (
            "consensus v.csv -k",
            "-k needs a value, and none was given. See: ensemblage consensus --help",
        ),
        ("consensus", "VOTES is missing. See: ensemblage consensus --help"),
        ("predict", "MODEL is missing."),
        ("generate cells.csv", "-o or --output is missing."),
        ("demo more", "unexpected extra argument"),
        ("consensus v.csv -k 2 -m ptpg", "Unknown method 'ptpg'. Did you mean 'ptgp'?"),
        ("compare v.csv -k 2 --methods eac,voet", "'voet'. Did you mean 'vote'?"),
        ("report v.csv -k 2 -m ptg", "Unknown method 'ptg'. Did you mean 'pt"),
        ("generate cells.csv -o p.csv --method kmean", "'kmean'. Did you mean 'kmeans'?"),
        (
            "choose-k v.csv --criteria pac,lifetme",
            "Unknown criterion 'lifetme'. Did you mean 'lifetime'?",
        ),
        (
            "choose-k v.csv --criterion balanc",
            "Unknown criterion 'balanc'. Did you mean 'balance'?",
        ),
        ("reproduce comparsion", "Unknown table 'comparsion'. Did you mean 'comparison'?"),
        ("reproduce all --datasets MF,MINST", "Unknown dataset 'MINST'. Did you mean 'MNIST'?"),
        ("consensus v.csv -k 2 --format parket", "format 'parket'. Did you mean 'parquet'?"),
        ("consensus v.csv -k 2 --engine strem", "engine 'strem'. Did you mean 'stream'?"),
        ("consensus v.csv -k 2 --id-column cel", "no column 'cel' to take ids from. Did you mean"),
        ("consensus v.csv -k 2 --truth exprt", "Did you mean 'expert'?"),
        ("consensus v.csv -k 2 --truth exprt -o l.csv --engine stream", "Did you mean 'expert'?"),
        ("compare v.csv -k 2 --truth exprt", "Did you mean 'expert'?"),
        ("generate cells.csv -o p.csv --truth knd", "Did you mean 'kind'?"),
        ("generate cells.csv -o p.csv --drop knd", "Did you mean 'kind'?"),
        ("consensus v.csv -k 2 --seed x", "--seed must be a whole number from 0 up, got 'x'."),
        ("consensus v.csv -k 2 --seed -1", "--seed must be a whole number from 0 up, got '-1'."),
        ("consensus v.csv -k 2 --jobs many", "--jobs must be a whole number, got 'many'."),
        ("compare v.csv -k none", "-k must be a whole number from 1 up, got 'none'."),
        (
            "generate cells.csv -o p.csv -m 0",
            "--members must be a whole number from 1 up, got '0'.",
        ),
        ("reproduce all --runs 0", "--runs must be a whole number from 1 up"),
        ("choose-k v.csv --refits 1", "--refits must be a whole number from 2 up"),
        ("reproduce all --pools theirs", "Unknown pool 'theirs'. Known: authors, own."),
        ("consensus v.csv -k 2 -m kmeans", "Unknown method 'kmeans'. Known: auto, consensus,"),
        ("report v.csv -k 2 --confidence", "Unknown option --confidence. See: ensemblage report"),
        (
            "consensus v.csv -k 2 --device gpu",
            "Unknown device 'gpu'. Did you mean 'cpu'? Known: cpu, cuda, auto.",
        ),
        ("consensus v.csv -k 2 -m eac --device cuda", "Method eac has no --device."),
        ("choose-k v.csv -m vote --linkage single", "Method vote has no --linkage."),
        ("report v.csv -k 2 --steps 0", "--steps must be auto or a whole number from 1 up"),
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
        ("--subspace 9", "--subspace must be a share above 0 and up to 1.0 of the 2 feature(s)"),
        ("--projection 9", "or an integer from 1 to 2. Got 9 instead."),
        (
            "--subspace 1 --projection 2",
            "--projection must be a share above 0 and up to 1.0 of the 1",
        ),
        ("--subspace 0.5 --projection 2", "--projection must be a share above 0"),
        ("--k-range 7:9", "must start at or below the number of objects, 4, got 7. Lower"),
        ("--checkpoint cells.csv", "'cells.csv' must be a folder, got a file."),
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
        assert "auto" in asked  # and the default device of the method that PTA is compared with


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
    assert with_options(error) == spoken
