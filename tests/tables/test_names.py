"""Names made by the places of columns are no names: votes go by their order."""

import warnings

import numpy as np
import pytest

import ensemblage as en
from ensemblage import tables

VOTES = np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 0, 2]])
ROWS = [",".join(map(str, row)) for row in VOTES.tolist()]
IDS = [f"x{place},{row}" for place, row in enumerate(ROWS)]
NAMED = ["p,q,r", "id,p,q,r"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("v.npy", VOTES)
    for name, lines in {
        "bare.csv": ROWS,
        "bare_ids.csv": IDS,
        "named.csv": [NAMED[0], *ROWS],
        "named_ids.csv": [NAMED[1], *IDS],
        "numbered.csv": ["c2,c1,c3", *ROWS],
    }.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")


def read(name):
    return tables.read(name, id_column=0 if "ids" in name else None)


@pytest.mark.parametrize("name", ["v.npy", "bare.csv", "bare_ids.csv"])
@pytest.mark.parametrize("other", ["v.npy", "bare_ids.csv", "named.csv", "named_ids.csv"])
def test_votes_without_names_go_by_their_order(name, other):
    table = read(name)
    assert not table.named
    model = en.EAC(2).fit(table)
    assert not hasattr(model, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for votes in (read(other), VOTES):
            np.testing.assert_array_equal(model.predict(votes), model.labels_)
        fitted = en.EAC(2).fit(read(other))
        np.testing.assert_array_equal(fitted.predict(table), model.labels_)


def test_names_of_a_file_are_names_even_if_they_are_numbered():
    table = read("numbered.csv")
    assert table.named
    model = en.EAC(2).fit(table)
    assert model.feature_names_in_.tolist() == ["c2", "c1", "c3"]
    other = {"c1": VOTES[:, 1], "c2": VOTES[:, 0], "c3": VOTES[:, 2]}
    np.testing.assert_array_equal(model.predict(other), model.labels_)


def test_a_column_that_is_taken_away_changes_nothing():
    labels, table = tables.take_column(read("v.npy"), "c3")
    assert labels.tolist() == VOTES[:, 2].tolist()
    assert not table.named
