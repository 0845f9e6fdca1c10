"""Pools of base clusterings: from files of every kind, and the ensembles drawn from them."""

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from ensemblage import datasets, tables

MEMBERS = np.random.default_rng(0).integers(1, 5, (30, 8)).astype(np.uint8)
GT = np.repeat([1, 2, 7], 10)


class TestTheAuthors:
    @pytest.mark.parametrize("name", ["MF", "IS", "ODR", "LS", "PD"])
    def test_pools_come_by_name(self, data_folder, name):
        pool = datasets.load_pool(name.lower(), folder=data_folder)
        content = loadmat(data_folder / "pools" / f"bc_pool_{name}.mat")
        assert pool.name == name
        assert np.array_equal(pool.members, content["members"])
        assert pool.truth.min() == 0
        assert len(np.unique(pool.truth)) == pool.truth.max() + 1
        assert len(np.unique(np.column_stack([pool.truth, content["gt"]]), axis=0)) == len(
            np.unique(content["gt"])
        )

    def test_draws_are_those_of_the_published_records(self, data_folder):
        pool = datasets.load_pool("MF", folder=data_folder)
        rng = np.random.default_rng([20160501, 10, 3])
        columns = rng.choice(200, 10, replace=False)
        assert np.array_equal(pool.draw(10, 3), pool.members[:, columns])
        known = [25, 4, 174, 83, 29, 98, 48, 151, 170, 130]
        assert np.array_equal(pool.draw(10, 0), pool.members[:, known])


class TestDraws:
    POOL = datasets.Pool(MEMBERS, None, "small")

    def test_are_columns_without_replacement(self):
        everything = self.POOL.draw(8, 1)
        assert sorted(map(tuple, everything.T)) == sorted(map(tuple, MEMBERS.T))
        assert np.array_equal(self.POOL.draw(3, 2), self.POOL.draw(3, 2))
        assert not np.array_equal(self.POOL.draw(3, 2), self.POOL.draw(3, 4))
        self.POOL.draw(3, 2)[0, 0] = 99  # a copy: the pool stays as it was
        assert MEMBERS.max() < 5

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((9, 0), "n_members must be at most 8, the size of the pool small, got 9"),
            ((0, 0), "'n_members'"),
            ((2.5, 0), "'n_members'"),
            ((2, -1), "'draw'"),
        ],
    )
    def test_refuse_what_cannot_be_drawn(self, arguments, words):
        with pytest.raises(ValueError, match=words):
            self.POOL.draw(*arguments)


class TestFiles:
    @pytest.mark.parametrize("name", ["KDD99_10P", "KDD99-10P"])
    def test_both_spellings(self, tmp_path, name):
        (tmp_path / "pools").mkdir()
        savemat(tmp_path / "pools" / f"bc_pool_{name}.mat", {"members": MEMBERS})
        for asked in ("KDD99-10P", "KDD99_10P", "kdd99_10p"):
            pool = datasets.load_pool(asked, folder=tmp_path)
            assert (pool.name, pool.truth) == ("KDD99-10P", None)

    def test_any_other_name(self, tmp_path):
        savemat(tmp_path / "bc_pool_Mine.mat", {"members": MEMBERS, "gt": GT[:, None]})
        pool = datasets.load_pool("Mine", folder=tmp_path)
        assert pool.truth.tolist() == np.repeat([0, 1, 2], 10).tolist()
        assert repr(pool) == "Pool(Mine: 30 objects, 8 clusterings)"

    def test_by_path(self, tmp_path):
        votes = {f"m{place}": column for place, column in enumerate(MEMBERS.T)}
        ids = {"id": np.array([f"o{place}" for place in range(30)], dtype=object)}
        savemat(tmp_path / "a.mat", {"members": MEMBERS, "gt": GT})
        np.savez(tmp_path / "b.npz", members=MEMBERS, y=GT)
        tables.write(tmp_path / "c.csv", {**ids, **votes, "truth": GT})
        tables.write(tmp_path / "d.parquet", {**ids, **votes, "GT": GT.astype(str)})
        for name in ("a.mat", "b.npz", "c.csv", "d.parquet"):
            pool = datasets.load_pool(tmp_path / name)
            assert pool.name == name[0]
            assert np.array_equal(pool.members, MEMBERS)
            assert pool.truth.tolist() == np.repeat([0, 1, 2], 10).tolist()
            with pytest.raises(ValueError, match="read-only"):
                pool.members[0, 0] = 1
        np.save(tmp_path / "e.npy", MEMBERS)
        assert datasets.load_pool(str(tmp_path / "e.npy")).truth is None

    def test_missing_votes_and_names(self, tmp_path):
        path = tmp_path / "pool.csv"
        path.write_text("a,b,truth\nx,1,p\ny,,\nx,2,q\ny,1,p\n")
        pool = datasets.load_pool(path)
        assert pool.members.tolist() == [[0, 1], [1, -1], [0, 2], [1, 1]]
        assert pool.truth.tolist() == [0, -1, 1, 0]


class TestRefusals:
    def test_no_such_pool(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"no file .*bc_pool_PD.mat. That folder has"):
            datasets.load_pool("PD", folder=tmp_path)
        (tmp_path / "pools").mkdir()
        savemat(tmp_path / "pools" / "bc_pool_MF.mat", {"members": MEMBERS})
        with pytest.raises(FileNotFoundError, match=r"That folder has pools of MF\."):
            datasets.load_pool("PD", folder=tmp_path)
        with pytest.raises(FileNotFoundError, match="There is no file"):
            datasets.load_pool(tmp_path / "none.mat")

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ({"votes": MEMBERS, "gt": GT}, "has no array 'members'. It holds: votes 30 by 8, gt"),
            ({"members": MEMBERS, "gt": GT[:5]}, "gt has 5 values, but the clusterings have 30"),
            ({"members": MEMBERS.T, "gt": GT}, "If its rows are clusterings"),
            ({"members": MEMBERS, "gt": GT + 0.5}, "gt must be labels"),
            ({"members": MEMBERS + 0.5, "gt": GT}, "is not a cluster label"),
            ({"members": np.zeros((2, 2, 2))}, "votes are a 2-D array"),
        ],
    )
    def test_arrays_that_are_no_pool(self, tmp_path, content, words):
        savemat(tmp_path / "pool.mat", content)
        with pytest.raises(tables.FileFormatError, match=words):
            datasets.load_pool(tmp_path / "pool.mat")

    def test_damaged_files(self, tmp_path):
        path = tmp_path / "pool.mat"
        savemat(path, {"members": MEMBERS})
        path.write_bytes(path.read_bytes()[:200])
        with pytest.raises(tables.FileFormatError, match="cannot be read as MAT"):
            datasets.load_pool(path)
        path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n")
        with pytest.raises(tables.FileFormatError, match=r"version 7\.3.*-v7"):
            datasets.load_pool(path)
