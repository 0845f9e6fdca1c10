"""Times, decimals, fractions, large integers and tuples as labels."""

import datetime
import uuid
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import ensemblage as en

pa = pytest.importorskip("pyarrow")
polars = pytest.importorskip("polars")
MISSING = [None, -1, -1.0, float("nan"), Decimal(-1), Decimal("NaN"), Fraction(-1), np.float32(-1)]
MISSING += [np.datetime64("NaT"), np.timedelta64("NaT", "s"), pd.NaT, pd.NA]
PRESENT = [-2, Decimal("-1.5"), Fraction(-1, 2), Decimal(7), "-1", "", True, (1, 2), 2**100]


def codes(column):
    votes = [[label, place] for place, label in enumerate(column)]
    return en.Ensemble(votes).microclusters.table[:, 0].tolist()


@pytest.mark.parametrize("label", MISSING)
def test_minus_one_and_nan_of_any_kind_are_missing(label):
    assert codes([label, 3, label]) == [-1, 0, -1]


@pytest.mark.filterwarnings("ignore::ensemblage.FeaturesAsVotesWarning")
@pytest.mark.parametrize("label", PRESENT)
def test_other_labels_of_any_kind_are_clusters(label):
    assert codes([label, 3, label]) == [0, 1, 0]


@pytest.mark.parametrize("nan", [float("nan"), Decimal("NaN"), np.datetime64("NaT")])
def test_a_tuple_that_is_not_equal_to_itself_is_rejected(nan):
    with pytest.raises(ValueError, match=r"clustering 0 holds \(1, .*Use None in place of NaN"):
        codes([(1, (nan,)), 3, (1, 2)])
    assert codes([(1, (None,)), 3, (1, (None,))]) == [0, 1, 0]


@pytest.mark.parametrize("labels", [[(0, 1), (0, 2), (0, 1)], [(0,), (0, 2), (0,)]])
def test_tuples_in_a_dict_or_a_list_of_columns_are_labels(labels):
    for votes in ({"a": labels, "b": [0, 1, 1]}, [labels, np.array([0, 1, 1])]):
        assert en.Ensemble(votes).microclusters.table[:, 0].tolist() == [0, 1, 0]


@pytest.mark.parametrize("labels", [[0, 1, 0], [0, np.nan, 0], [2048, 3, 2048]])
def test_short_floats_are_labels_without_a_warning(labels):
    """2**53 is infinity as a float16; warnings are errors here."""
    column = np.array(labels, dtype=np.float16)
    other = np.ones_like(column)
    for votes in (np.column_stack([column, other]), [[label, 1] for label in column]):
        assert len(en.Ensemble(votes).microclusters.sizes) == 2


def test_objects_of_polars_are_compared_by_value():
    labels = [uuid.UUID(int=place) for place in (1, 2, 1)] + [None]
    column = polars.Series("a", labels, dtype=polars.Object)
    table = polars.DataFrame([column, polars.Series("b", [0, 1, 0, 2])])
    for votes in (table, [column, np.array([0, 1, 0, 2])]):
        assert en.Ensemble(votes).microclusters.table[:, 0].tolist() == [0, 1, -1]


def test_equal_numbers_of_any_kind_are_one_cluster():
    assert codes([2, 2.0, Decimal(2), Fraction(4, 2), np.int8(2), 3]) == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("kind", ["M8", "m8"])
@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s", "D"])
def test_times_around_zero_are_not_numbers(kind, unit):
    times = np.array([-1, 0, 1, -1, "NaT"], dtype=f"{kind}[{unit}]")
    votes = {"time": times, "other": np.arange(5)}
    assert en.Ensemble(votes).microclusters.table[:, 0].tolist() == [0, 1, 2, 0, -1]
    frame = en.Ensemble(pd.DataFrame(votes))
    assert frame.microclusters.table[:, 0].tolist() == [0, 1, 2, 0, -1]


@pytest.mark.parametrize("kind", [polars.Datetime("ns"), polars.Duration("ns"), polars.Time])
def test_nanoseconds_of_polars_differ(kind):
    times = polars.Series([1, 2, 999, 1, None], dtype=polars.Int64).cast(kind)
    votes = polars.DataFrame({"time": times, "other": [1, 2, 3, 4, 5]})
    assert en.Ensemble(votes).microclusters.table[:, 0].tolist() == [0, 1, 2, 0, -1]


def test_times_of_day_of_other_units_are_the_same_labels():
    est = en.EAC(2).fit({"a": [datetime.time(1), datetime.time(2)], "b": [0, 1]})
    fine = pa.array([2 * 3_600_000_000_000, 3_600_000_000_000], pa.time64("ns"))
    assert est.predict(pa.table({"a": fine, "b": [1, 0]})).to_pylist() == [1, 0]


def test_times_of_other_units_are_the_same_labels():
    stamps = ["2020-01-01T00:00:00", "2021-01-01T00:00:00"]
    fine, coarse = (np.array(stamps, dtype=f"M8[{unit}]") for unit in ("ns", "us"))
    est = en.EAC(2).fit({"a": fine, "b": [0, 1]})
    assert est._ensemble.labels[0][0] == datetime.datetime(2020, 1, 1)
    assert est.predict({"a": coarse, "b": [0, 1]}).tolist() == [0, 1]


def test_rows_of_lists_may_hold_tuples():
    votes = [[(1, 2), 1], [(1, 3), 1], [(1, 2), 2]]
    assert en.Ensemble(votes).microclusters.table.tolist() == [[0, 0], [1, 0], [0, 1]]
    frame = pd.DataFrame({"a": [(1, 2), (1, 3), (1, 2)], "b": [1, 1, 2]})
    np.testing.assert_array_equal(en.EAC(2).fit_predict(votes), en.EAC(2).fit_predict(frame))
    with pytest.raises(ValueError, match="rows of different lengths"):
        en.Ensemble([[1, 2], [1]])


@pytest.mark.parametrize("kind", ["Int128"])
def test_integers_of_128_bits_are_refused_with_the_way_out(kind):
    large = polars.Series([2**70, 2**71, 2**70], dtype=getattr(polars, kind))
    votes = polars.DataFrame({"a": large, "b": [1, 1, 2]})
    with pytest.raises(TypeError, match=r"Column 'a' is of type Int128.*cast\(polars.String\)"):
        en.Ensemble(votes)
    cast = votes.with_columns(polars.col("a").cast(polars.String))
    assert en.Ensemble(cast).microclusters.table[:, 0].tolist() == [0, 1, 0]


def test_large_unsigned_integers_beside_missing_ones():
    assert codes([2**63 + 1, None, 2**63 + 2, 2**63 + 1]) == [0, -1, 1, 0]


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_numbers_next_to_lengths_of_time_in_lists_stay_numbers(unit):
    one, two = np.timedelta64(1, unit), np.timedelta64(2, unit)
    rows = [[one, 0], [one, -1], [two, -1], [two, 1]]
    cells = np.empty((4, 2), dtype=object)
    cells[:] = [[one, 0], [one, -1], [two, -1], [two, 1]]
    for votes in (rows, cells):
        groups = en.microclusters(votes)
        assert groups.table[groups.of_object].T.tolist() == [[0, 0, 1, 1], [0, -1, -1, 1]]
    column = en.microclusters({"a": [1, one, -one, -1, 2], "b": [0] * 5})
    assert column.table[column.of_object][:, 0].tolist() == [0, 1, 2, -1, 3]


def test_lengths_of_time_are_not_saved(tmp_path):
    votes = pd.DataFrame({"a": np.array([1, 2, 1, 2, 3], "m8[ns]"), "b": [0, 1, 0, 1, 1]})
    with pytest.raises(TypeError, match="cannot be saved: clustering 0 has the label"):
        en.EAC(2).fit(votes).save(tmp_path / "x.ensemblage")
    assert not list(tmp_path.iterdir())
