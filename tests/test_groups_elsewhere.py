"""Ensemble.of_groups: microclusters that were made elsewhere are checked."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import ensemblage as en
from ensemblage.metrics import agreement

TABLE = np.array([[0, 0], [0, 1], [1, -1]], dtype=np.int32)
SIZES = np.array([2, 1, 1])
LABELS = [["a", "b"], [5, 7]]


def test_lists_are_as_good_as_arrays():
    groups = en.Ensemble.of_groups(TABLE.tolist(), SIZES.tolist(), LABELS)
    assert groups.microclusters.table.dtype == np.int32
    np.testing.assert_array_equal(groups.microclusters.sizes, SIZES)
    assert groups.n_objects == 4
    np.testing.assert_array_equal(
        en.EAC(2).fit_predict(groups),
        en.EAC(2).fit_predict(en.Ensemble.of_groups(TABLE, SIZES, LABELS)),
    )


@pytest.mark.parametrize(
    ("table", "sizes", "labels", "words"),
    [
        (TABLE, [2, -1, 1], LABELS, "sizes must be 3 numbers from 1 up"),
        (TABLE, [2, 0, 1], LABELS, "sizes must be 3 numbers from 1 up"),
        (TABLE, [2, 1], LABELS, "sizes must be 3 numbers from 1 up"),
        (TABLE, [2.0, 1, 1], LABELS, "sizes must be whole numbers"),
        (TABLE.astype(float), SIZES, LABELS, "table must be whole numbers in 2 dim"),
        (TABLE[:, 0], SIZES, LABELS, "table must be whole numbers in 2 dim"),
        (TABLE - 1, SIZES, LABELS, "codes from 0 up, and -1"),
        (TABLE, SIZES, LABELS[:1], "labels must be 2 lists"),
        (TABLE, SIZES, [["a"], [5, 7]], "labels must be 2 lists"),
        (TABLE, [2**62, 1, 1], LABELS, "sizes must add up to less than 2"),
        (TABLE, np.array([2**63, 1, 1], dtype=np.uint64), LABELS, "sizes must add up to less"),
        (TABLE, SIZES, [["a", "b"], [5, -1]], "none may mean a missing vote"),
        (TABLE, SIZES, [["a", "a"], [5, 7]], "labels of a clustering must differ"),
        ([[0, 0], [0, 0]], [1, 2], [["a"], ["b"]], "must differ, got row 1 twice"),
        (np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=int), [[], []], "rows and columns"),
    ],
)
def test_what_is_wrong_is_named(table, sizes, labels, words):
    with pytest.raises(ValueError, match=f"of_groups: .*{words}"):
        en.Ensemble.of_groups(table, sizes, labels)


def test_names_must_be_as_many_as_clusterings():
    with pytest.raises(ValueError, match="names must have 2 entries, got 1"):
        en.Ensemble.of_groups(TABLE, SIZES, LABELS, ["one"])
    with pytest.raises(ValueError, match="several columns called 'one'"):
        en.Ensemble.of_groups(TABLE, SIZES, LABELS, ["one", "one"])


@pytest.mark.parametrize(
    ("labels", "names", "words"),
    [(None, None, "labels must be a list, got NoneType"), (LABELS, 5, "names must be a list"),
     ([1, 2], None, "each entry of labels must be a list, got int")],
)  # fmt: skip
def test_what_is_not_a_list_is_named(labels, names, words):
    with pytest.raises(TypeError, match=f"of_groups: {words}"):
        en.Ensemble.of_groups(TABLE, SIZES, labels, names)


@pytest.mark.parametrize("kind", [tuple, pd.Index, np.array])
def test_names_may_be_any_sequence(kind):
    groups = en.Ensemble.of_groups(TABLE, SIZES, LABELS, kind(["one", "two"]))
    model = en.EAC(2).fit(groups)
    assert model.predict(pd.DataFrame({"two": [5, 7], "one": ["b", "a"]})).tolist() == [1, 0]


def test_fractions_as_labels_are_refused_by_save(tmp_path):
    votes = [[Fraction(1, 2), 1], [Fraction(1, 3), 1], [Fraction(1, 2), 2]]
    with pytest.raises(TypeError, match=r"label Fraction\(1, 2\) of type Fraction"):
        en.EAC(2).fit(votes).save(tmp_path / "model.ensemblage")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("average", ["max", "min", "geometric", "arithmetic"])
def test_nmi_of_equal_partitions_is_one(average):
    rng = np.random.default_rng(0)
    for _ in range(300):
        labels = rng.integers(0, rng.integers(2, 12), rng.integers(2, 60))
        renamed = rng.permutation(20)[labels]
        assert agreement.nmi(labels, renamed, average) == 1
        table = np.column_stack([renamed, renamed[::-1]])
        groups, _ = en.flow.microclusters(table)
        mine = groups.table[:, 0].astype(np.int64)
        scores = agreement._nmi_with_each(mine, groups.table, groups.sizes, average)
        assert scores[0] == 1
