"""The original files of datasets: what is made of them, and checks before they are parsed."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from kept_arrays import arrays_of
from scipy.io import savemat

from ensemblage import datasets, tables
from ensemblage.datasets import _catalogue, _load
from ensemblage.datasets._convert import CONVERTERS

pytestmark = pytest.mark.usefixtures("cache", "no_network")
FOUND = sorted((Path(__file__).parents[1] / "tables" / "found" / "mat").iterdir())


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
