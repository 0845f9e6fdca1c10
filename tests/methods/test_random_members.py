"""Random clusterings with many clusters among the others: they do not mislead the default."""

import tracemalloc

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from planted import with_errors
from scipy.sparse import csr_array

import ensemblage as en
from ensemblage import flow
from ensemblage.flow import _contingency

EVERY = np.ones(12, dtype=bool)


def _slow_deviation(a, b, sizes):
    """Return the standardised chi-squared of two clusterings, cell by cell."""
    both = (a >= 0) & (b >= 0)
    a, b, sizes = np.repeat(a[both], sizes[both]), np.repeat(b[both], sizes[both]), None
    n, rows, columns = len(a), np.unique(a), np.unique(b)
    if min(n, len(rows), len(columns)) < 2:
        return 0.0
    in_row, in_column = [(a == u).sum() for u in rows], [(b == v).sum() for v in columns]
    chi2 = 0.0
    for u, of_u in zip(rows, in_row, strict=True):
        for v, of_v in zip(columns, in_column, strict=True):
            expected = of_u * of_v / n
            chi2 += (((a == u) & (b == v)).sum() - expected) ** 2 / expected
    r, c = len(rows), len(columns)
    uneven = [sum(n / x for x in in_row) - r**2, sum(n / x for x in in_column) - c**2]
    variance = 2 * (r - 1) * (c - 1) + uneven[0] * uneven[1] / n
    return (chi2 - (r - 1) * (c - 1) * n / (n - 1)) / np.sqrt(variance)


class TestRandomMembers:
    @pytest.mark.parametrize(("n_clusters", "n_random"), [(20, 2), (60, 4), (60, 8), (90, 6)])
    def test_random_fine_members_do_not_mislead_the_default(self, n_clusters, n_random):
        rng = np.random.default_rng(n_random)
        truth = np.repeat([0, 1, 2], 60)
        random = rng.integers(0, n_clusters, (180, n_random))
        model = en.Consensus(3, random_state=0)
        model.fit(np.column_stack([with_errors(truth, 8, 0.1, rng), random]))
        assert en.metrics.ari(truth, model.labels_) > 0.95
        number = f"{n_random} clusterings with many clusters that agree with no coarser"
        assert any(reason.startswith(number) for reason in model.reasons_)

    def test_clusterings_of_one_cluster_do_not_make_all_others_fine(self):
        rng = np.random.default_rng(4)
        good = with_errors(np.repeat([0, 1, 2], 60), 8, 0.1, rng)
        random, constant = rng.integers(0, 60, (180, 4)), np.zeros((180, 20), dtype=int)
        model = en.Consensus(3, random_state=0).fit(np.column_stack([good, random, constant]))
        assert any(reason.startswith("4 clusterings with many") for reason in model.reasons_)

    def test_nor_the_choice_of_k(self):
        rng = np.random.default_rng(0)
        truth = np.repeat([0, 1, 2], 100)
        votes = np.column_stack([with_errors(truth, 10, 0.05, rng), rng.integers(0, 100, (300, 5))])
        assert en.Consensus(random_state=0).fit(votes).n_clusters_ == 3

    def test_fine_members_that_agree_count(self):
        """Refinements of the truth, half of whose labels are random."""
        rng = np.random.default_rng(0)
        truth = np.repeat([0, 1, 2], 60)
        fine = truth[:, None] * 10 + rng.integers(0, 10, (180, 3))
        wrong = rng.random(fine.shape) < 0.4
        fine[wrong] = rng.integers(0, 30, wrong.sum())
        model = en.Consensus(3, random_state=0).fit(
            np.column_stack([with_errors(truth, 6, 0, rng), fine])
        )
        assert not any("by chance" in reason for reason in model.reasons_)

    @pytest.mark.parametrize("changed", [0.0, 0.1])
    @pytest.mark.parametrize("copies", [3, 5])
    def test_copies_of_a_random_member_do_not_count_either(self, copies, changed):
        rng = np.random.default_rng(0)
        truth = np.repeat([0, 1, 2], 100)
        odd = np.tile(rng.integers(0, 100, 300)[:, None], (1, copies))
        other = rng.random(odd.shape) < changed
        odd[other] = rng.integers(0, 100, other.sum())
        votes = np.column_stack([with_errors(truth, 8, 0.05, rng), odd])
        model = en.Consensus(3, random_state=0).fit(votes)
        assert en.metrics.ari(truth, model.labels_) > 0.95

    def test_a_fine_member_counts_beside_coarse_ones_that_agree_with_none(self):
        """Three coin flips and one clustering: its weight decides."""
        truth = np.repeat(np.arange(8), 30)
        coins = np.random.default_rng(0).integers(0, 2, (240, 3))
        model = en.Consensus(8, random_state=0)
        model.fit(np.column_stack([coins, truth]), member_weight=[1, 1, 1, 100])
        assert en.metrics.ari(truth, model.labels_) == 1.0

    def test_of_random_members_alone_none_is_left_out(self):
        votes = np.random.default_rng(0).integers(0, [3, 30, 30, 30, 30], (200, 5))
        model = en.Consensus(3, random_state=0).fit(votes[:, 1:])
        assert not any("by chance" in reason for reason in model.reasons_)

    def test_a_coarse_random_member_is_kept(self):
        """It may be the only one that shows a cluster."""
        rng = np.random.default_rng(0)
        votes = np.column_stack([np.repeat(np.arange(4), 30)] * 5 + [rng.integers(0, 4, 120)])
        model = en.Consensus(4, random_state=0).fit(votes)
        assert not any("by chance" in reason for reason in model.reasons_)

    def test_deviations_are_those_of_permutations(self):
        """The mean and the variance of chi-squared, beside 2,000 permutations."""
        rng = np.random.default_rng(0)
        a = np.minimum(rng.geometric(0.1, 150) - 1, 30)
        b = np.minimum(rng.geometric(0.4, 150) - 1, 4)
        table = np.column_stack([b, *[rng.permutation(a) for _ in range(2000)]]).astype(np.int32)
        share = _contingency.sharing(table, np.ones(150, dtype=np.int64))
        overlaps = share(table[:, 0], 2001, b.max() + 1)
        drawn = flow.chance_members._deviations(overlaps, _contingency.owners(table), 2001)[1:]
        assert abs(np.mean(drawn)) < 0.1
        assert abs(np.std(drawn) - 1.0) < 0.25

    @given(st.integers(0, 2**32 - 1))
    def test_all_pairs_at_once_or_one_by_one_also_of_sparse_overlaps(self, seed):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 60)), int(rng.integers(2, 12))
        votes = rng.integers(0, rng.integers(1, 15, m), (n, m))
        votes[rng.random(votes.shape) < 0.2 * (rng.random() < 0.5)] = -1
        votes[(votes < 0).all(axis=1), 0] = 0
        table, sizes, _ = en.microclusters(votes)
        ends, owner = _contingency.cluster_ends(table), _contingency.owners(table)
        whole = _contingency.overlaps(table, sizes)
        of_all = [
            flow.chance_members._deviations(whole[ends[a] : ends[a + 1]], owner, m)
            for a in range(m)
        ]
        for a in range(m):
            sparse = csr_array(whole[ends[a] : ends[a + 1]])
            from_sparse = flow.chance_members._deviations(sparse, owner, m)
            assert_allclose(of_all[a], from_sparse, atol=1e-9)
            for b in range(m):
                one_by_one = _slow_deviation(table[:, a], table[:, b], sizes)
                assert_allclose(of_all[a][b], one_by_one, atol=1e-9)
        found = flow.at_chance(table, sizes, range(m), EVERY[:m])
        for a in range(m):
            others = [of_all[a][b] for b in range(m) if b != a]
            if np.abs(np.subtract(others, 5)).min() > 1e-9:
                assert found[a] == (table[:, a].max() >= 0 and max(others) < 5)

    def test_empty_overlaps_take_no_memory(self):
        rng = np.random.default_rng(0)
        coarse, fine = rng.integers(0, 5, (5000, 3)), rng.integers(0, 3000, (5000, 2))
        table, sizes, _ = en.microclusters(np.column_stack([coarse, fine]))
        tracemalloc.start()
        assert flow.at_chance(table, sizes, [3], EVERY[:5])[3]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 5e6

    @given(st.integers(0, 2**32 - 1))
    def test_against_the_moments_of_chi_squared(self, seed):
        rng = np.random.default_rng(seed)
        n, r, c = 60, int(rng.integers(2, 6)), int(rng.integers(2, 6))
        table = np.column_stack([rng.integers(0, r, n), rng.integers(0, c, n)]).astype(np.int32)
        table[:r, 0], table[:c, 1] = range(r), range(c)
        counts = scipy.stats.contingency.crosstab(*table.T).count
        chi2 = scipy.stats.chi2_contingency(counts, correction=False).statistic
        uneven = [(n / counts.sum(axis=axis)).sum() - s**2 for axis, s in ((1, r), (0, c))]
        mean = (r - 1) * (c - 1) * n / (n - 1)
        variance = 2 * (r - 1) * (c - 1) + uneven[0] * uneven[1] / n
        found = (chi2 - mean) / np.sqrt(variance)
        sizes = np.ones(n, dtype=np.int64)
        assert flow.at_chance(table, sizes, [0], EVERY[:2], deviations=found + 1e-9)[0]
        assert not flow.at_chance(table, sizes, [0], EVERY[:2], deviations=found - 1e-9)[0]

    def test_objects_without_both_votes_do_not_count(self):
        rng = np.random.default_rng(0)
        truth = np.repeat([0, 1, 2], 40)
        fine = truth * 5 + rng.integers(0, 5, 120)
        fine[30:] = -1
        table = np.column_stack([np.where(np.arange(120) < 30, -1, truth), fine]).astype(np.int32)
        assert flow.at_chance(table, np.ones(120, dtype=np.int64), [1], EVERY[:2])[
            1
        ]  # nothing in common
