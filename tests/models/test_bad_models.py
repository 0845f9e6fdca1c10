"""Files that are not models, or damaged: each raises a clear error, and nothing of it is run."""

import gzip
import io
import json
import os
import pickle
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensemblage as en
from ensemblage.tables import FileFormatError

VOTES = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2]])


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "model.ensemblage"
    en.EAC(2).fit(VOTES).save(path)
    return path


@pytest.fixture(scope="module")
def good_clusterer(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "clusterer.ensemblage"
    features = np.random.default_rng(0).normal(size=(20, 3))
    clusterer = en.EnsembleClustering(2, n_members=2, scale="minmax", subspace=2, random_state=0)
    clusterer.fit(features).save(path)
    return path


def parts_of(path):
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    arrays = {
        name.removesuffix(".npy"): np.load(io.BytesIO(content))
        for name, content in entries.items()
        if name.endswith(".npy")
    }
    return json.loads(entries["model.json"]), arrays


def write(path, header, arrays):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", header if isinstance(header, str) else json.dumps(header))
        for name, array in arrays.items():
            stream = io.BytesIO()
            np.save(stream, array, allow_pickle=True)
            archive.writestr(f"{name}.npy", stream.getvalue())
    return path


def refused(path, match):
    with pytest.raises(FileFormatError, match=match) as caught:
        en.load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_no_file_and_other_files(tmp_path, good):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        en.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        en.load(tmp_path)
    for content in (b"", b"id,a,b\n1,2,3\n", pickle.dumps({"a": 1}), os.urandom(500)):
        (tmp_path / "other").write_bytes(content)
        refused(tmp_path / "other", "not a saved model")
    np.savez(tmp_path / "votes.npz", votes=VOTES)
    refused(tmp_path / "votes.npz", r"zip archive without model\.json")


def test_a_gzipped_model_is_read(tmp_path, good):
    (tmp_path / "model.gz").write_bytes(gzip.compress(good.read_bytes()))
    np.testing.assert_array_equal(en.load(tmp_path / "model.gz").labels_, en.load(good).labels_)


def test_a_truncated_file(tmp_path, good):
    content = good.read_bytes()
    for length in range(0, len(content), 97):
        (tmp_path / "cut").write_bytes(content[:length])
        refused(tmp_path / "cut", "damaged or truncated")


def test_an_array_under_a_damaged_name_is_missed(tmp_path, good):
    content = good.read_bytes()
    at = content.rindex(b"of_object.npy")  # in the directory at the end
    (tmp_path / "model").write_bytes(content[:at] + b"of_object.npx" + content[at + 13 :])
    refused(tmp_path / "model", "unexpected entry 'of_object.npx'")


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@pytest.mark.parametrize("name", ["model.json", "sizes.npy"])
def test_an_entry_that_is_there_twice(name, tmp_path, good):
    path = tmp_path / "model"
    path.write_bytes(good.read_bytes())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, archive.read(name))
    refused(path, "its list of entries is invalid")


@pytest.mark.parametrize("which", ["good", "good_clusterer"])
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_flipped_bytes_are_noticed_or_harmless(which, request, tmp_path_factory, data):
    """A changed file is refused, or is the same model: checksums notice whatever is inside."""
    path = request.getfixturevalue(which)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
    changed = tmp_path_factory.mktemp("flipped") / "model"
    changed.write_bytes(content)
    try:
        found = en.load(changed)
    except (FileFormatError, en.MemoryBudgetError):
        return
    np.testing.assert_array_equal(found.labels_, en.load(path).labels_)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10), st.floats(-2, 2), st.just("x"), st.just([]),
    st.just({}), st.just([[]]), st.just(["x", 1]), st.just(2**80),
)  # fmt: skip


@pytest.mark.parametrize("which", ["good", "good_clusterer"])
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_headers_that_lie_are_refused_or_harmless(which, request, tmp_path_factory, data):
    """With right checksums: any value of the header replaced, or any array by another."""
    header, arrays = parts_of(request.getfixturevalue(which))
    if data.draw(st.booleans()):
        inside = header
        while True:
            key = data.draw(st.sampled_from(sorted(inside)))
            if not isinstance(inside[key], dict) or not inside[key] or data.draw(st.booleans()):
                break
            inside = inside[key]
        if data.draw(st.booleans()):
            inside[key] = data.draw(VALUES)
        else:
            del inside[key]
    else:
        name = data.draw(st.sampled_from(sorted(arrays)))
        array = arrays[name]
        change = data.draw(st.sampled_from(["drop", "cast", "shift", "short", "flat", "huge"]))
        if change == "drop":
            del arrays[name]
        else:
            arrays[name] = {
                "cast": array.astype(np.float32 if array.dtype.kind == "i" else np.int8),
                "shift": array + data.draw(st.integers(-3, 3)),
                "short": array[:-1],
                "flat": array.ravel(),
                "huge": np.full_like(array, 2**30 if array.dtype.itemsize > 2 else 100),
            }[change]
    path = write(tmp_path_factory.mktemp("lies") / "model", header, arrays)
    try:
        found = en.load(path)
    except (FileFormatError, en.MemoryBudgetError):
        return
    # Whatever is loaded then may raise a clear error, and does not crash.
    new = VOTES if which == "good" else np.zeros((2, 3))
    for ask in (lambda: found.predict(new), lambda: found.cut(2), lambda: found.confidence_):
        with suppress(ValueError, TypeError, AttributeError):
            ask()


CASES = {
    "another format": (lambda h, a: h.update(format="x"), "header is of another format"),
    "no version": (lambda h, a: h.update(version="1"), "its version is '1'"),
    "the future": (
        lambda h, a: h.update(version=99, ensemblage="7.0"),
        r"saved by ensemblage 7\.0 in version 99 .* up to 2\. Install a newer ensemblage",
    ),
    "no class": (lambda h, a: h.pop("class"), "it has no 'class'"),
    "a foreign class": (lambda h, a: h.update({"class": "os.system"}), "method 'os.system' is"),
    "a list for a class": (lambda h, a: h.update({"class": []}), r"its method \[\] is unknown"),
    "foreign parameters": (lambda h, a: h["parameters"].update(x=1), "not those of EAC"),
    "a method replaced": (lambda h, a: h["found"].update(predict=1), "'predict' is not a fitted"),
    "a dunder": (lambda h, a: h["found"].update(__class__=1), "'__class__' is not a fitted"),
    "no sizes": (lambda h, a: a.pop("sizes"), "array 'sizes' is missing"),
    "sizes of 0": (lambda h, a: a.update(sizes=a["sizes"] * 0), "have no objects"),
    "fewer labels": (lambda h, a: h["labels"].pop(), "not have the labels of 3 clusterings"),
    "a label too few": (lambda h, a: h["labels"][0].pop(), "votes do not match their labels"),
    "labels that are lists": (lambda h, a: h["labels"][0].__setitem__(0, []), "invalid labels"),
    "names of others": (lambda h, a: h.update(names=["a"]), "not have the names of 3 clusterings"),
    "objects elsewhere": (
        lambda h, a: a.update(of_object=a["of_object"] + 1),
        "objects do not match its microclusters",
    ),
    "labels past k": (lambda h, a: a.update(micro_labels=a["micro_labels"] + 1), "number of clus"),
    "a tree with a loop": (
        lambda h, a: a["found/linkage_matrix_"].__setitem__((0, 0), 99),
        "tree merges nodes that do not exist",
    ),
    "a tree that merges twice": (
        lambda h, a: a["found/linkage_matrix_"].__setitem__(
            (1, 0), a["found/linkage_matrix_"][0, 0]
        ),
        "tree merges nodes that do not exist",
    ),
    "a tree of others": (
        lambda h, a: a.update({"found/linkage_matrix_": a["found/linkage_matrix_"][:-1]}),
        "tree does not have",
    ),
    "no list of what is missing": (lambda h, a: h.update(left_out=3), "list of omitted attributes"),
    "more clusters than groups": (
        lambda h, a: h["found"].update(n_clusters_=3 * 10**8),
        "6 objects for its 300000000 clusters",
    ),
    "clusters beyond 64 bits": (lambda h, a: h["found"].update(n_clusters_=10**30), "objects for"),
    "a text for an estimator": (lambda h, a: h["found"].update(_named="x"), "'_named' is not a fi"),
    "a number for a matrix": (lambda h, a: h["found"].update(_similarity=1), "'_similarity' is n"),
    "a text for a number": (lambda h, a: h["found"].update(_captured="x"), "'_captured' is not a"),
    "a number for a text": (lambda h, a: h["found"].update(_reasons=1), "'_reasons' is not a fit"),
    "half a seed": (lambda h, a: h["found"].update(_seed=0.5), "its seed is not a number"),
}


@pytest.mark.parametrize("case", CASES)
def test_parts_that_do_not_fit(case, good, tmp_path):
    header, arrays = parts_of(good)
    change, match = CASES[case]
    change(header, arrays)
    refused(write(tmp_path / "model", header, arrays), match)


def test_nothing_is_unpickled(good, tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    header, arrays = parts_of(good)
    arrays["sizes"] = np.array([Trap()], dtype=object)
    refused(write(tmp_path / "model", header, arrays), "not a type that is saved")
    assert not (tmp_path / "sprung").exists()


def test_a_header_is_measured_as_it_will_be_parsed(good, tmp_path, monkeypatch):
    header, arrays = parts_of(good)
    path = write(tmp_path / "bomb", json.dumps(header | {"x": [[]] * 100_000}), arrays)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "8MB")
    with pytest.raises(MemoryError, match="would take 12"):
        en.load(path)


def test_bombs_do_not_go_off(good, tmp_path, monkeypatch):
    header, arrays = parts_of(good)
    arrays["extra"] = np.zeros(10**7)
    path = write(tmp_path / "large", header, arrays)
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1000000")
    with pytest.raises(en.MemoryBudgetError, match="The content of"):
        en.load(path)
    monkeypatch.delenv("ENSEMBLAGE_MEMORY")
    # An entry that says it is small, and a header of an array that says it is large.
    del arrays["extra"]
    path = write(tmp_path / "liar", header, arrays)
    content = path.read_bytes()
    place = content.rindex(b"table.npy") - 46 + 24  # its size in the directory of the archive
    path.write_bytes(content[:place] + b"\xff\xff\xff\x7f" + content[place + 4 :])
    with pytest.raises((FileFormatError, en.MemoryBudgetError)):
        en.load(path)
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"shape": (10**12,), "fortran_order": False, "descr": "<i8"}
    )
    with zipfile.ZipFile(tmp_path / "claims", "w") as archive:
        archive.writestr("model.json", json.dumps(header))
        archive.writestr("sizes.npy", stream.getvalue())
    refused(tmp_path / "claims", r"shape \(1000000000000,\) .*in 0 bytes")


def test_json_without_end(tmp_path):
    refused(write(tmp_path / "deep", "[" * 10**6, {}), "damaged")
    refused(write(tmp_path / "list", "[]", {}), "is not a JSON object")
