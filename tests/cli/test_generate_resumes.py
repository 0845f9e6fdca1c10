"""``ensemblage generate`` after a violent end: the same command goes on from what is finished."""

import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from generate_inputs import ENSEMBLAGE, made

import ensemblage as en
from ensemblage import tables


def count(folder):
    return len(list(folder.glob("member-*.npy"))) if folder.exists() else 0


@pytest.fixture
def begun(tmp_path):
    """Begin a run of a second or more, wait for its first clusterings, and end it by a signal."""
    pytest.importorskip("resource")  # POSIX
    features = np.random.default_rng(0).normal(size=(3000, 20))
    np.save(tmp_path / "big.npy", features)
    options = ["big.npy", "-m", "300", "--k-range", "30:50", "--jobs", "1", "-o", "pool.npy"]

    def end_by(number):
        command = subprocess.Popen(
            [*ENSEMBLAGE, *options],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
        )
        parts = tmp_path / "pool.npy.parts"
        while count(parts) < 3 and command.poll() is None:
            time.sleep(0.005)
        command.send_signal(number)
        try:
            _, told = command.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            command.kill()
            pytest.fail(f"did not end, and told: {command.communicate()[1]}")
        return command.returncode, told

    end_by.options, end_by.features = options, features
    return end_by


def test_a_killed_run_goes_on(begun, generate, tmp_path):
    code, _ = begun(signal.SIGKILL)
    assert code == -signal.SIGKILL
    parts = tmp_path / "pool.npy.parts"
    kept = count(parts)
    assert 3 <= kept < 300
    assert not (tmp_path / "pool.npy").exists()
    result = generate(*begun.options, "-m", 40)
    assert result.exit_code == 0, result.output
    assert f"Resuming: {min(kept, 40)} of 40 clusterings are in pool.npy.parts." in result.stderr
    assert not parts.exists()
    votes = en.ensembles.generate(
        begun.features, 40, n_clusters_range=(30, 50), random_state=0, n_jobs=2
    )
    assert np.array_equal(np.load("pool.npy"), votes)


def test_an_interrupted_run_says_how_to_go_on(begun, tmp_path):
    code, shown = begun(signal.SIGINT)
    assert code == 130
    assert "of 300 clusterings are kept in pool.npy.parts. The same command resumes" in shown
    assert "Interrupted." in shown
    assert "Traceback" not in shown
    assert count(tmp_path / "pool.npy.parts") >= 3


def test_a_kill_while_the_parts_are_written_or_removed(generate, tmp_path):
    parts = tmp_path / "pool.npy.parts"
    parts.mkdir()
    (parts / ".unfinished-0123456789ab").write_text("{")
    made(generate)
    assert not parts.exists()
    made(generate, "--checkpoint", parts)
    (parts / "member-000003.npy").unlink()  # the manifest is the last to go
    made(generate)
    assert not parts.exists()


def test_a_checkpoint_of_ones_own_is_kept(generate, tmp_path):
    votes = made(generate, "--checkpoint", "mine")
    assert count(tmp_path / "mine") == 6
    result = generate("x.npy", "-m", 9, "--checkpoint", "mine", "-o", "more.npy")
    assert "Resuming: 6 of 9" in result.stderr
    assert np.array_equal(np.load("more.npy")[:, :6], votes)
    result = generate("x.npy", "-m", 6, "--seed", 5, "--checkpoint", "mine", "-o", "more.npy")
    assert result.exit_code == 1
    assert "belongs to another run" in result.stderr


def test_an_existing_pool_survives_a_failure(generate):
    made(generate)
    before = np.load("pool.npy")
    Path("pool.npy.parts").mkdir()
    Path("pool.npy.parts", "other").write_text("x")
    result = generate("x.npy", "-m", 3, "-o", "pool.npy")
    assert result.exit_code == 1
    assert np.array_equal(np.load("pool.npy"), before)


def test_a_second_run_is_refused_until_the_first_has_written(generate, monkeypatch):
    """All members are made by then, and the folder of parts is about to go."""
    refused = []

    def write(*arguments, **options):
        refused.append(generate("x.npy", "-o", "pool.npy", "-m", 6))
        return real(*arguments, **options)

    real = tables.write_pool
    monkeypatch.setattr(tables, "write_pool", write)
    made(generate)
    assert refused[0].exit_code == 1
    assert "Another run is using 'pool.npy.parts'. Wait until" in refused[0].stderr
    assert "Resuming" not in refused[0].stderr
    assert not Path("pool.npy.parts").exists()
