import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from ensemblage.flow import MicroclusterIndex, _hashing, microclusters, spread
from ensemblage.flow import microclusters as stage
from ensemblage.testing.strategies import votes


def assert_same(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_papers_example_has_four_microclusters(e2):
    groups, labels = microclusters(e2)
    np.testing.assert_array_equal(groups.table, [[0, 0], [0, 1], [1, 1], [1, 2]])
    np.testing.assert_array_equal(groups.sizes, [3, 1, 2, 2])
    np.testing.assert_array_equal(groups.of_object, [0, 0, 0, 1, 2, 2, 3, 3])
    assert [label.tolist() for label in labels] == [[1, 2], [1, 2, 3]]


@given(votes())
def test_equal_to_comparing_tuples(matrix):
    assert_same(microclusters(matrix)[0], twins.microclusters(matrix))


@given(votes(), st.data())
def test_any_chunking_gives_the_same(matrix, data):
    cuts = data.draw(st.lists(st.integers(0, len(matrix)), max_size=4).map(sorted))
    index = MicroclusterIndex(matrix.shape[1])
    numbers = [index.add(chunk) for chunk in np.split(matrix, cuts)]
    table, sizes, of_object = twins.microclusters(matrix)
    assert_same((index.codes()[0], index.finish()[1], np.concatenate(numbers)),
                (table, sizes, of_object))  # fmt: skip


@given(votes(), st.data())
def test_merged_parts_are_the_whole(matrix, data):
    cuts = data.draw(st.lists(st.integers(0, len(matrix)), min_size=1, max_size=3).map(sorted))
    whole = MicroclusterIndex(matrix.shape[1])
    numbers = []
    for chunk in np.split(matrix, cuts):
        part = MicroclusterIndex(matrix.shape[1])
        here = part.add(chunk)
        numbers.append(whole.merge(part)[here])
    table, sizes, of_object = twins.microclusters(matrix)
    assert_same((whole.codes()[0], whole.finish()[1], np.concatenate(numbers)),
                (table, sizes, of_object))  # fmt: skip


@given(votes(), votes())
def test_lookup_finds_what_was_added_and_nothing_else(matrix, other):
    index = MicroclusterIndex(matrix.shape[1])
    numbers = index.add(matrix)
    np.testing.assert_array_equal(index.lookup(matrix), numbers)
    other = np.resize(other, (len(other), matrix.shape[1]))
    known = {tuple(row): number for row, number in zip(matrix.tolist(), numbers, strict=True)}
    expected = [known.get(tuple(row), -1) for row in other.tolist()]
    np.testing.assert_array_equal(index.lookup(other), expected)


def test_votes_out_of_range_are_not_taken_for_others():
    """Packed side by side, a vote that is too low or too high looks like another pair of votes."""
    inside = np.stack(np.meshgrid(np.arange(5, 9), np.arange(5, 9)), axis=-1).reshape(-1, 2)
    around = np.stack(np.meshgrid(np.arange(-4, 20), np.arange(-4, 20)), axis=-1).reshape(-1, 2)
    index = MicroclusterIndex(2)
    index.add(inside)
    found = index.lookup(around) >= 0
    np.testing.assert_array_equal(found, ((around >= 5) & (around <= 8)).all(axis=1))


def test_rows_that_share_a_fingerprint_are_told_apart():
    """Two words are mixed into one: the second word can make up for any first."""

    def mixed(word):
        return (word ^ word >> 32) * int(_hashing._MIX)

    first = 2**62
    other = next(w for w in range(1, 99) if (mixed(w) - mixed(first)) % 2**64 < 2**62)
    rows = np.array([[first, (mixed(other) - mixed(first)) % 2**64], [other, 0], [0, 2**62]])
    index = MicroclusterIndex(2)
    assert index.add(rows[[0, 2, 0]]).tolist() == [0, 1, 0]
    keys, prints = index._pack(rows)
    assert keys.shape == (3, 2)
    assert prints[0] == prints[1]
    assert index.lookup(rows).tolist() == [0, -1, 1]
    assert index.add(rows).tolist() == [0, 2, 1]
    assert index.lookup(rows).tolist() == [0, 2, 1]


def test_rows_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"rows must have 2 votes, got an array of shape \(1, 3\)"):
        MicroclusterIndex(2).add(np.zeros((1, 3), dtype=np.int64))


WIDE = st.sampled_from([0, 1, -1, -2, 7, 255, 256, 2**31, -(2**31), 2**40, -(2**40), 2**61])


@given(npst.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 9)), elements=WIDE))
def test_labels_of_any_size_and_many_words(matrix):
    assert_same(microclusters(matrix)[0], twins.microclusters(matrix))
    index = MicroclusterIndex(matrix.shape[1])
    for row in matrix:  # every row may change the layout
        index.add(row[None])
    np.testing.assert_array_equal(index.finish()[0], microclusters_of_rows(matrix))


def microclusters_of_rows(matrix):
    return np.array(list(dict.fromkeys(map(tuple, matrix.tolist()))))


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_every_integer_type_and_memory_order(dtype, order):
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 5, (300, 6)).astype(dtype)
    if dtype[0] == "i":
        matrix -= 2
    expected = twins.microclusters(matrix)
    matrix = {"C": matrix, "F": np.asfortranarray(matrix), "strided": np.repeat(matrix, 2, 0)[::2]}[
        order
    ]
    assert_same(microclusters(matrix)[0], expected)


@pytest.mark.parametrize("n_distinct", [3, 3000, 400_000])
def test_threads_change_nothing(n_distinct):
    rng = np.random.default_rng(n_distinct)
    rows = rng.integers(-1, 9, (n_distinct, 12)).astype(np.int16)
    rows[:, 0] = np.abs(rows[:, 0])
    matrix = rows[rng.integers(0, n_distinct, 450_000)]
    one, labels_one = microclusters(matrix, n_jobs=1)
    for n_jobs in (2, 3):
        many, labels_many = microclusters(matrix, n_jobs=n_jobs)
        assert_same(many, one)
        assert_same(labels_many, labels_one)
    values = np.empty((one.table.shape), dtype=int)
    for m, labels in enumerate(labels_one):
        values[:, m] = np.append(labels, -1)[one.table[:, m]]
    np.testing.assert_array_equal(values[one.of_object], matrix)
    assert len(np.unique(one.table, axis=0)) == len(one.table)


def test_votes_that_leave_the_guessed_range_late():
    matrix = np.zeros((60_000, 3), dtype=np.int64)
    matrix[-1] = [-5, 10**12, 7]
    groups, _ = microclusters(matrix)
    np.testing.assert_array_equal(groups.sizes, [59_999, 1])


@given(seed=st.integers(0, 2**32), n_columns=st.integers(1, 2))
def test_every_row_is_found_again_however_often_the_table_grew(seed, n_columns):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(
        np.vstack([np.zeros(n_columns), rng.integers(0, 2**40, (90, n_columns))])
    )
    index = MicroclusterIndex(n_columns)
    numbers = index.add(rows.astype(np.int64))
    np.testing.assert_array_equal(numbers, np.arange(len(rows)))
    np.testing.assert_array_equal(index.lookup(rows.astype(np.int64)), numbers)


def test_labels_far_from_0_come_back():
    _, labels = microclusters(np.array([[5, -9], [8, -6], [6, -9], [7, -1]]))
    assert [found.tolist() for found in labels] == [[5, 8, 6, 7], [-9, -6]]


def test_the_widest_span_that_a_word_holds():
    groups, labels = microclusters(np.array([[0], [2**63 - 1], [0]]))
    assert groups.of_object.tolist() == [0, 1, 0]
    assert labels[0].tolist() == [0, 2**63 - 1]


def test_a_span_that_no_word_holds_is_refused():
    with pytest.raises(OverflowError, match="span"):
        microclusters(np.array([[-(2**63)], [2**63 - 1]]))


def test_spread_gives_objects_the_value_of_their_microcluster():
    np.testing.assert_array_equal(
        spread(np.array([5, 7]), np.array([0, 1, 1], dtype=np.int32)), [5, 7, 7]
    )


def test_columns_without_information_take_no_room():
    matrix = np.full((10, 200), 3)
    groups, _ = stage(matrix)
    assert groups.sizes.tolist() == [10]


def test_missing_votes_in_a_chunk_of_a_narrower_type():
    """-1 as int16 is 65535 without its sign, which lies between the votes of the chunk before."""
    chunks = [np.array([[131071, 5], [0, 0]], dtype=np.int32), np.array([[-1, 5]], dtype=np.int16)]
    index = MicroclusterIndex(n_clusterings=2)
    for chunk in chunks:
        index.add(chunk)
    codes, _ = index.codes()
    assert codes.tolist() == [[0, 0], [1, 1], [-1, 0]]
    assert index.lookup(chunks[1]).tolist() == [2]
    assert index.lookup(np.array([[-1, 0]], dtype=np.int16)).tolist() == [-1]
