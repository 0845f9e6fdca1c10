"""Small rules that readers share, by example."""

import numpy as np
import pytest

from ensemblage import tables
from ensemblage.tables.labels import understand
from ensemblage.tables.layout import picked, place_of
from ensemblage.tables.rows import (
    Suspect,
    delimiter,
    has_decimal_comma,
    named_columns,
    suspect,
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("7", "WHOLE"),
        ("3.0", "WHOLE"),
        ("2.5", "FRACTION"),
        ("T cell", "NAME"),
        ("NA", "MISSING"),
        ("-1", "MISSING"),
    ],
)
def test_what_a_cell_means(text, kind):
    assert understand(text).kind.name == kind


@pytest.mark.parametrize(
    ("line", "mark"),
    [("a;b;c", ";"), ('"Smith, J";b', ";"), ("a", ","), ("1,71;2,3", ";")],
)
def test_what_separates_cells(line, mark):
    assert delimiter(line, ",") == mark


def test_decimal_commas():
    assert has_decimal_comma("-1,71")
    assert not has_decimal_comma("1.71")
    assert not has_decimal_comma("a,b")


def test_what_may_separate_names():
    assert suspect(["1 2 1", "1 2 2"]) == Suspect("spaces", is_sure=True)
    assert suspect(["T cell", "B cell"]) == Suspect("spaces", is_sure=False)
    assert suspect(["T", "helper T"]) is None


def test_columns_are_picked_in_the_order_asked_for():
    names = ["cell", "kmeans", "leiden_1", "leiden_2"]
    assert picked(["leiden_*", "kmeans"], names, "") == ["leiden_1", "leiden_2", "kmeans"]


def test_a_blank_name_gets_one_that_no_column_has():
    assert named_columns(["", "c1", "c1_"]) == ["c1__", "c1", "c1_"]


def test_columns_are_called_by_name_or_by_place():
    names = ["1", "0", "a"]
    for asked, place in {"00": 0, "01": 1, 0: 0, 1: 1, "a": 2, "2": 2, 2: 2}.items():
        assert place_of(asked, names, "v.csv") == place
    assert place_of("1", ["0", "1"], "v.csv") == place_of("7", ["0", "7"], "v.csv") == 1
    with pytest.raises(tables.OptionError, match="id_column='01' for the one of that name"):
        place_of("0", names, "v.csv")


def test_ids_as_texts():
    assert tables.as_texts(np.array([7, 8])) == ["7", "8"]
    assert tables.as_texts(np.array(["2020-01-02"], dtype="datetime64[ns]")) == ["2020-01-02"]


def test_the_smallest_type_of_integers():
    assert tables.smallest(np.array([0, 255])).dtype == np.uint8
    assert tables.smallest(np.array([-1, 255])).dtype == np.int16


@pytest.mark.parametrize(
    ("name", "known"), [("votes.csv.gz", "csv"), ("pool.MAT", "mat"), ("votes.txt", None)]
)
def test_formats_by_name(name, known):
    assert tables.format_of_name(name) == known
