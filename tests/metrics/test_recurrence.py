"""What halves of the members find again, the sample it is judged on, and permuted votes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensemblage as en
from ensemblage.metrics import choose_k
from ensemblage.metrics.choosing import _null, _recurrence, _sample
from ensemblage.testing.strategies import votes


def noisy(seed, k=4, n=90, members=7, noise=0.15, missing=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    columns = []
    for _ in range(members):
        labels = np.where(rng.random(n) < 0.3, truth, truth // 2)
        labels = np.where(rng.random(n) < noise, rng.integers(0, k, n), labels)
        columns.append(np.where(rng.random(n) < missing, -1, labels))
    table = np.column_stack(columns)
    table[(table < 0).all(axis=1), 0] = 0
    return table


# -- clusters that come back -----------------------------------------------------------------------


@st.composite
def two_lists_of_cuts(draw):
    n, n_cuts = draw(st.integers(2, 8)), draw(st.integers(1, 3))

    def cut():
        labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        return np.unique(labels, return_inverse=True)[1]

    known = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    known[draw(st.integers(0, n - 1))] = True
    sizes = np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    mine = [cut() for _ in range(n_cuts)]
    theirs = [np.where(known, cut(), -1) for _ in range(n_cuts)]
    return mine, theirs, sizes


@given(two_lists_of_cuts())
def test_overlaps_are_jaccard_indices_of_sets_of_objects(drawn):
    mine, theirs, sizes = drawn
    objects = np.repeat(np.arange(len(sizes)), sizes)
    objects = [(i, row) for i, row in enumerate(objects) if theirs[0][row] >= 0]

    def sets(labels, n_clusters):
        return [{i for i, row in objects if labels[row] == c} for c in range(n_clusters)]

    def best(cluster, others):
        return max(len(cluster & one) / len(cluster | one) for one in others)

    anywhere = [one for labels in theirs for one in sets(labels, labels.max() + 1)]
    found = _recurrence.overlaps(mine, theirs, sizes)
    for own, at_k, values in zip(mine, theirs, found, strict=True):
        clusters, others = sets(own, own.max() + 1), sets(at_k, at_k.max() + 1)
        assert len(values) == len(clusters)
        for cluster, value in zip(clusters, values, strict=True):
            if not cluster:
                assert np.isnan(value)
                continue
            expected = (best(cluster, others) + best(cluster, anywhere)) / 2
            assert value == pytest.approx(expected, abs=1e-12)


def test_what_all_members_see_comes_back_and_what_none_sees_does_not():
    truth = np.arange(80) % 4
    matrix = np.tile(truth[:, None], 6)
    matrix[:5, 0] = 9
    scores = choose_k(en.EAC(2).fit(matrix), range(2, 6)).scores
    assert scores["recurrence"][2] == 1.0
    assert scores["support"][2] == pytest.approx(4.0)
    assert (scores["recurrence"][[0, 1, 3]] < 1.0).all()


def test_support_is_the_effective_number_times_a_power():
    labels = [np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2])]
    sizes = np.array([2, 2, 2, 2])
    found = _recurrence.support(np.array([1.0, 0.9]), labels, sizes)
    entropy = -(0.25 * np.log(0.25) * 2 + 0.5 * np.log(0.5))
    assert found == pytest.approx([2.0, np.exp(entropy) * 0.9**10])


def test_single_objects_are_not_clusters_of_the_effective_number():
    sizes = np.array([1, 1, 1, 1])
    found = _recurrence.effective_number(np.array([0, 1, 2, 2]), sizes)
    assert found == 0.5  # one cluster of half of the objects
    assert _recurrence.effective_number(np.arange(4), sizes) == 0.0


def test_halves_that_have_fewer_groups_than_k_are_cut_as_finely_as_they_can():
    matrix = np.column_stack([np.arange(24) // 8, np.arange(24) // 6])  # 3 and 4 clusters
    est = en.EAC(1).fit(matrix)
    assert est.n_microclusters_ == 6
    assert np.isfinite(choose_k(est).scores["recurrence"]).all()


# -- the sample ------------------------------------------------------------------------------------


@given(votes(max_objects=14), st.randoms(use_true_random=False))
def test_signatures_move_with_rows_and_members_and_know_no_names(matrix, random):
    table = en.Ensemble(matrix).microclusters.table
    sizes = np.arange(len(table)) % 3 + 1
    rows, members = _sample.signatures(table, sizes)
    order, columns = list(range(len(table))), list(range(table.shape[1]))
    random.shuffle(order)
    random.shuffle(columns)
    moved = table[np.ix_(order, columns)].copy()
    for m in range(moved.shape[1]):
        names = list(range(int(moved[:, m].max()) + 1))
        random.shuffle(names)
        known = moved[:, m] >= 0
        moved[known, m] = np.array([*names, 0])[moved[known, m]]
    again = _sample.signatures(moved, sizes[order])
    assert again[0].tolist() == rows[order].tolist()
    assert again[1].tolist() == members[columns].tolist()


def test_weights_are_part_of_a_members_signature():
    table = np.array([[0, 0], [1, 1], [1, 1]], dtype=np.int32)
    sizes = np.ones(3, dtype=np.int64)
    _, alike = _sample.signatures(table, sizes)
    _, weighted = _sample.signatures(table, sizes, np.array([1.0, 2.0]))
    assert alike[0] == alike[1]
    assert weighted[0] != weighted[1]


def test_a_sample_has_its_objects_of_all_rows_in_proportion():
    table = np.arange(5, dtype=np.int32)[:, None].repeat(2, axis=1)
    sizes = np.array([1000, 500, 250, 250, 1])
    drawn = _sample.draw(table, sizes, None, 400, np.random.default_rng(0))
    assert drawn.sizes.sum() == 400
    share = dict(zip(drawn.rows.tolist(), (drawn.sizes / 400).tolist(), strict=True))
    assert share[0] == pytest.approx(0.5, abs=0.05)
    assert (drawn.sizes <= sizes[drawn.rows]).all()
    whole = _sample.draw(table, sizes, None, 2001, np.random.default_rng(0))
    assert whole.sizes.tolist() == sizes[whole.rows].tolist()
    assert sorted(whole.rows.tolist()) == [0, 1, 2, 3, 4]


# -- permuted votes --------------------------------------------------------------------------------


@given(votes(max_objects=12), st.integers(0, 9))
def test_permuted_votes_keep_sizes_and_gaps(matrix, seed):
    table = en.Ensemble(matrix).microclusters.table
    mixed = _null.permuted(table, np.random.default_rng(seed))
    assert ((mixed < 0) == (table < 0)).all()
    for m in range(table.shape[1]):
        assert np.sort(mixed[:, m]).tolist() == np.sort(table[:, m]).tolist()


def test_agreement_of_permuted_votes_is_that_of_their_consensus():
    matrix = noisy(0, missing=0.1)
    cuts = en.EAC(1).fit(matrix)._cuts()
    table = en.Ensemble(matrix).microclusters.table
    ks = np.array([2, 5])
    found = _null._agreement(cuts, table, None, ks)
    tree = en.LWEA(1, weights="normalized", min_cluster_size="auto").fit(table)
    expected = [en.metrics.ensemble_nmi(tree.cut(k), table, "geometric") for k in ks]
    assert found == pytest.approx(expected, abs=1e-9)


def test_noise_is_found_out_and_structure_is_not_denied():
    rng = np.random.default_rng(1)
    noise = [
        choose_k(en.EAC(1).fit(rng.integers(0, rng.integers(2, 9), (80, 6)))) for _ in range(12)
    ]
    assert sum(choice.k == 1 for choice in noise) >= 11
    real = [choose_k(en.EAC(1).fit(noisy(seed))) for seed in range(6)]
    assert all(choice.null["excess"] > choice.null["limit"] for choice in real)


def test_more_members_than_are_needed_are_sampled(monkeypatch):
    matrix = noisy(0, members=9, missing=0.5)
    monkeypatch.setattr(_null, "_MOST_MEMBERS", 3)
    monkeypatch.setattr(_recurrence, "_MOST_MEMBERS", 2)
    assert choose_k(en.EAC(1).fit(matrix)).null is not None


# -- laws of the choice ----------------------------------------------------------------------------


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.booleans())
def test_order_and_names_do_not_matter(seed, gaps):
    matrix = noisy(seed, missing=0.2 if gaps else 0.0)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(matrix))
    moved = matrix[np.ix_(order, rng.permutation(matrix.shape[1]))]
    moved = np.where(moved < 0, -1, 7 - moved)
    one, other = (en.LWEA(1, weights="normalized").fit(m)._cuts() for m in (matrix, moved))
    ks = np.arange(2, 8)
    assert _null.compare_with_permuted(other, ks, np.random.default_rng(seed)) == (
        _null.compare_with_permuted(one, ks, np.random.default_rng(seed))
    )
    # The same clusters, for the microclusters of both: cuts of a method may part at ties.
    of_object, of_moved = (en.Ensemble(m).microclusters.of_object for m in (matrix, moved))
    labels = [one.cut(k) for k in ks.tolist()]
    first = np.unique(of_moved, return_index=True)[1]
    same = [label[of_object][order][first] for label in labels]
    found = _recurrence.recurrence(other, ks, same, np.random.default_rng(seed))
    expected = _recurrence.recurrence(one, ks, labels, np.random.default_rng(seed))
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-12)


def test_order_does_not_matter_where_objects_are_sampled(monkeypatch):
    monkeypatch.setattr(_recurrence, "MOST_OBJECTS", 60)
    monkeypatch.setattr(_null, "MOST_OBJECTS", 40)
    matrix = noisy(3, n=200)
    order = np.random.default_rng(0).permutation(200)
    one, other = (choose_k(en.EAC(1).fit(m)) for m in (matrix, matrix[order]))
    assert other.null == one.null
    assert (other.k, other.evidence) == (one.k, one.evidence)


def test_equal_seeds_are_equal_and_others_differ():
    est = en.EAC(1).fit(noisy(5, noise=0.4))
    one, same, other = (choose_k(est, random_state=seed) for seed in (3, 3, 4))
    assert one.to_dict() == same.to_dict()
    assert one.scores["recurrence"].tolist() != other.scores["recurrence"].tolist()
    assert one.null != other.null


def test_weights_count_as_copies_where_they_are_whole():
    matrix = noisy(2, members=5)
    est = en.LWEA(1).fit(matrix, member_weight=[1, 1, 1, 1, 0])
    without = en.LWEA(1).fit(matrix[:, :4])
    assert choose_k(est).scores["recurrence"] == pytest.approx(
        choose_k(without).scores["recurrence"], abs=1e-9
    )
