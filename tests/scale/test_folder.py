"""The folder of a run: other people's files stay, one run at a time, nothing stale is used."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scale_helpers import Stop, random_votes, stop_after

import ensemblage as en
from ensemblage.scale import _checkpoint, _output, _passes, _work, stream

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

VOTES = random_votes(600)


def write(path, votes):
    if path.suffix == ".csv":
        rows = "\n".join(",".join(map(str, row)) for row in votes.tolist())
        path.write_text(f"a,b,c,d\n{rows}\n")
    else:
        pq.write_table(pa.table(dict(zip("abcd", votes.T, strict=True))), path)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder to stand in with votes in it, labelled in pieces of 100 rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_passes, "PIECE_ROWS", 100)
    write(tmp_path / "v.parquet", VOTES)
    return tmp_path


def run(source="v.parquet", estimator=None, output="l.parquet", **options):
    return stream.consensus(source, estimator or en.EAC(3), output, n_jobs=1, **options)


def stopped(monkeypatch, call=run, n=6):
    """Let a run stop after some parts of the labels."""
    with monkeypatch.context() as patched:
        stop_after(patched, "replace", n)
        with pytest.raises(Stop):
            call()


class TestOtherFiles:
    def test_hidden_ones_stay(self, place):
        (place / "c" / ".git").mkdir(parents=True)
        (place / "c" / ".profile").write_text("mine")
        run(checkpoint="c")
        assert sorted(path.name for path in (place / "c").iterdir()) == [".git", ".profile"]

    @pytest.mark.parametrize("text", ['{"name": "mine"}', '{"votes": {}}'])
    def test_another_manifest_stays(self, text, place):
        (place / "c").mkdir()
        (place / "c" / "manifest.json").write_text(text)
        with pytest.raises(ValueError, match=r"holds other files and no manifest\.json of such"):
            run(checkpoint="c")
        assert (place / "c" / "manifest.json").read_text() == text


class TestDamaged:
    def test_parts_are_written_again(self, place, monkeypatch):
        stopped(monkeypatch)
        victim = place / "l.parquet.parts" / "part-000000-000000"
        victim.write_bytes(victim.read_bytes()[:100])
        with pytest.warns(UserWarning, match="is damaged or was changed, so these labels are writ"):
            assert run().n_objects == 600

    @pytest.mark.parametrize("name", ["index.npz", "labels.npz"])
    def test_is_told(self, name, place, monkeypatch):
        stopped(monkeypatch)
        victim = place / "l.parquet.parts" / name
        victim.write_bytes(victim.read_bytes()[:100])
        with pytest.raises(ValueError, match=rf"{name}' cannot be read .*Delete the folder"):
            run()

    @pytest.mark.parametrize("name", ["index.npz", "labels.npz"])
    @pytest.mark.parametrize("place_of_bit", [3, 70, 100, 150, -30, -1])
    def test_one_bit_is_told(self, name, place_of_bit, place, monkeypatch):
        stopped(monkeypatch)
        victim = place / "l.parquet.parts" / name
        content = bytearray(victim.read_bytes())
        content[place_of_bit] ^= 1
        victim.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{name}' cannot be read .*Delete the folder"):
            run()

    @pytest.mark.parametrize("name", ["index.npz", "labels.npz"])
    def test_files_of_another_run_are_told(self, name, place, monkeypatch):
        stopped(monkeypatch)
        parts = place / "l.parquet.parts"
        other = (parts / name).read_bytes()
        shutil.rmtree(parts)
        stopped(monkeypatch)
        (parts / name).write_bytes(other)
        with pytest.raises(ValueError, match=rf"{name}' cannot be read .*of another run"):
            run()

    def test_parts_in_the_place_of_others_are_written_again(self, place, monkeypatch):
        run()
        expected = (place / "l.parquet").read_bytes()
        stopped(monkeypatch, n=9)
        one, two = (place / "l.parquet.parts" / f"part-000000-00000{i}" for i in range(2))
        for suffix in ("", ".json"):
            contents = [Path(f"{path}{suffix}").read_bytes() for path in (two, one)]
            for path, content in zip((one, two), contents, strict=True):
                Path(f"{path}{suffix}").write_bytes(content)
        with pytest.warns(UserWarning, match="is damaged or was changed, so these labels are writ"):
            run()
        assert (place / "l.parquet").read_bytes() == expected

    @pytest.mark.parametrize(
        "text", ["5", '["votes", "consensus"]', '{"votes": 1, "consensus": 2}', "[" * 100_000, "{"]
    )
    def test_a_manifest_is_told(self, text, place, monkeypatch):
        stopped(monkeypatch)
        (place / "l.parquet.parts" / "manifest.json").write_text(text)
        with pytest.raises(ValueError, match=r"manifest.json' cannot be read .*Delete the folder"):
            run()

    @pytest.mark.parametrize("name", ["part-x", ".unfinished-x", "ids-x"])
    def test_folders_in_the_place_of_files_are_told(self, name, place, monkeypatch):
        stopped(monkeypatch)
        (place / "l.parquet.parts" / name).mkdir()
        with pytest.raises(ValueError, match=rf"{name}' cannot be read \(it is a folder\). Delete"):
            run()

    @pytest.mark.parametrize("where", ["write_part", "assemble"])
    def test_no_room(self, where, place, monkeypatch):
        def full(*arguments):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        name = {"write_part": "l.parquet.parts/part-000000-000000", "assemble": "l.parquet"}[where]
        with monkeypatch.context() as patched:
            patched.setattr(_output.Sheet, where, full)
            with pytest.raises(OSError, match=f"^{name} cannot be written: No space left"):
                run()
        assert not (place / "l.parquet").exists()
        assert run().n_objects == 600


class TestStale:
    def test_other_ids_are_another_run(self, place, monkeypatch):
        """The first pass learns their types."""
        rows = "\n".join(f"o{i},{i % 3},{i % 2},x" for i in range(600))
        (place / "v.csv").write_text(f"id,a,b,kept\n{rows}\n")
        columns = {"source": "v.csv", "columns": ["a", "b"]}
        stopped(monkeypatch, lambda: run(**columns))
        with pytest.raises(ValueError, match="differs in id column and columns to keep"):
            run(**columns, id_column="id", keep=["kept"])

    def test_generators_of_another_seed_are_another_estimator(self, place, monkeypatch):
        def estimator(seed):
            return en.PTGP(3, random_state=np.random.RandomState(seed))

        stopped(monkeypatch, lambda: run(estimator=estimator(1)))
        with pytest.warns(UserWarning, match=r"something else \(estimator\)"):
            result = run(estimator=estimator(2))
        assert result.estimator is not None

    def test_equal_generators_are_equal(self):
        one, other = (
            _checkpoint.format_estimator(en.PTGP(3, random_state=np.random.RandomState(1)))
            for _ in range(2)
        )
        assert one == other

    def test_nobody_goes_on_from_a_run_that_cannot(self, tmp_path):
        first = _checkpoint.Folder(tmp_path / "c", {"partitions": 2}, {}, resumes=False)
        first.write_labels({"label": np.zeros(3)})
        first.close()  # as if it had been killed
        again = _checkpoint.Folder(tmp_path / "c", {"partitions": 2}, {}, resumes=False)
        again.close()
        assert again.read_labels() is None

    def test_votes_that_must_be_mended_leave_nothing(self, place):
        (place / "v.csv").write_text("a,b\n1,1\n2,2\n,\n")
        with pytest.raises(ValueError, match="no vote in any clustering"):
            run("v.csv")
        (place / "v.csv").write_text("a,b\n1,1\n2,2\n3,3\n")
        assert run("v.csv").n_objects == 3


class TestChangedVotes:
    @pytest.mark.parametrize("name", ["v.parquet", "v.csv"])
    @pytest.mark.parametrize("change", ["order", "more", "columns"])
    def test_between_the_passes(self, name, change, place, monkeypatch):
        write(place / name, VOTES)
        real = _work.fit

        def fit(*arguments, **options):
            if change == "columns" and name == "v.parquet":
                columns = dict(zip("efgh", VOTES.T, strict=True))
                pq.write_table(pa.table(columns), place / name)
            else:
                write(place / name, VOTES[::-1] if change == "order" else np.vstack([VOTES] * 2))
            return real(*arguments, **options)

        with monkeypatch.context() as patched:
            patched.setattr(_work, "fit", fit)
            with pytest.raises(ValueError, match=rf"{name} has changed while it was read"):
                run(name)
        assert not (place / "l.parquet").exists()
        run(name)  # nothing is left that would be refused

    def test_gone(self, place, monkeypatch):
        real = _work.fit

        def fit(*arguments, **options):
            (place / "v.parquet").unlink()
            return real(*arguments, **options)

        monkeypatch.setattr(_work, "fit", fit)
        with pytest.raises(FileNotFoundError, match=r"v\.parquet .* is not there any more"):
            run()


class TestOneAtATime:
    @pytest.mark.usefixtures("place")
    def test_another_run_is_refused(self, monkeypatch):
        real, met = _work.fit, []

        def fit(*arguments, **options):
            with pytest.raises(ValueError, match=r"Another run is using 'l\.parquet"):
                run(estimator=en.EAC(2))
            met.append(True)
            return real(*arguments, **options)

        monkeypatch.setattr(_work, "fit", fit)
        run()
        assert met
        found = pq.read_table("l.parquet")["label"].to_numpy()
        np.testing.assert_array_equal(found, en.EAC(3).fit_predict(VOTES))

    @pytest.mark.skipif(os.name == "nt", reason="processes are killed as POSIX does")
    def test_the_lock_ends_with_its_process(self, place):
        program = (
            "import time; from pathlib import Path; from ensemblage.tables import lock;"
            "held = lock(Path('l.parquet.parts', '.lock')); print(held is not None, flush=True);"
            "time.sleep(60)"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program], cwd=place, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout.readline() == "True\n"
            with pytest.raises(ValueError, match="Another run is using"):
                run()
            process.send_signal(signal.SIGKILL)
        run()
        assert not (place / "l.parquet.parts").exists()
