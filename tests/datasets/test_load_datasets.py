"""Datasets by name: where they are looked for, what is accepted, what a refusal says."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

import ensemblage as en
from ensemblage import datasets, tables
from ensemblage.datasets import _catalogue, _load
from ensemblage.datasets._convert import CONVERTERS, tenth

SHAPES = {
    "MF": (2000, 649, 10),
    "IS": (2310, 19, 7),
    "MNIST": (5000, 784, 10),
    "ODR": (5620, 64, 10),
    "LS": (6435, 36, 6),
    "PD": (10992, 16, 10),
    "USPS": (11000, 256, 10),
    "FC": (11340, 54, 7),
    "KDD99-10P": (49402, 41, 18),
    "KDD99": (494021, 41, 23),
}
#: Files that ended the process in other readers.
FOUND = sorted((Path(__file__).parents[1] / "tables" / "found" / "mat").iterdir())
SMALL = {"X": np.arange(12.0).reshape(4, 3), "y": np.array([3, 1, 1, 7])}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, and no data folder, so that nothing is found by chance."""
    monkeypatch.setenv("ENSEMBLAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(tmp_path / "nowhere"))
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(urls, *_, **__):
        raise datasets.DownloadError(f"{urls[0]}: Connection refused")

    monkeypatch.setattr(_load, "fetch", refuse)


def arrays_of(data_folder, name):
    return tables.read_arrays(data_folder / "data" / f"{name.replace('-', '_')}.npz")


class TestTheTen:
    @pytest.mark.parametrize("name", datasets.NAMES)
    def test_are_as_the_paper_has_them(self, data_folder, name):
        found = datasets.load(name, folder=data_folder)
        assert (*found.features.shape, found.n_classes) == SHAPES[name]
        assert found.features.dtype.kind == "f"
        assert found.features.flags.c_contiguous
        assert np.isfinite(found.features).all()
        assert found.truth.dtype == np.int64
        assert np.array_equal(np.unique(found.truth), np.arange(found.n_classes))
        assert len(found.class_names) == found.n_classes
        assert found.feature_names is None or len(found.feature_names) == SHAPES[name][1]
        assert found.scale == ("minmax" if name == "IS" else None)
        assert repr(found).startswith(f"Dataset({name}: ")

    @pytest.mark.parametrize("name", datasets.NAMES)
    def test_have_their_fingerprints(self, data_folder, name):
        _load._verify(arrays_of(data_folder, name), _catalogue.find(name), name)

    def test_come_in_the_order_of_the_paper(self):
        assert tuple(SHAPES) == datasets.NAMES
        assert en.datasets is datasets

    def test_have_a_tenth_that_can_be_made_again(self, data_folder):
        made = tenth(arrays_of(data_folder, "KDD99"))
        kept = arrays_of(data_folder, "KDD99-10P")
        assert np.array_equal(made["kdd99_index"], kept["kdd99_index"])
        _load._verify(made, _catalogue.find("KDD99-10P"), "made")

    def test_tell_what_codes_stand_for(self, data_folder):
        found = datasets.load("kdd99_10p", folder=data_folder)
        assert found.name == "KDD99-10P"
        assert found.categories["protocol_type"] == ("icmp", "tcp", "udp")
        assert found.class_names[found.truth[0]].endswith(".")
        assert datasets.load("USPS", folder=data_folder).class_names[-1] == "0"
        assert datasets.load("LS", folder=data_folder).class_names[-1] == "very damp grey soil"

    def test_have_single_cells_beside_them(self, data_folder):
        found = datasets.load("pbmc68k_reduced", folder=data_folder)
        assert (len(found.feature_names), len(found.class_names)) == (765, 10)
        assert datasets.load("Pollen", folder=data_folder).features.shape == (249, 6982)

    def test_agree_with_the_pools(self, data_folder):
        for name in ("MF", "ODR", "LS", "PD"):
            pool = datasets.load_pool(name, folder=data_folder)
            assert np.array_equal(pool.truth, datasets.load(name, folder=data_folder).truth)


class TestPlaces:
    def test_a_folder_of_data(self, tmp_path, monkeypatch):
        (tmp_path / "data").mkdir()
        np.savez(tmp_path / "data" / "PD.npz", **SMALL)
        for folder in (tmp_path, str(tmp_path / "data")):
            found = datasets.load("pd", folder=folder)
            assert found.truth.tolist() == [1, 0, 0, 2]
            assert found.class_names == ("1", "3", "7")
        monkeypatch.setenv("ENSEMBLAGE_DATA", str(tmp_path))
        assert datasets.load("PD").features.tolist() == SMALL["X"].tolist()

    def test_nothing_can_be_changed(self, tmp_path):
        np.savez(tmp_path / "PD.npz", **SMALL)
        found = datasets.load("PD", folder=tmp_path)
        with pytest.raises(ValueError, match="read-only"):
            found.features[0, 0] = 1
        with pytest.raises(AttributeError):
            found.name = "other"

    def test_a_tenth_of_another_file_is_refused(self, tmp_path):
        np.savez(tmp_path / "KDD99.npz", X=np.zeros((40, 3)), y=np.zeros(40, dtype=int))
        with pytest.raises(tables.FileFormatError, match=r"A tenth of .* its shape differ"):
            datasets.load("KDD99-10P", folder=tmp_path)

    def test_the_cache(self, cache):
        cache.mkdir()
        np.savez(cache / "PD.npz", **SMALL)
        assert datasets.load("PD", download=False).truth.tolist() == [1, 0, 0, 2]

    @pytest.mark.parametrize(
        ("platform", "place"),
        [
            ("linux", ".cache/ensemblage"),
            ("darwin", "Library/Caches/ensemblage"),
            ("win32", "AppData/Local/ensemblage"),
        ],
    )
    def test_the_cache_of_each_system(self, monkeypatch, tmp_path, platform, place):
        from ensemblage.datasets import _places

        for name in ("ENSEMBLAGE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(_places.sys, "platform", platform)
        monkeypatch.setattr(_places.Path, "home", lambda: tmp_path)
        assert _places.cache_folder() == tmp_path / place

    def test_beside_the_checkout_by_default(self, monkeypatch):
        from ensemblage.datasets import _places

        monkeypatch.delenv("ENSEMBLAGE_DATA")
        assert _places.data_folder(None).name == "shared"


class TestRefusals:
    def test_an_unknown_name(self):
        with pytest.raises(ValueError, match=r"Unknown dataset 'iris'\. Use one of MF, .*Pollen"):
            datasets.load("iris")

    def test_offline_says_what_to_place_where(self, tmp_path, cache):
        with pytest.raises(datasets.DownloadError) as refused:
            datasets.load("PD", folder=tmp_path, unverified=True)
        message = str(refused.value)
        assert f"no {tmp_path / 'data' / 'PD.npz'}" in message
        assert "pendigits.tes: Connection refused" in message
        assert f"Place PD.npz, with arrays X and y, in {tmp_path / 'data'}" in message
        assert f"original files in {cache / 'raw' / 'PD'}: pendigits.tes (from https" in message

    def test_without_permission_to_download(self):
        with pytest.raises(datasets.DownloadError, match="not fetched: download=False"):
            datasets.load("KDD99-10P", download=False)

    def test_no_public_file(self):
        with pytest.raises(datasets.DownloadError, match="it has no known public file"):
            datasets.load("Pollen")

    @pytest.mark.parametrize(
        ("arrays", "words"),
        [
            ({"X": SMALL["X"]}, "has no array 'y'"),
            ({"features": SMALL["X"], "y": SMALL["y"]}, "has no array 'X'.*It holds: features, y"),
            ({"X": SMALL["y"], "y": SMALL["y"]}, "X must be a table of numbers"),
            ({"X": SMALL["X"].astype(str), "y": SMALL["y"]}, "X must be a table of numbers"),
            ({"X": SMALL["X"], "y": SMALL["y"][:3]}, "y must be 4 integers"),
            ({"X": SMALL["X"], "y": SMALL["X"][:, 0]}, "y must be 4 integers"),
        ],
    )
    def test_a_file_that_is_no_dataset(self, tmp_path, arrays, words):
        np.savez(tmp_path / "PD.npz", **arrays)
        with pytest.raises(tables.FileFormatError, match=words):
            datasets.load("PD", folder=tmp_path)

    def test_a_truncated_file(self, tmp_path):
        np.savez(tmp_path / "PD.npz", **SMALL)
        whole = (tmp_path / "PD.npz").read_bytes()
        (tmp_path / "PD.npz").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(tables.FileFormatError, match="damaged, truncated"):
            datasets.load("PD", folder=tmp_path)

    def test_python_objects_are_not_unpickled(self, tmp_path):
        np.savez(tmp_path / "PD.npz", X=np.array([[{}]], dtype=object), y=np.array([0]))
        with pytest.raises(tables.FileFormatError, match="X must be a table"):
            datasets.load("PD", folder=tmp_path)


# -- original files, made again from the arrays ----------------------------------------------------


def write_numbers(path, table, delimiter=","):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, table, fmt="%d", delimiter=delimiter)


def with_class(arrays):
    return np.column_stack([arrays["X"], arrays["y"]]).astype(np.int64)


def original_pd(arrays, folder):
    write_numbers(folder / "pendigits.tes", with_class(arrays)[:3498])
    write_numbers(folder / "pendigits.tra", with_class(arrays)[3498:])


def original_odr(arrays, folder):
    write_numbers(folder / "optdigits.tes", with_class(arrays)[:1797])
    write_numbers(folder / "optdigits.tra", with_class(arrays)[1797:])


def original_ls(arrays, folder):
    write_numbers(folder / "sat.trn", with_class(arrays)[:4435], " ")
    write_numbers(folder / "sat.tst", with_class(arrays)[4435:], " ")


def original_fc(arrays, folder):
    table = with_class(arrays)
    write_numbers(folder / "covtype.data.gz", np.vstack([table, table[:50]]))


def original_mf(arrays, folder):
    views = {"fou": 76, "fac": 216, "kar": 64, "pix": 240, "zer": 47, "mor": 6}
    ends = np.cumsum(list(views.values()))[:-1]
    for view, part in zip(views, np.split(arrays["X"], ends, axis=1), strict=True):
        np.savetxt(folder / f"mfeat-{view}", part, fmt=" %.7g")


def original_is(arrays, folder):
    heading = "; notes\n\n\nREGION-CENTROID-COL,...\n\n"
    rows = [
        f"{arrays['class_names'][label - 1]},{','.join(f'{value:.9g}' for value in row)}\n"
        for row, label in zip(arrays["X"].tolist(), arrays["y"], strict=True)
    ]
    (folder / "segmentation.data").write_text(heading + "".join(rows[:210]))
    (folder / "segmentation.test").write_text(heading + "".join(rows[210:]))


def original_mnist(arrays, folder):
    order = np.argsort(arrays["train_index"])
    for name, part, shape in [
        ("train-images-idx3-ubyte", arrays["X"], (5000, 28, 28)),
        ("train-labels-idx1-ubyte", arrays["y"], (5000,)),
    ]:
        head = bytes([0, 0, 8, len(shape)]) + np.array(shape, dtype=">u4").tobytes()
        content = head + part[order].tobytes()
        (folder / f"{name}.gz").write_bytes(gzip.compress(content, 1))


def original_usps(arrays, folder):
    images = arrays["X"].reshape(10, 1100, 256).transpose(2, 1, 0)
    savemat(folder / "usps_all.mat", {"data": images})


ORIGINALS = {
    "MF": original_mf,
    "IS": original_is,
    "MNIST": original_mnist,
    "ODR": original_odr,
    "LS": original_ls,
    "PD": original_pd,
    "USPS": original_usps,
    "FC": original_fc,
}


@pytest.mark.parametrize("name", ORIGINALS)
def test_original_files_give_the_same_arrays(data_folder, tmp_path, name):
    kept = arrays_of(data_folder, name)
    ORIGINALS[name](kept, tmp_path)
    made = CONVERTERS[name](tmp_path)
    assert made["X"].dtype == kept["X"].dtype
    assert {word: made[word].tolist() for word in ("columns", "class_names") if word in kept} == {
        word: kept[word].tolist() for word in ("columns", "class_names") if word in kept
    }
    _load._verify(made, _catalogue.find(name), name)


def test_original_connections_give_the_same_arrays(data_folder, tmp_path):
    """Some rows of KDD99 in which every word occurs, so that their codes are those of the whole."""
    kept = arrays_of(data_folder, "KDD99")
    words = _load._categories(kept)
    columns = kept["columns"].tolist()
    places = {columns.index(name): words[name] for name in words if name != "label"}
    firsts = [np.unique(kept["X"][:, place], return_index=True)[1] for place in places]
    firsts.append(np.unique(kept["y"], return_index=True)[1])
    index = np.unique(np.concatenate([*firsts, np.arange(20_000)]))
    with gzip.open(tmp_path / "kddcup.data_10_percent.gz", "wt") as file:
        for row, label in zip(kept["X"][index].tolist(), kept["y"][index], strict=True):
            cells = [
                places[place][int(value)]
                if place in places
                else f"{value:g}"
                if value < 1000
                else str(int(value))
                for place, value in enumerate(row)
            ]
            file.write(",".join([*cells, words["label"][label]]) + "\n")
    made = CONVERTERS["KDD99"](tmp_path)
    assert np.array_equal(made["X"], kept["X"][index])
    assert np.array_equal(made["y"], kept["y"][index])
    assert _load._categories(made) == words
    assert made["columns"].tolist() == columns


class TestFromOriginals:
    def test_placed_by_hand_they_are_converted_and_kept(self, data_folder, cache):
        raw = cache / "raw" / "PD"
        original_pd(arrays_of(data_folder, "PD"), raw)
        found = datasets.load("PD", download=False)
        assert np.array_equal(found.features, datasets.load("PD", folder=data_folder).features)
        assert len(list(raw.iterdir())) == 2
        for path in raw.iterdir():
            path.unlink()
        assert datasets.load("PD", download=False).features.shape == (10992, 16)

    def test_fetched_they_are_removed_afterwards(self, data_folder, cache, monkeypatch):
        kept = arrays_of(data_folder, "PD")

        def fetch(urls, target, *, sha256):
            original_pd(kept, target.parent)

        monkeypatch.setattr(_load, "fetch", fetch)
        assert datasets.load("PD", unverified=True).features.shape == (10992, 16)
        assert [path.name for path in cache.rglob("*") if path.is_file()] == ["PD.npz"]

    def test_other_data_is_refused(self, data_folder, cache, monkeypatch):
        kept = arrays_of(data_folder, "PD")
        kept["X"][5, 5] += 1
        raw = cache / "raw" / "PD"
        original_pd(kept, raw)
        with pytest.raises(tables.FileFormatError, match="its features differ"):
            datasets.load("PD")
        assert len(list(raw.iterdir())) == 2  # somebody's files are left alone
        (raw / "pendigits.tra").write_text("<html>404</html>")
        with pytest.raises(tables.FileFormatError, match="damaged or of another layout"):
            datasets.load("PD")

        def fetch(urls, target, *, sha256):
            target.write_text("<html>404</html>")

        monkeypatch.setattr(_load, "fetch", fetch)
        (raw / "pendigits.tra").unlink()
        with pytest.raises(tables.FileFormatError, match="damaged or of another layout"):
            datasets.load("PD", unverified=True)
        assert [path.name for path in raw.iterdir()] == ["pendigits.tes"]


class TestBeforeParsing:
    def test_files_without_a_known_checksum_are_not_fetched(self, cache, monkeypatch):
        monkeypatch.setattr(_load, "fetch", lambda *_, **__: pytest.fail("it was fetched"))
        for name in ("MF", "IS", "LS", "PD", "USPS"):
            with pytest.raises(datasets.DownloadError, match=r"checksum of .* unverified=True"):
                datasets.load(name)

    def test_every_other_file_has_a_checksum(self):
        named = {file.name for entry in _catalogue._PAPER for file in entry.raw if file.sha256}
        assert named == {
            "covtype.data.gz",
            "kddcup.data_10_percent.gz",
            "optdigits.tes",
            "optdigits.tra",
            "train-images-idx3-ubyte.gz",
            "train-labels-idx1-ubyte.gz",
        }

    def test_the_checksums_of_digits_are_those_of_the_published_text(self, data_folder, cache):
        raw = cache / "raw" / "ODR"
        original_odr(arrays_of(data_folder, "ODR"), raw)
        assert datasets.load("ODR", download=False).features.shape == (5620, 64)

    def test_a_placed_file_is_compared_before_it_is_read(self, cache, monkeypatch):
        raw = cache / "raw" / "ODR"
        raw.mkdir(parents=True)
        for name in ("optdigits.tes", "optdigits.tra"):
            (raw / name).write_text("1,2,3")
        monkeypatch.setitem(CONVERTERS, "ODR", lambda _: pytest.fail("it was read"))
        with pytest.raises(tables.FileFormatError, match="is not the published file"):
            datasets.load("ODR")

    @pytest.mark.parametrize("path", FOUND, ids=[path.name for path in FOUND])
    def test_hostile_mat_files_end_in_an_error(self, cache, path):
        raw = cache / "raw" / "USPS"
        raw.mkdir(parents=True)
        (raw / "usps_all.mat").write_bytes(path.read_bytes())
        with pytest.raises((tables.FileFormatError, MemoryError)):
            datasets.load("USPS", download=False)
