"""A stream that was stopped: the same call goes on, and nothing half done has a final name."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scale_helpers import Stop, random_votes, stop_after, table_of

import ensemblage as en
from ensemblage.scale import _passes, stream

pq = pytest.importorskip("pyarrow.parquet")

PIECE = 1000


def make_file(path, n=20_000):
    votes = random_votes(n)
    pq.write_table(table_of(votes), path, row_group_size=700)
    return votes


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(_passes, "PIECE_ROWS", PIECE)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("jobs", [1, 2])
class TestGoingOn:
    def call(self, folder, jobs):
        return stream.consensus(
            folder / "v.parquet", en.EAC(3), folder / "l.parquet", batch_rows=300, n_jobs=jobs
        )

    @pytest.mark.parametrize(
        ("name", "n"),
        [
            ("write_index", 1),
            ("write_index", 8),
            ("write_labels", 1),
            ("replace", 30),
            ("remove", 1),
        ],
    )
    def test_after_any_stop(self, name, n, jobs, tmp_path, monkeypatch):
        votes = make_file(tmp_path / "v.parquet")
        stop_after(monkeypatch, name, n)
        with pytest.raises(Stop):
            self.call(tmp_path, jobs)
        assert (tmp_path / "l.parquet").exists() == (name == "remove")
        monkeypatch.undo()
        monkeypatch.setattr(_passes, "PIECE_ROWS", PIECE)
        self.call(tmp_path, jobs)
        found = pq.read_table(tmp_path / "l.parquet")
        np.testing.assert_array_equal(found["label"], en.EAC(3).fit_predict(votes))
        np.testing.assert_array_equal(found["row"], np.arange(len(votes)))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["l.parquet", "v.parquet"]

    def test_reads_only_what_is_missing(self, jobs, tmp_path, monkeypatch):
        make_file(tmp_path / "v.parquet")
        stop_after(monkeypatch, "write_index", 11)
        with pytest.raises(Stop):
            self.call(tmp_path, jobs)
        monkeypatch.undo()
        monkeypatch.setattr(_passes, "PIECE_ROWS", PIECE)
        starts = []
        real = _passes.read_votes

        def spy(sources, index, start, *arguments, **options):
            starts.append(start)
            return real(sources, index, start, *arguments, **options)

        monkeypatch.setattr(_passes, "read_votes", spy)
        self.call(tmp_path, jobs)
        assert starts[0][1] >= 10 * PIECE

    def test_a_changed_file_is_refused(self, jobs, tmp_path, monkeypatch):
        make_file(tmp_path / "v.parquet")
        stop_after(monkeypatch, "write_labels", 1)
        with pytest.raises(Stop):
            self.call(tmp_path, jobs)
        monkeypatch.undo()
        make_file(tmp_path / "v.parquet", n=19_999)
        with pytest.raises(ValueError, match=r"l.parquet.parts' belongs to another run.* files"):
            self.call(tmp_path, jobs)

    def test_another_estimator_keeps_the_index(self, jobs, tmp_path, monkeypatch):
        votes = make_file(tmp_path / "v.parquet")
        stop_after(monkeypatch, "replace", 30)
        with pytest.raises(Stop):
            self.call(tmp_path, jobs)
        monkeypatch.undo()
        monkeypatch.setattr(_passes, "PIECE_ROWS", PIECE)
        with pytest.warns(UserWarning, match=r"something else \(estimator\)"):
            stream.consensus(tmp_path / "v.parquet", en.EAC(4), tmp_path / "l.parquet", n_jobs=jobs)
        found = pq.read_table(tmp_path / "l.parquet")
        np.testing.assert_array_equal(found["label"], en.EAC(4).fit_predict(votes))


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    make_file(tmp_path / "v.parquet")
    (tmp_path / "l.parquet.parts").mkdir()
    (tmp_path / "l.parquet.parts" / "diary.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds other files"):
        stream.consensus(tmp_path / "v.parquet", en.EAC(3), tmp_path / "l.parquet")


SLOW = """
import sys, time
import ensemblage as en
from ensemblage.scale import _checkpoint, _passes, stream
_passes.PIECE_ROWS = 1000
real = _checkpoint.Folder.replace
def slow(self, name, write):
    real(self, name, write)
    print(name, flush=True)
    time.sleep(0.02)
_checkpoint.Folder.replace = slow
stream.consensus(sys.argv[1], en.EAC(3), sys.argv[2], batch_rows=300, n_jobs=2)
"""


def test_killed_again_and_again(tmp_path):
    votes = make_file(tmp_path / "v.parquet")
    command = [sys.executable, "-c", SLOW, str(tmp_path / "v.parquet"), str(tmp_path / "l.parquet")]
    for n_written in (4, 25):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(n_written):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert not (tmp_path / "l.parquet").exists()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.count("part-") < 20  # some were there
    found = pq.read_table(tmp_path / "l.parquet")
    np.testing.assert_array_equal(found["label"], en.EAC(3).fit_predict(votes))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l.parquet", "v.parquet"]


COMMAND = """
import sys
from ensemblage.cli import main
from ensemblage.scale import _checkpoint, _passes, stream
_passes.PIECE_ROWS = 1000
real = _checkpoint.Folder.replace
def slow(self, name, write):
    real(self, name, write)
    if name.startswith("part-"):
        print("part", flush=True)
        import time
        time.sleep(0.2)
_checkpoint.Folder.replace = slow
sys.argv = ["ensemblage", *sys.argv[1:]]
main()
"""


def test_interrupted_by_hand(tmp_path):
    make_file(tmp_path / "v.parquet")
    words = [
        "consensus",
        "v.parquet",
        "-k",
        "3",
        "-m",
        "eac",
        "-o",
        "l.parquet",
        "--engine",
        "stream",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    process.stdout.readline()
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Finished work is kept in l.parquet.parts. The same command resumes" in told
    assert "Traceback" not in told
    again = subprocess.run(
        [sys.executable, "-m", "ensemblage", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Resuming: finished work is in l.parquet.parts" in again.stderr
    assert "20,000 objects, 4 clusterings, 81 microclusters, k = 3, EAC" in again.stderr
    # Parts of another size, which this test had made, are not taken for those of now.
    assert "something else (rows of a part)" in again.stderr
    assert pq.read_metadata(tmp_path / "l.parquet").num_rows == 20_000
