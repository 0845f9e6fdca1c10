"""Constants that decide: each is tested on both sides of it."""

import gzip
import warnings
import zipfile

import numpy as np
import pytest

import ensemblage as en
from ensemblage import datasets, tables
from ensemblage.datasets import _catalogue, _load
from ensemblage.ensembles import _consensus
from ensemblage.methods import _reliability
from ensemblage.metrics import explain
from ensemblage.metrics.choosing import _verdict
from ensemblage.report import _facts, _findings


def findings(curve, decisive="support"):
    ks = np.arange(2, 2 + len(curve))
    curve = np.array(curve, dtype=float)
    every = np.ones(len(ks), bool)
    return _verdict.Findings(
        "EAC", ks, {decisive: curve}, {decisive: None}, decisive, every, every, 99
    )


class TestChoosing:
    def test_close_is_a_twentieth_of_the_spread(self):
        found = findings([1.0, 0.951, 0.949, 0.85, 0.0])
        assert _verdict._close(found, 2).tolist() == [3]

    def test_peaks_in_the_lower_half_are_no_runners_up(self):
        found = findings([1.0, 0.2, 0.4, 0.1, 0.6, 0.0])
        assert _verdict._runners_up(found, 2) == [6]


class TestOutliers:
    scores = np.array([0.80, 0.82, 0.78, 0.80, 0.81, 0.79])

    def test_are_below_half_of_the_median_at_least(self):
        assert explain.lowest_usual(self.scores) == pytest.approx(0.4)

    def test_are_three_robust_deviations_below(self):
        spread = np.array([0.9, 0.7, 0.5, 0.3, 0.8, 0.6, 0.4])
        assert explain.lowest_usual(spread) == pytest.approx(min(0.6 - 3 * 1.4826 * 0.2, 0.3))
        wide = np.array([1.0, 0.9, 1.0, 0.9, 0.8])
        deviation = np.median(np.abs(wide - 0.9))
        assert explain.lowest_usual(wide) == pytest.approx(min(0.9 - 4.4478 * deviation, 0.45))


def test_objects_are_sure_from_a_half_on():
    class Fitted:
        confidence_ = np.array([0.6, 0.5, 0.49, 0.31, 0.0])
        n_clusters_ = 2

    said = _findings._confidence(Fitted, {"weak": []})
    assert said.startswith("2 of 5 objects (40 %)")


def test_seeds_are_compared_up_to_a_number_of_microclusters(monkeypatch):
    votes = np.random.default_rng(0).integers(0, 3, (60, 4))
    est = en.PTGP(3, random_state=0).fit(votes)
    monkeypatch.setattr(_facts, "MOST_MICROCLUSTERS", est.n_microclusters_)
    assert _facts.seed_facts(est) is not None
    monkeypatch.setattr(_facts, "MOST_MICROCLUSTERS", est.n_microclusters_ - 1)
    assert _facts.seed_facts(est) is None


@pytest.mark.parametrize(("n", "compared"), [(20_000, True), (20_001, False)])
def test_that_number_of_microclusters(n, compared, monkeypatch):
    class Fitted:
        n_microclusters_ = n

    monkeypatch.setattr(_facts.metrics, "seed_spread", lambda _: "spread")
    assert (_facts.seed_facts(Fitted) == "spread") == compared


def test_predict_prefers_the_larger_microcluster_of_those_that_agree_as_much():
    votes = [[0, 0]] * 2 + [[1, 1]] * 5
    est = en.EAC(2).fit(votes)
    assert est.predict([[0, 1]]).tolist() == [est.labels_[-1]]
    assert en.EAC(2).fit(votes[::-1]).predict([[0, 1]]).tolist() == [0]
    even = en.EAC(2).fit([[0, 0], [1, 1]])
    assert even.predict([[1, 0]]).tolist() == [0]  # the earlier, where both are as large


def test_consensus_of_an_ensemble_gets_the_seed_of_the_ensemble():
    votes = np.random.default_rng(0).integers(0, 4, (80, 6))
    for seed in (3, 4):
        found = _consensus.find_consensus(en.PTGP(), votes, 3, seed, None)
        alone = en.PTGP(3, random_state=seed).fit(votes)
        assert found.random_state == seed
        np.testing.assert_array_equal(found.labels_, alone.labels_)
    kept = _consensus.find_consensus(en.PTGP(random_state=9), votes, 3, 4, None)
    assert kept.random_state == 9


def test_an_archive_with_a_name_twice_is_refused(tmp_path):
    path = tmp_path / "model.ensemblage"
    en.EAC(2).fit([[0, 0], [1, 1], [1, 0]]).save(path)
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".npy"))
        content = archive.read(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of it too
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(name, content)
    with pytest.raises(en.tables.FileFormatError, match="list of entries is invalid"):
        en.load(path)


def test_a_method_is_unreliable_below_nine_tenths_of_the_default():
    assert _reliability.Agreement(0.719, 0.8).is_unreliable
    assert not _reliability.Agreement(0.721, 0.8).is_unreliable


@pytest.mark.parametrize("part", ["shape", "features", "classes"])
def test_every_part_of_a_fingerprint_is_compared(part):
    arrays = {"X": np.arange(12.0).reshape(4, 3), "y": np.array([3, 1, 1, 7])}
    right = {
        "shape": (4, 3),
        "features": _load._digest(arrays["X"], "float64"),
        "classes": _load._digest(arrays["y"], "int64"),
    }
    entry = _catalogue.find("PD")
    _load._verify(
        arrays, entry._replace(fingerprint=_catalogue.Fingerprint("float64", **right)), "x"
    )
    wrong = right | {part: (3, 4) if part == "shape" else "0" * 64}
    with pytest.raises(en.tables.FileFormatError, match=f"its {part} differ"):
        _load._verify(
            arrays, entry._replace(fingerprint=_catalogue.Fingerprint("float64", **wrong)), "x"
        )
    assert all(_catalogue.find(name).fingerprint is not None for name in datasets.NAMES)


class TestSizesOfFiles:
    def test_text_takes_eight_times_its_file_and_32_times_if_compressed(self, tmp_path):
        plain, packed = tmp_path / "votes.csv", tmp_path / "votes.csv.gz"
        text = b"a,b\n" + b"0,1\n" * 500
        plain.write_bytes(text)
        packed.write_bytes(gzip.compress(text))
        assert tables.bytes_in_memory([str(plain)]) == 8 * len(text)
        assert tables.bytes_in_memory([str(packed)]) == 32 * packed.stat().st_size

    def test_a_name_counts_sixteen_bytes(self, tmp_path):
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "votes.parquet"
        votes = {"a": ["x", "y"] * 50, "b": np.array([1, 2] * 50, np.int16)}
        parquet.write_table(arrow.table(votes), path)
        assert tables.bytes_in_memory([str(path)]) == 100 * (2 * (16 + 2) + 64)

    @pytest.mark.parametrize("suffix", ["parquet", "arrow", "orc"])
    def test_rows_count_also_where_the_file_has_hardly_a_byte_of_them(self, tmp_path, suffix):
        path, n = tmp_path / f"votes.{suffix}", 100_000
        tables.write(path, {"a": np.zeros(n, np.int8), "b": np.zeros(n, np.int8)})
        assert tables.bytes_in_memory([str(path)]) >= n * (2 * 2 + 64)


@pytest.mark.parametrize(
    ("kinds", "common"),
    [
        (["uint64", "int64"], "string"),
        (["uint64", "uint8"], "uint64"),
        (["int8", "uint32"], "int64"),
        (["int64", "string"], "string"),
        (["int16"], "int16"),
    ],
)
def test_ids_of_several_files_have_a_type_that_holds_all(kinds, common):
    arrow = pytest.importorskip("pyarrow")
    found = en.tables.columns.common_type([getattr(arrow, kind)() for kind in kinds])
    assert str(found) == common
