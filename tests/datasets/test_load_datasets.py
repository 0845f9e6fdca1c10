"""Datasets by name: where they are looked for, what is accepted, what a refusal says."""

import numpy as np
import pytest
from kept_arrays import arrays_of

import ensemblage as en
from ensemblage import datasets, tables
from ensemblage.datasets import _catalogue, _load
from ensemblage.datasets._convert import tenth

pytestmark = pytest.mark.usefixtures("cache", "no_network")
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
SMALL = {"X": np.arange(12.0).reshape(4, 3), "y": np.array([3, 1, 1, 7])}


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
