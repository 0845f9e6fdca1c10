"""Members kept in a folder: interrupted runs are resumed, and foreign files are rejected."""

import io
import json
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from ensemblage.ensembles import generate, members

BLOBS, _ = make_blobs(60, n_features=3, centers=3, random_state=0)


class Counting(KMeans):
    """A clusterer that counts how often it is fitted."""

    fits = 0

    def fit_predict(self, X, y=None):
        type(self).fits += 1
        return super().fit_predict(X)


@pytest.fixture(autouse=True)
def from_zero():
    Counting.fits = 0


def test_the_same_call_makes_nothing_again(tmp_path):
    folder = tmp_path / "deep" / "pool"
    options = {"method": Counting(n_init=1), "random_state": 0, "checkpoint": folder}
    votes = generate(BLOBS, 4, **options)
    np.testing.assert_array_equal(votes, generate(BLOBS, 4, Counting(n_init=1), random_state=0))
    assert Counting.fits == 8
    np.testing.assert_array_equal(generate(BLOBS, 4, **options), votes)
    assert Counting.fits == 8
    more = generate(BLOBS, 6, **options)
    assert Counting.fits == 10
    np.testing.assert_array_equal(more[:, :4], votes)
    np.testing.assert_array_equal(generate(BLOBS, 2, **options), votes[:, :2])
    files = sorted(path.name for path in folder.iterdir())
    assert files == ["manifest.json", *(f"member-{i:06d}.npy" for i in range(6))]


def test_a_run_that_was_stopped_goes_on(tmp_path):
    options = {"method": Counting(n_init=1), "random_state": 0, "checkpoint": tmp_path}
    some = members(BLOBS, 6, n_jobs=1, **options)
    for _ in range(3):
        next(some)
    some.close()
    kept = len(list(tmp_path.glob("member-*.npy")))
    assert 3 <= kept < 6
    Counting.fits = 0
    votes = generate(BLOBS, 6, **options)
    assert Counting.fits == 6 - kept
    np.testing.assert_array_equal(votes, generate(BLOBS, 6, Counting(n_init=1), random_state=0))


KILLED = """
import sys, time
import numpy as np
from sklearn.cluster import KMeans
from ensemblage.ensembles import generate

class Slow(KMeans):
    def fit_predict(self, X, y=None):
        time.sleep(0.05)
        return super().fit_predict(X)

features = np.load(sys.argv[1])
generate(features, int(sys.argv[3]), Slow(n_init=1), random_state=0, checkpoint=sys.argv[2],
         n_jobs=1)
"""


def test_a_process_that_was_killed(tmp_path):
    np.save(tmp_path / "features.npy", BLOBS)
    folder = tmp_path / "pool"
    command = [sys.executable, "-c", KILLED, str(tmp_path / "features.npy"), str(folder)]
    process = subprocess.Popen([*command, "1000"])
    for _ in range(600):
        if len(list(folder.glob("member-*.npy"))) >= 3:
            break
        time.sleep(0.05)
    process.kill()
    process.wait()
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("member-*.npy")}
    n_members = len(before) + 2
    subprocess.run([*command, str(n_members)], check=True)
    after = {path.name: path.stat().st_mtime_ns for path in folder.glob("member-*.npy")}
    assert len(after) == n_members
    assert before.items() <= after.items()
    expected = generate(BLOBS, n_members, KMeans(n_init=1), random_state=0)
    for index in range(n_members):
        labels = np.load(folder / f"member-{index:06d}.npy")
        np.testing.assert_array_equal(labels, expected[:, index])


def npz_of(array):
    file = io.BytesIO()
    np.savez(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:-7],
        lambda whole: whole[:20],
        lambda whole: b"nonsense" * 30,
        lambda whole: b"PK\x03\x04" + whole,
        lambda whole: npz_of(np.arange(60)),
        lambda whole: whole.replace(b"(60,), }          ", b"(60000000000000,)}"),
        lambda whole: whole + b"\x00",
        lambda whole: whole[:-3] + b"\x80\x80\x80",
        lambda whole: whole[:150] + bytes([whole[150] ^ 1]) + whole[151:],
        None,
    ],
)
def test_damaged_members_are_made_again(tmp_path, damage):
    options = {"random_state": 0, "checkpoint": tmp_path}
    votes = generate(BLOBS, 3, **options)
    path = tmp_path / "member-000001.npy"
    whole = path.read_bytes()
    other = (tmp_path / "member-000002.npy").read_bytes()
    path.write_bytes(other if damage is None else damage(whole))
    with pytest.warns(UserWarning, match="member-000001.npy is damaged or was changed, so this cl"):
        np.testing.assert_array_equal(generate(BLOBS, 3, **options), votes)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"features": BLOBS + 1e-9}, "features"),
        ({"features": BLOBS.astype(np.float32)}, "features"),
        ({"scale": "minmax"}, "features"),
        ({"method": "rpcl"}, "method"),
        ({"method": ["kmeans", "kmeans"]}, "method"),
        ({"n_clusters_range": (2, 9)}, "n_clusters_range"),
        ({"subspace": 2}, "subspace"),
        ({"projection": 2}, "projection"),
        ({"subsample": 0.5}, "subsample"),
        ({"random_state": 1}, "seed"),
    ],
)
def test_the_folder_of_another_run_is_refused(tmp_path, change, word):
    same = {"features": BLOBS, "random_state": 0, "checkpoint": tmp_path, "n_members": 1}
    generate(**same)
    with pytest.raises(ValueError, match=f"belongs to another run. Different: {word}"):
        generate(**{**same, **change})
    generate(**same)


def test_estimators_are_told_apart(tmp_path):
    same = {"features": BLOBS, "random_state": 0, "checkpoint": tmp_path, "n_members": 1}
    generate(method=KMeans(n_init=1), **same)
    generate(method=KMeans(n_init=1), **same)
    with pytest.raises(ValueError, match="Different: method"):
        generate(method=KMeans(n_init=2), **same)


def times(factor):
    return lambda x: x * factor


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda x: x + 1, lambda x: x + 2),
        (times(np.arange(3.0)), times(np.arange(3.0) + 1)),
        (partial(np.clip, a_min=0, a_max=1), partial(np.clip, a_min=0, a_max=2)),
        (np.abs, np.sin),
    ],
)
def test_functions_are_told_apart(tmp_path, one, other):
    def call(function):
        method = make_pipeline(FunctionTransformer(function), KMeans(n_init=1))
        return generate(BLOBS, 1, method, random_state=0, checkpoint=tmp_path)

    np.testing.assert_array_equal(call(one), call(one))
    with pytest.raises(ValueError, match="Different: method"):
        call(other)


def test_what_cannot_be_described_has_no_checkpoint(tmp_path):
    method = make_pipeline(FunctionTransformer(kw_args={"a": object()}), KMeans(n_init=1))
    with pytest.raises(ValueError, match=r"type builtins.object has no description"):
        generate(BLOBS, 1, method, checkpoint=tmp_path / "pool")


def test_a_folder_in_the_place_of_a_member(tmp_path):
    votes = generate(BLOBS, 2, random_state=0, checkpoint=tmp_path)
    (tmp_path / "member-000001.npy").unlink()
    (tmp_path / "member-000001.npy").mkdir()
    again = generate(BLOBS, 2, random_state=0, checkpoint=tmp_path)
    np.testing.assert_array_equal(again, votes)


def test_a_manifest_that_was_being_written(tmp_path):
    (tmp_path / ".unfinished-0123456789ab").write_text("{")
    assert generate(BLOBS, 1, checkpoint=tmp_path).shape == (60, 1)
    (tmp_path / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="is not a readable checkpoint manifest"):
        generate(BLOBS, 1, checkpoint=tmp_path)


def test_without_a_seed_the_folder_has_it(tmp_path):
    first = generate(BLOBS, 2, checkpoint=tmp_path)
    more = generate(BLOBS, 4, checkpoint=tmp_path)
    np.testing.assert_array_equal(more[:, :2], first)
    seeds = [generate(BLOBS, 4, checkpoint=tmp_path / name) for name in ("a", "b")]
    assert (seeds[0] != seeds[1]).any()


def test_what_is_no_checkpoint_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="must be a folder, got a file"):
        generate(BLOBS, 1, checkpoint=tmp_path / "file")
    with pytest.raises(ValueError, match="contains other files and no manifest"):
        generate(BLOBS, 1, checkpoint=tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps([1]))
    with pytest.raises(ValueError, match="is not a readable checkpoint manifest"):
        generate(BLOBS, 1, checkpoint=tmp_path)
    assert (tmp_path / "file").read_text() == "mine"
