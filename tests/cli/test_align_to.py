"""``--align-to``: clusters keep the numbers that most of their objects had in an earlier file."""

import numpy as np
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app

TRUTH = np.repeat([0, 1, 2], [20, 50, 30])
IDS = np.array([f"cell{i}" for i in range(100)], dtype=object)


@pytest.fixture
def votes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 3, (100, 6))
    labels = np.where(rng.random((100, 6)) < 0.1, noise, TRUTH[:, None])
    columns = {f"m{m}": labels[:, m] for m in range(6)}
    tables.write("plain.csv", columns)
    tables.write("votes.csv", {"id": IDS, **columns})
    return labels


def run(*arguments):
    return CliRunner().invoke(app, ["consensus", *map(str, arguments), "-q"])


def labels_of(path, name="label"):
    return np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")[name]


def test_objects_are_matched_by_id_and_new_ones_have_no_earlier_label(votes):
    some = np.random.default_rng(1).permutation(100)[:60]
    earlier = np.array([7, 4, 9])[TRUTH]
    tables.write("earlier.csv", {"id": IDS[some], "label": earlier[some]})
    done = run("votes.csv", "-k", 3, "--align-to", "earlier.csv", "-o", "labels.csv")
    assert done.exit_code == 0, done.stderr
    found = labels_of("labels.csv")
    assert (found == earlier).mean() > 0.95
    expected = np.where(np.isin(np.arange(100), some), earlier, -1)
    plain = en.Consensus(3, random_state=0).fit_predict(votes)
    np.testing.assert_array_equal(found, en.metrics.align(plain, to=expected))


def test_objects_without_ids_are_matched_by_place(votes):
    first = run("plain.csv", "-k", 2, "-o", "earlier.csv")
    assert first.exit_code == 0, first.stderr
    done = run("plain.csv", "-k", 3, "--align-to", "earlier.csv", "-o", "labels.csv")
    assert done.exit_code == 0, done.stderr
    before, after = labels_of("earlier.csv"), labels_of("labels.csv")
    assert set(after) == {0, 1, 2}
    plain = en.Consensus(3, random_state=0).fit_predict(votes)
    np.testing.assert_array_equal(after, en.metrics.align(plain, to=before))


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_true_labels_that_were_kept_are_no_earlier_labels(votes, suffix):
    columns = {f"m{m}": votes[:, m] for m in range(6)}
    tables.write("votes.csv", {"id": IDS, **columns, "gt": 5 + TRUTH, "truth": 5 + TRUTH})
    call = ("votes.csv", "-k", 3, "--columns", "m*", "--keep", "gt,truth", "-o")
    assert run(*call, f"earlier.{suffix}").exit_code == 0
    done = run(*call, "labels.csv", "--align-to", f"earlier.{suffix}")
    assert done.exit_code == 0, done.stderr
    assert set(labels_of("labels.csv")) == {0, 1, 2}
    tables.write("earlier.csv", {"id": IDS, "gt": 5 + TRUTH})  # the only column
    done = run(*call, "labels.csv", "--align-to", "earlier.csv")
    assert set(labels_of("labels.csv")) == {5, 6, 7}
    tables.write("earlier.csv", {"id": IDS, "gt": 5 + TRUTH, "mine": TRUTH})
    done = run(*call, "labels.csv", "--align-to", "earlier.csv")
    assert "none called label, labels, cluster. Rename" in " ".join(done.stderr.split())


def test_each_column_of_a_range_is_aligned(votes):
    tables.write("earlier.csv", {"id": IDS, "label": np.array([7, 4, -1])[TRUTH]})
    options = ("-m", "eac", "--k-range", "2:4", "--align-to", "earlier.csv", "-o", "cuts.csv")
    done = run("votes.csv", *options)
    assert done.exit_code == 0, done.stderr
    fitted = en.EAC(4).fit(votes)
    for k in (2, 3, 4):
        expected = fitted.cut(k, align_to=np.array([7, 4, -1])[TRUTH])
        np.testing.assert_array_equal(labels_of("cuts.csv", f"k{k}"), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--by-size",), "it cannot be used with --by-size"),
        (("--save", "m.ensemblage"), "it cannot be used with --save"),
        (("--cluster-table", "c.csv"), "it cannot be used with --cluster-table"),
        (("--engine", "stream"), "--align-to need the votes in memory"),
        (("--engine", "dask"), "--align-to need the votes in memory"),
    ],
)
def test_outputs_with_numbers_of_their_own_are_refused(votes, options, message):
    tables.write("earlier.csv", {"id": IDS, "label": TRUTH})
    done = run("votes.csv", "-k", 3, "--align-to", "earlier.csv", "-o", "labels.csv", *options)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"label": TRUTH[:99]}, "99 earlier labels, but there are 100 objects"),
        ({"label": np.array(list("abc"), dtype=object)[TRUTH]}, "--align-to must be the earlier"),
        (
            {"id": np.append(IDS[1:], IDS[5]), "label": TRUTH},
            "for the object 'cell5' of the votes, by the ids in 'id'. It must have one at most",
        ),
    ],
    ids=["too few", "names", "twice"],
)
def test_earlier_labels_that_cannot_be_used(votes, columns, message):
    tables.write("earlier.csv", columns)
    source = "votes.csv" if "id" in columns else "plain.csv"
    done = run(source, "-k", 3, "--align-to", "earlier.csv", "-o", "labels.csv")
    assert done.exit_code != 0
    assert message in " ".join(done.stderr.split())


def test_the_earlier_file_is_not_replaced_and_must_be_there(votes):
    tables.write("earlier.csv", {"id": IDS, "label": TRUTH})
    done = run("votes.csv", "-k", 3, "--align-to", "earlier.csv", "-o", "earlier.csv")
    assert done.exit_code == 2
    assert "earlier.csv is the input" in " ".join(done.stderr.split())
    done = run("votes.csv", "-k", 3, "--align-to", "none.csv", "-o", "labels.csv")
    assert done.exit_code != 0
    assert "none.csv" in done.stderr
