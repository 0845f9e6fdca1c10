"""Small pieces of the command, by example."""

import pickle

import pytest

from ensemblage._messages import Advice, Message, Parameter
from ensemblage._validate import is_id_name, is_likely_id_name, least_size, looks_like_ids
from ensemblage._validate.parameters import places_of
from ensemblage.cli.errors import option_name, unknown, with_options
from ensemblage.cli.generate import _sizes
from ensemblage.cli.output import format_objects, format_table, to_json
from ensemblage.cli.parsers import names_of, parse_range
from ensemblage.cli.report import _command, is_model
from ensemblage.cli.session import split_names


def test_an_unknown_name_suggests_the_nearest():
    expected = "Unknown method 'ptpg'. Did you mean 'ptgp'? Known: eac, ptgp."
    assert str(unknown("method", "ptpg", ["eac", "ptgp"])) == expected


@pytest.mark.parametrize(
    ("parameter", "shown"),
    [
        (Parameter("scale", "minmax"), "--scale minmax"),
        (Parameter("scale", None), "no --scale"),
        (Parameter("drop", ["a", "b"]), "--drop a --drop b"),
        (Parameter("drop", ["width (cm)"]), "--drop 'width (cm)'"),
        (Parameter("truth", "cell type"), "--truth 'cell type'"),
        (Parameter("ties", "mean"), "ties='mean'"),
    ],
)
def test_parameters_are_shown_as_options(parameter, shown):
    assert option_name(parameter) == shown


def test_advice_for_the_command():
    how = Advice("pass votes.T", "exchange rows and columns")
    message = Message("If so, {how}.", how=how)
    assert with_options(UserWarning(message)) == "If so, exchange rows and columns."
    assert str(pickle.loads(pickle.dumps(message))) == "If so, pass votes.T."


@pytest.mark.parametrize(("least", "most"), [(1, 1), (2, 2), (2, 3)])
def test_numbers_of_clusters(least, most):
    expected = {1: "1 cluster", 2: "2 clusters", 3: "2 to 3 clusters"}
    assert _sizes(least, most) == expected[most]


def test_tables_are_aligned():
    table = format_table(["", "NMI"], [["PTA", "0.712"], ["PTGP", "0.71"]])
    assert table.splitlines() == ["        NMI", "PTA   0.712", "PTGP   0.71"]


def test_counts():
    assert format_objects(3, "cell") == "3 objects (ids from 'cell')"
    assert format_objects(3, "") == "3 objects (ids from the first column)"
    assert format_objects(3, None) == "3 objects"


def test_values_of_json():
    value = {"nmi": float("nan"), "ks": range(2, 4), 3: (1.5, None)}
    assert to_json(value) == {"nmi": None, "ks": [2, 3], "3": [1.5, None]}


def test_ranges_have_both_ends():
    assert parse_range("2:5") == range(2, 6)


def test_names_with_commas():
    settings = names_of("--methods", "method", "pta", "ptgp", "eac", words=("all",))
    assert settings["parser"]("eac, PTA,eac") == ["eac", "pta"]
    assert settings["parser"]("all") == "all"
    assert settings["autocompletion"]("eac,pt") == ["eac,pta", "eac,ptgp"]
    assert split_names(["leiden_*, kmeans", "expert"], "--keep") == ["leiden_*", "kmeans", "expert"]
    assert split_names(None, "--keep") == []


def test_models_by_name():
    assert is_model("model.ensemblage")
    assert not is_model("votes.csv")


def test_the_command_of_a_report():
    given = {"-k": 3, "--columns": ["a*", "b"], "--no-header": True}
    expected = "ensemblage report 'my votes.csv' -k 3 --columns 'a*' --columns b --no-header"
    assert _command(["my votes.csv"], given) == expected


def test_names_of_ids():
    assert [is_id_name(name) for name in ("ID", "Unnamed: 0", "cell", "k3")] == [1, 1, 0, 0]
    assert [is_likely_id_name(name) for name in ("cell", "Sample_ID", "kmeans_3")] == [1, 1, 0]


def test_values_of_ids():
    assert [looks_like_ids("cell", n, 100) for n in (95, 96)] == [False, True]
    for n_rows, few in ((4, False), (5, True), (19, True)):
        assert looks_like_ids("cell", n_rows - 1, n_rows) is few
        assert not looks_like_ids("cell", n_rows - 2, n_rows)
    assert looks_like_ids("cell", 3, 3)
    assert [looks_like_ids(None, n, 1000) for n in (989, 990)] == [False, True]
    assert not looks_like_ids("run", 96, 100)
    assert not looks_like_ids("run", 9, 9)


def test_least_sizes():
    assert [least_size(size, 1000, 10) for size in ("auto", 0.5, 7)] == [10, 50, 7]


def test_places_of_names():
    assert places_of(["a", "b", "c"], ["c", "a", "b"]) == [1, 2, 0]
    assert places_of(["a", "b"], ["a", "c"]) is None
