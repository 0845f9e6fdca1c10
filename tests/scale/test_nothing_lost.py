"""Parts of a stream are what they were when they were written, or they are written again."""

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scale_helpers import Stop, change, random_votes, stop_after, table_of

import ensemblage as en
from ensemblage import tables
from ensemblage.scale import _passes, stream
from ensemblage.scale._checkpoint import Folder
from ensemblage.tables import files, target

pq = pytest.importorskip("pyarrow.parquet")
N, PIECE = 4000, 500


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Return a function that copies a run stopped before its parts were put together."""
    made = {}
    for suffix in ("csv", "parquet"):
        folder = tmp_path_factory.mktemp(suffix)
        votes = random_votes(N)
        pq.write_table(table_of(votes), folder / "v.parquet", row_group_size=700)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_passes, "PIECE_ROWS", PIECE)
            stop_after(patch, "remove", 1)
            with pytest.raises(Stop):
                call(folder, suffix)
        made[suffix] = folder, votes
    return made


def call(folder, suffix):
    return stream.consensus(
        folder / "v.parquet", en.EAC(3), folder / f"l.{suffix}", batch_rows=300, n_jobs=1
    )


def rows_of(path):
    if path.suffix == ".csv":
        table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64)
        return table[:, 0], table[:, 1]
    table = pq.read_table(path)
    return table["row"].to_numpy(), table["label"].to_numpy()


def damage(path, how, rng):
    content = bytearray(path.read_bytes())
    place = int(rng.integers(len(content)))
    if how == "cut":
        content = content[:place]
    elif how == "flip":
        content[place] ^= 1 << int(rng.integers(8))
    elif how == "lines":  # whole lines are lost, as of a file that was not on the disk yet
        lines = bytes(content).splitlines(keepends=True)
        content = b"".join(lines[: len(lines) // 2])
    elif how == "longer":
        content += content[: max(1, place)]
    else:
        path.unlink()
        return
    path.write_bytes(bytes(content))


@pytest.mark.filterwarnings("ignore:.*is damaged or was changed")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("seed", range(20))
def test_damaged_parts_are_written_again(begun, suffix, seed, tmp_path, monkeypatch):
    """Of each run several parts are cut, changed, lengthened or removed: 200 in all and more."""
    monkeypatch.setattr(_passes, "PIECE_ROWS", PIECE)
    source, votes = begun[suffix]
    folder = tmp_path / "run"
    shutil.copytree(source, folder)
    (folder / f"l.{suffix}").unlink()
    for path in folder.iterdir():  # a copy has other times, which the manifest would notice
        shutil.copystat(source / path.name, path)
    parts = folder / f"l.{suffix}.parts"
    manifest = parts / "manifest.json"
    manifest.write_text(manifest.read_text().replace(str(source), str(folder)))
    rng = np.random.default_rng([seed, suffix == "csv"])
    paths = sorted(path for path in parts.glob("part-*") if path.suffix != ".json")
    assert len(paths) == N // PIECE
    for path in rng.choice(np.array(paths, dtype=object), 6, replace=False):
        how = rng.choice(["cut", "flip", "longer", "gone", *(["lines"] * (suffix == "csv"))])
        damage(path, how, rng)
    result = call(folder, suffix)
    assert result.n_objects == N
    rows, labels = rows_of(folder / f"l.{suffix}")
    np.testing.assert_array_equal(rows, np.arange(N))
    np.testing.assert_array_equal(labels, en.EAC(3).fit_predict(votes))
    assert not parts.exists()


def test_a_part_is_told_by_rows_and_checksum(tmp_path):
    folder = Folder(tmp_path / "x.parts", {}, {})
    try:
        folder.write_part(folder.part(0, 0).name, 3, lambda file: file.write(b"a\nb\nc\n"))
        assert folder.has_part(0, 0, 3)
        with pytest.warns(UserWarning, match="is damaged or was changed"):
            assert not folder.has_part(0, 0, 4)
        assert not folder.part(0, 0).exists()
        assert not folder.has_part(0, 0, 3)
        folder.part(0, 1).write_bytes(b"a\n")  # of a run that was killed before it was told
        assert not folder.has_part(0, 1, 1)
        assert not folder.part(0, 1).exists()
    finally:
        folder.close()


def test_labels_and_parts_belong_to_what_they_were_made_from(tmp_path):
    folder = Folder(tmp_path / "x.parts", {}, {})
    try:
        one, two = np.zeros((1, 2), np.int32), np.ones((1, 2), np.int32)
        folder.write_index(one, np.ones(1, np.int64), {})
        folder.write_labels({"label": np.zeros(1)})
        folder.write_part(folder.part(0, 0).name, 1, lambda file: file.write(b"0\n"))
        assert folder.has_part(0, 0, 1)
        folder.write_labels({"label": np.ones(1)})
        with pytest.warns(UserWarning, match="is damaged or was changed"):
            assert not folder.has_part(0, 0, 1)
        folder.write_index(two, np.ones(1, np.int64), {})
        with pytest.raises(ValueError, match=r"labels\.npz' cannot be read .*of another run"):
            folder.read_labels()
    finally:
        folder.close()


def test_content_is_on_the_disk_before_its_name(tmp_path, monkeypatch):
    done = []
    sync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda file: (done.append("sync"), sync(file)))
    monkeypatch.setattr(
        Path, "replace", lambda path, other: (done.append("name"), replace(path, other))[1]
    )
    with tables.finished(tmp_path / "part") as file:
        file.write(b"x")
    with tables.replacing(str(tmp_path / "out")) as file:
        file.write(b"x")
    assert done == ["sync", "name", "sync"] * 2
    done.clear()
    folder = Folder(tmp_path / "x.parts", {}, {})  # with a manifest
    folder.write_index(np.zeros((1, 2), np.int32), np.ones(1, np.int64), {})
    folder.write_keys(0, 0, np.zeros(1, np.uint64))
    folder.write_labels({"label": np.zeros(1)})
    folder.write_part(folder.part(0, 0).name, 1, lambda file: file.write(b"0\n"))  # and its facts
    folder.close()
    assert done == ["sync", "name", "sync"] * 6


def test_a_file_is_told_by_size_time_and_samples(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_PLACES", 3)
    monkeypatch.setattr(files, "_SAMPLED", 4)
    path = tmp_path / "v.csv"
    path.write_bytes(bytes(1000))
    os.utime(path, (1, 1))
    known = files.File(str(path)).fingerprint()
    for place in (0, 500, 999):  # sampled
        change(path, place, b"7")
        assert files.File(str(path)).fingerprint() != known
        change(path, place, b"\0")
    change(path, 100, b"7")
    assert files.File(str(path)).fingerprint() == known
    os.utime(path, (2, 2))
    assert files.File(str(path)).fingerprint() != known
    path.write_bytes(bytes(1001))
    os.utime(path, (1, 1))
    assert files.File(str(path)).fingerprint() != known


@pytest.mark.parametrize("new", [b"7", b"1,0\n0,1\n"], ids=["new votes", "rows swapped"])
@pytest.mark.parametrize("row", [0, 1250, 5998])
def test_votes_that_change_between_the_passes_are_noticed(row, new, tmp_path, monkeypatch):
    """Also with size and time of change put back."""
    path = tmp_path / "v.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n" * 3000)
    real = stream.Threads.second_pass

    def second_pass(self, *arguments):
        change(path, 4 * (1 + row), new)
        return real(self, *arguments)

    monkeypatch.setattr(stream.Threads, "second_pass", second_pass)
    with pytest.raises(tables.FileFormatError, match="has changed while it was read"):
        stream.consensus(path, en.EAC(2), tmp_path / "l.csv", n_jobs=1)
    assert not (tmp_path / "l.csv").exists()


@pytest.mark.parametrize(
    ("estimator", "why"),
    [(en.EAC(50), "tells only 2 group"), (en.PTA(2, linkage="none"), "'linkage' parameter")],
)
def test_a_refused_run_leaves_nothing(estimator, why, tmp_path):
    (tmp_path / "v.csv").write_text("a,b\n" + "0,1\n1,0\n" * 30)
    with pytest.raises(ValueError, match=why):
        stream.consensus(tmp_path / "v.csv", estimator, tmp_path / "l.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["v.csv"]
    stream.consensus(tmp_path / "v.csv", en.EAC(2), tmp_path / "l.csv")


def test_a_header_alone_is_refused_everywhere(tmp_path):
    (tmp_path / "v.csv").write_text("id,a,b\n")
    with pytest.raises(tables.FileFormatError, match="no rows"):
        tables.read(tmp_path / "v.csv")
    with pytest.raises(tables.FileFormatError, match="no rows"):
        stream.consensus(tmp_path / "v.csv", en.EAC(2), tmp_path / "l.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["v.csv"]


class TestOneFile:
    @pytest.mark.parametrize("other", ["a.csv", "x/../a.csv", "./a.csv", "soft.csv", "hard.csv"])
    @pytest.mark.parametrize("exists", [True, False])
    def test_under_two_names(self, tmp_path, other, exists):
        (tmp_path / "x").mkdir()
        if exists:
            (tmp_path / "a.csv").write_text("")
            (tmp_path / "hard.csv").hardlink_to(tmp_path / "a.csv")
        elif other == "hard.csv":
            return
        (tmp_path / "soft.csv").symlink_to(tmp_path / "a.csv")
        one, two = tables.identity(str(tmp_path / "a.csv")), tables.identity(str(tmp_path / other))
        assert one == two
        assert one != tables.identity(str(tmp_path / "b.csv"))

    def test_where_capitals_do_not_matter(self, tmp_path, monkeypatch):
        upper, lower = str(tmp_path / "A.csv"), str(tmp_path / "a.csv")
        assert tables.identity(upper) != tables.identity(lower)
        monkeypatch.setattr(target, "_ignores_capitals", lambda _: True)
        assert tables.identity(upper) == tables.identity(lower)


class TestFilesOfKilledRuns:
    def test_are_removed_by_the_next(self, tmp_path):
        """At once where locks tell; those of other hosts after a day."""
        code = (
            "import os, sys\nfrom ensemblage import tables\n"
            "with tables.replacing(sys.argv[1]) as file: os._exit(9)"
        )
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], check=False)
        assert len(list(tmp_path.glob(".ensemblage-*"))) == 1
        names = (f".ensemblage-{'0' * 8}-{i:012x}.tmp" for i in (1, 2))
        other, old = (tmp_path / name for name in names)
        foreign = tmp_path / ".ensemblage-notes.txt"
        for path in (other, old, foreign):
            path.write_text("half")
        day_ago = time.time() - 25 * 3600
        for path in (old, foreign):
            os.utime(path, (day_ago, day_ago))
        with tables.replacing(str(tmp_path / "out")) as file:
            file.write(b"x")
        left = sorted(path.name for path in tmp_path.iterdir())
        assert left == [other.name, foreign.name, "out"]

    @pytest.mark.parametrize("age", [0, 25 * 3600])
    def test_but_not_while_they_are_written(self, tmp_path, age):
        with tables.replacing(str(tmp_path / "one")) as one, tables.finished(tmp_path / "p") as p:
            for path in tmp_path.iterdir():
                os.utime(path, (time.time() - age,) * 2)
            with tables.replacing(str(tmp_path / "two")) as two:
                two.write(b"2")
            tables.remove_stale(tmp_path, tables.UNFINISHED)
            one.write(b"1")
            p.write(b"3")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "p", "two"]

    def test_nobody_may_read_who_could_not_read_the_output(self, tmp_path):
        (tmp_path / "secret").write_text("old")
        (tmp_path / "secret").chmod(0o600)
        for name, mode in (("secret", 0o600), ("new", 0o666 & ~os.umask(os.umask(0o022)))):
            with tables.replacing(str(tmp_path / name)) as file:
                assert stat.S_IMODE(Path(file.name).stat().st_mode) == mode
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode


def test_a_lock_that_is_a_link_to_nothing_is_told(tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / ".lock").symlink_to(tmp_path / "no" / "where")
    with pytest.raises(FileNotFoundError, match=r"lock is a link to nothing\. Remove"):
        tables.lock(tmp_path / "c" / ".lock")
    (tmp_path / "v.csv").write_text("a,b\n" + "0,1\n1,0\n" * 30)
    with pytest.raises(FileNotFoundError, match=r"cannot be made: .*lock is a link to nothing"):
        stream.consensus(tmp_path / "v.csv", en.EAC(2), "l.csv", checkpoint=tmp_path / "c")


def test_an_output_in_the_folder_of_its_parts_is_refused(tmp_path):
    (tmp_path / "v.csv").write_text("a,b\n" + "0,1\n1,0\n" * 30)
    folder = str(tmp_path / "c.csv")
    with pytest.raises(ValueError, match=r"c\.csv is the checkpoint folder"):
        stream.consensus(tmp_path / "v.csv", en.EAC(2), folder, checkpoint=folder)
    (tmp_path / "c").mkdir()
    with pytest.raises(ValueError, match=r"part-1\.csv is in the checkpoint folder"):
        stream.consensus(
            tmp_path / "v.csv", en.EAC(2), tmp_path / "c" / "part-1.csv", checkpoint=tmp_path / "c"
        )
