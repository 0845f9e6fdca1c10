"""Votes on a Dask cluster: the labels of memory, whatever the partitions and whoever dies."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path
from threading import Thread

import joblib
import numpy as np
import pytest
from typer.testing import CliRunner

import quorate as qr
from quorate import files
from quorate.cli import app
from quorate.scale import _merging, _passes, _sources, stream
from quorate.scale import dask as on_dask
from quorate.scale._checkpoint import Folder, estimator_in_words

pytest.importorskip("dask.distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")

from distributed import Client  # noqa: E402

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are killed as POSIX does")
SECONDS_TO_START = 60


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Start a scheduler and two workers, each under a nanny that starts it again if it dies."""
    folder = tmp_path_factory.mktemp("cluster")
    known = folder / "scheduler.json"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    common = ["--scheduler-file", str(known), "--no-dashboard"]
    loopback = "tcp://127.0.0.1"
    commands = [
        ["scheduler", "--host", loopback, "--port", "0", *common],
        *(
            ["worker", "--host", loopback, "--nthreads", "1", "--local-directory", folder, *common]
            for _ in range(2)
        ),
    ]
    processes = []
    with (folder / "log").open("wb") as log:
        try:
            for command in commands:
                process = subprocess.Popen(
                    [sys.executable, "-m", "dask", *map(str, command)],
                    cwd=folder,
                    env=environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
                processes.append(process)
            until = time.monotonic() + SECONDS_TO_START
            while not known.exists() or not known.read_text().endswith("}"):
                assert time.monotonic() < until, (folder / "log").read_text()
                time.sleep(0.05)
            yield json.loads(known.read_text())["address"]
        finally:
            for process in reversed(processes):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture(scope="module")
def client(address):
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=SECONDS_TO_START)
        yield client


def make_votes(n=200, n_clusterings=5, seed=0, gaps=True):
    rng = np.random.default_rng(seed)
    votes = np.repeat((np.arange(n) % 3)[:, None], n_clusterings, axis=1)
    wrong = rng.random(votes.shape) < 0.2
    votes[wrong] = rng.integers(-1 if gaps else 0, 5, wrong.sum())
    votes[(votes < 0).all(axis=1), 0] = 0
    return votes


def frame_of_many_kinds(votes):
    """Return the votes as names, categories, nullable numbers, floats and numbers."""
    words = np.array(["delta", "beta", "alpha", "gamma", "epsilon", None], dtype=object)
    frame = pd.DataFrame({f"m{m}": column for m, column in enumerate(votes.T)})
    frame["m0"] = pd.array(words[votes[:, 0]], dtype="string")
    frame["m1"] = pd.Categorical(words[votes[:, 1]])
    frame["m2"] = frame["m2"].where(votes[:, 2] >= 0).astype("Int16")
    frame["m3"] = frame["m3"].where(votes[:, 3] >= 0).astype(float)
    return frame


def in_memory(votes, estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(votes)


def write_parts(votes, folder, n_files=3, row_group=17):
    paths = []
    for place, part in enumerate(np.array_split(np.arange(len(votes)), n_files)):
        columns = {f"m{m}": pa.array(votes[part, m]) for m in range(votes.shape[1])}
        paths.append(folder / f"v{place}.parquet")
        pq.write_table(pa.table({"cell": part, **columns}), paths[-1], row_group_size=row_group)
    return paths


def labels_of(path, column="label"):
    return pq.read_table(path).column(column).to_numpy()


# -- collections -----------------------------------------------------------------------------------


class TestDataFrame:
    @pytest.fixture
    def frame(self):
        frame = frame_of_many_kinds(make_votes()).set_index(np.linspace(0, 1, 200))
        return dd.from_pandas(frame, npartitions=4)

    def test_labels_are_those_of_memory(self, client, frame):
        whole = frame.compute()
        found = on_dask.consensus(frame, qr.PTGP(3, random_state=0), client=client)
        assert isinstance(found, dd.Series)
        assert found.npartitions == frame.npartitions
        assert found.divisions == frame.divisions
        expected = qr.PTGP(3, random_state=0).fit_predict(whole)
        pd.testing.assert_series_equal(client.compute(found).result(), expected)

    def test_they_need_no_cluster_any_more(self, client, frame):
        found = on_dask.consensus(frame, qr.EAC(3), client=client)
        expected = qr.EAC(3).fit_predict(frame.compute())
        np.testing.assert_array_equal(found.compute(scheduler="sync"), expected)

    def test_they_become_a_column_of_the_votes(self, client, frame):
        votes = frame.clear_divisions()
        labels = on_dask.consensus(votes, qr.EAC(3), client=client, columns=["m1", "m2", "m4"])
        found = client.compute(votes.assign(label=labels)).result()
        expected = in_memory(frame.compute()[["m1", "m2", "m4"]], qr.EAC(3)).labels_
        np.testing.assert_array_equal(found["label"], expected)

    def test_empty_partitions(self, client, frame):
        parts = [frame.partitions[i] for i in range(4)]
        nothing = parts[0].map_partitions(lambda part: part.iloc[:0], meta=frame._meta)
        pieces = [nothing, parts[0], nothing, *parts[1:], nothing]
        cut = dd.from_delayed([d for piece in pieces for d in piece.to_delayed()], meta=frame._meta)
        assert 0 in client.compute(cut.map_partitions(len)).result().tolist()
        found = client.compute(on_dask.consensus(cut, qr.EAC(3), client=client)).result()
        np.testing.assert_array_equal(found, in_memory(frame.compute(), qr.EAC(3)).labels_)

    def test_confidence_and_cuts(self, client, frame):
        fitted = in_memory(frame.compute(), qr.PTA(4))
        found = on_dask.consensus(frame, qr.PTA(4), client=client, confidence=True)
        found = client.compute(found).result()
        np.testing.assert_array_equal(found["label"], fitted.labels_)
        np.testing.assert_array_equal(found["confidence"], fitted.confidence_)
        found = on_dask.consensus(frame, qr.PTA(4), client=client, cuts=[2, 4])
        found = client.compute(found).result()
        assert list(found.columns) == ["k2", "k4"]
        np.testing.assert_array_equal(found["k2"], fitted.cut(2))

    @pytest.mark.parametrize("target", ["l.parquet", "l.csv", "out/"])
    def test_to_files(self, client, frame, target, tmp_path):
        output = f"{tmp_path}/{target}"
        whole = frame.compute()
        whole["cell"] = [f"c{i}" for i in range(200)]
        named = dd.from_pandas(whole, npartitions=4)
        result = on_dask.consensus(named, qr.EAC(3), output, client=client, id_column="cell")
        assert (result.n_objects, result.id_name) == (200, "cell")
        paths = sorted(Path(output).iterdir()) if target == "out/" else [Path(output)]
        assert len(paths) == (4 if target == "out/" else 1)
        found = [files.read_table(path, id_column="cell") for path in paths]
        np.testing.assert_array_equal(
            np.concatenate([table.ids for table in found]), [f"c{i}" for i in range(200)]
        )
        labels = np.concatenate([np.ravel(table.matrix) for table in found])
        np.testing.assert_array_equal(labels, in_memory(frame.compute(), qr.EAC(3)).labels_)
        assert [path.name for path in tmp_path.iterdir()] == [target.rstrip("/")]

    def test_scores(self, client, tmp_path):
        votes, truth = make_votes(), np.arange(200) % 3
        frame = pd.DataFrame(votes, columns=list("abcde")).assign(gt=truth)
        frame = dd.from_pandas(frame, npartitions=3)
        output = tmp_path / "l.parquet"
        result = on_dask.consensus(frame, qr.EAC(3), output, client=client, truth="gt")
        expected = in_memory(votes, qr.EAC(3)).labels_
        np.testing.assert_array_equal(labels_of(output), expected)
        assert result.scores["label"].nmi == qr.metrics.nmi(truth, expected)

    def test_numbers_of_any_size_and_with_fractions(self, client):
        frame = pd.DataFrame(
            {
                "a": [1.0, 2.0, 1.0, np.nan, 1.0, 2.5, 2.5, 1e300],
                "b": np.array([2**64 - 1, 3, 2**64 - 1, 3, 3, 3, 2**63 + 1, 3], dtype=np.uint64),
                "c": [True, False] * 4,
                "d": [-(2**63), 2**63 - 1, 5, 5, 5, -(2**63), 2**63 - 1, 5],
            }
        )
        with pytest.warns(qr.FeaturesAsVotesWarning, match="2.5"):
            found = on_dask.consensus(
                dd.from_pandas(frame, npartitions=3), qr.EAC(3), client=client
            )
        expected = in_memory(frame, qr.EAC(3)).labels_
        np.testing.assert_array_equal(client.compute(found).result(), expected)


class TestArray:
    @pytest.mark.parametrize("kind", ["int8", "float", "U", "object"])
    def test_labels_are_those_of_memory(self, client, kind):
        votes = make_votes()
        if kind == "U":
            votes = np.array(["u", "v", "w", "x", "y", "z"])[votes]
        elif kind == "object":
            votes = np.array(["u", 1, ("w", 2), "x", "y", None], dtype=object)[votes]
        else:
            votes = np.where(votes < 0, np.nan if kind == "float" else -1, votes).astype(kind)
        array = da.from_array(votes, chunks=(60, 2))
        found = on_dask.consensus(array, qr.EAC(3), client=client)
        assert found.chunks == (array.chunks[0],)
        expected = in_memory(votes, qr.EAC(3)).labels_
        np.testing.assert_array_equal(client.compute(found).result(), expected)

    def test_chunks_of_unknown_size(self, client):
        votes = make_votes(gaps=False)
        array = da.from_array(votes, chunks=(60, 5))
        array = array[array[:, 0] < 2]
        found = on_dask.consensus(array, qr.PTA(3), client=client, cuts=[2, 3])
        fitted = qr.PTA(3).fit(votes[votes[:, 0] < 2])
        expected = np.column_stack([fitted.cut(2), fitted.cut(3)])
        np.testing.assert_array_equal(client.compute(found).result(), expected)


# -- files -----------------------------------------------------------------------------------------


class TestFiles:
    @pytest.mark.parametrize("method", ["ptgp", "pta", "eac", "vote"])
    def test_labels_are_those_of_a_stream(self, client, method, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)  # the workers stand elsewhere
        votes = make_votes()
        write_parts(votes, tmp_path)
        seed = {"random_state": 0} if method == "ptgp" else {}
        options = {"id_column": "cell", "confidence": True}
        estimator = qr.METHODS[method](3, **seed)
        stream.consensus("v*.parquet", estimator, "s.parquet", **options)
        result = on_dask.consensus(
            "v*.parquet", estimator, "d.parquet", client=client, task_rows=30, **options
        )
        assert pq.read_table("d.parquet").equals(pq.read_table("s.parquet"))
        np.testing.assert_array_equal(labels_of("d.parquet"), in_memory(votes, estimator).labels_)
        assert result.n_objects == 200
        assert not Path("d.parquet.parts").exists()

    def test_a_folder_and_several_formats(self, client, tmp_path):
        votes = make_votes(90)
        (tmp_path / "in").mkdir()
        words = np.array(["a", "b", "c", "d", "e", None], dtype=object)
        for place, suffix in enumerate(["parquet", "csv", "arrow"]):
            rows = votes[30 * place : 30 * place + 30]
            columns = {"m0": words[rows[:, 0]], **{f"m{m}": rows[:, m] for m in range(1, 5)}}
            path = tmp_path / "in" / f"{place}.{suffix}"
            if suffix == "arrow":
                table = pa.table(columns)
                with pa.ipc.new_file(path, table.schema) as writer:
                    writer.write_table(table, max_chunksize=7)
            else:
                files.write_table(path, columns)
        on_dask.consensus(
            tmp_path / "in", qr.EAC(3), f"{tmp_path}/out/", client=client, task_rows=8
        )
        found = [
            files.read_table(tmp_path / "out" / name, id_column="row").matrix.ravel()
            for name in ("0.parquet", "1.csv", "2.parquet")
        ]
        np.testing.assert_array_equal(np.concatenate(found), in_memory(votes, qr.EAC(3)).labels_)

    def test_files_without_rows(self, client, tmp_path):
        votes = make_votes(50)
        paths = write_parts(votes, tmp_path, n_files=2)
        empty = pq.read_table(paths[0]).slice(0, 0)
        for name in ("none.arrow", "none.parquet"):  # no record batch, and no row group
            with pa.OSFile(str(tmp_path / name), "wb") as file:
                writer = pa.ipc.new_file if name == "none.arrow" else pq.ParquetWriter
                writer(file, empty.schema).close()
            paths.insert(1, tmp_path / name)
        output = tmp_path / "l.parquet"
        on_dask.consensus(paths, qr.EAC(3), output, client=client, id_column="cell")
        np.testing.assert_array_equal(labels_of(output), in_memory(votes, qr.EAC(3)).labels_)

    def test_a_run_goes_on_from_what_is_finished(self, client, tmp_path, monkeypatch):
        votes = make_votes()
        paths = write_parts(votes, tmp_path)
        output = tmp_path / "l.parquet"

        def fail(*_):
            raise OSError("no room")

        with monkeypatch.context() as patched:
            patched.setattr("quorate.scale._cluster.replacing", fail)
            with pytest.raises(OSError, match="no room"):
                on_dask.consensus(
                    paths, qr.EAC(3), output, client=client, task_rows=30, id_column="cell"
                )
        assert len(list((tmp_path / "l.parquet.parts").glob("part-*"))) > 3
        result = on_dask.consensus(
            paths, qr.EAC(3), output, client=client, task_rows=30, id_column="cell"
        )
        assert result.estimator is None  # its labels were kept
        np.testing.assert_array_equal(labels_of(output), in_memory(votes, qr.EAC(3)).labels_)


def test_indices_merge_as_if_read_at_once(tmp_path):
    votes = make_votes(120)
    words = np.array(["a", "b", "c", "d", "e", None], dtype=object)
    wide = np.where(votes[:, 1] < 0, -1, votes[:, 1] + 2**62 * (votes[:, 1] > 1))
    table = pa.table({"x": words[votes[:, 0]], "y": wide, "z": votes[:, 2] * 1000})
    pq.write_table(table, tmp_path / "v.parquet", row_group_size=10)
    (source,) = _sources.open_sources(
        [str(tmp_path / "v.parquet")], columns=None, id_column=None, batch_rows=7
    )
    spans = source.spans(25)
    assert spans[0] == (0, 20)
    assert spans[-1][1] == 120
    whole = _passes.index_of(source)
    parts = [_merging.packed(_passes.index_of(source, *span)) for span in spans]
    found = _merging.merged([_merging.merged(parts[:2]), _merging.merged(parts[2:])])
    assert found.n_rows == [stop - start for start, stop in spans]
    one, other = whole.groups.codes(), _merging.unpacked(found).groups.codes()
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(whole.groups.sizes(), found.sizes)
    for m in range(3):
        assert list(whole.labels[m].meaning(one[1][m])) == list(
            found.labels[m].meaning(other[1][m])
        )


# -- workers that die ------------------------------------------------------------------------------


class TestDeath:
    def test_in_both_passes(self, client, tmp_path):
        def dying(votes, marker):  # as workers do, which do not know this module
            if not marker.exists():
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return votes

        votes = make_votes()
        parts = [
            dask.delayed(dying)(part, tmp_path / "first") if place == 2 else dask.delayed(part)
            for place, part in enumerate(np.array_split(votes, 5))
        ]
        array = da.concatenate([da.from_delayed(p, (40, 5), dtype=votes.dtype) for p in parts])
        found = on_dask.consensus(array, qr.EAC(3), client=client)
        assert (tmp_path / "first").exists()
        (tmp_path / "first").unlink()
        labels = client.compute(found).result()
        assert (tmp_path / "first").exists()
        np.testing.assert_array_equal(labels, in_memory(votes, qr.EAC(3)).labels_)

    def test_while_files_are_written(self, client, tmp_path):
        votes = make_votes(4000)
        paths = write_parts(votes, tmp_path, row_group=40)
        output = tmp_path / "l.parquet"
        victim = next(iter(client.run(os.getpid).values()))
        killed_at = []

        def kill():
            folder = tmp_path / "l.parquet.parts"
            until = time.monotonic() + SECONDS_TO_START
            while time.monotonic() < until:
                n_parts = len(list(folder.glob("part-*")))
                if n_parts:
                    os.kill(victim, signal.SIGKILL)
                    killed_at.append(n_parts)
                    return
                time.sleep(0.002)

        watcher = Thread(target=kill)
        watcher.start()
        on_dask.consensus(paths, qr.EAC(3), output, client=client, task_rows=40, id_column="cell")
        watcher.join()
        assert killed_at[0] < 100
        np.testing.assert_array_equal(labels_of(output), in_memory(votes, qr.EAC(3)).labels_)
        np.testing.assert_array_equal(labels_of(output, "cell"), np.arange(4000))
        assert not (tmp_path / "l.parquet.parts").exists()

    def test_again_and_again(self, client):
        def kill_worker():
            os.kill(os.getpid(), signal.SIGKILL)

        array = da.from_delayed(dask.delayed(kill_worker)(), (30, 5), dtype=int)
        with pytest.raises(OSError, match="died several times at the same task"):
            on_dask.consensus(array, qr.EAC(3), client=client)


# -- the command -----------------------------------------------------------------------------------


class TestCommand:
    def run(self, *arguments):
        return CliRunner().invoke(app, ["consensus", *map(str, arguments)])

    @pytest.mark.usefixtures("client")
    @pytest.mark.parametrize("options", [["-k", 3, "--confidence"], ["--k-range", "2:4"]])
    def test_as_a_stream(self, address, options, tmp_path):
        write_parts(make_votes(), tmp_path)
        votes = tmp_path / "v*.parquet"
        for engine in (["stream"], ["dask", "--scheduler", address]):
            output = tmp_path / f"{engine[0]}.parquet"
            result = self.run(votes, *options, "-o", output, "--engine", *engine)
            assert result.exit_code == 0, result.stderr
            assert "200 objects (ids from 'cell'), 5 clusterings" in result.stderr
        one, other = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("stream", "dask"))
        assert one.equals(other)

    def test_processes_of_its_own(self, tmp_path):
        votes = make_votes(60)
        write_parts(votes, tmp_path)
        arguments = ["consensus", tmp_path, "-k", 3, "-m", "eac", "-o", f"{tmp_path}/out/"]
        result = subprocess.run(
            [sys.executable, "-m", "quorate", *map(str, arguments), "--engine", "dask", "-q"],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=False,
        )
        assert (result.returncode, result.stderr) == (0, "")
        np.testing.assert_array_equal(
            np.concatenate([labels_of(tmp_path / "out" / f"v{i}.parquet") for i in range(3)]),
            in_memory(votes, qr.EAC(3)).labels_,
        )

    def test_without_dask(self, tmp_path, monkeypatch):
        import importlib.util

        real = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name == "distributed" else real(name)
        )
        write_parts(make_votes(60), tmp_path)
        result = self.run(tmp_path, "-k", 3, "--engine", "dask")
        assert result.exit_code == 2
        assert 'pip install "quorate[dask]"' in result.stderr

    def test_wrong_calls(self, tmp_path):
        write_parts(make_votes(60), tmp_path)
        result = self.run(tmp_path, "-k", 3, "--scheduler", "tcp://here:1")
        assert result.exit_code == 2
        assert "--scheduler is for --engine dask" in result.stderr
        result = self.run(tmp_path, "-k", 3, "--engine", "dask")
        assert result.exit_code == 2
        assert "--engine dask: labels are streamed to .parquet, .csv" in result.stderr

    def test_an_unreachable_scheduler(self, tmp_path):
        write_parts(make_votes(60), tmp_path)
        nobody = f"tcp://127.0.0.1:{free_port()}"
        output = tmp_path / "l.parquet"
        with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
            result = self.run(
                tmp_path, "-k", 3, "--engine", "dask", "--scheduler", nobody, "-o", output
            )
        assert result.exit_code == 1
        assert f"No scheduler answers at {nobody}" in result.stderr
        assert not (tmp_path / "l.parquet.parts").exists()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def only_known_here(votes):
    return votes


# -- what is refused -------------------------------------------------------------------------------


class TestComplaints:
    ARRAY = da.from_array(make_votes(), chunks=(60, 5))

    def refuse(self, match, votes, error=ValueError, estimator=None, **options):
        with pytest.raises(error, match=match):
            on_dask.consensus(votes, estimator or qr.EAC(2), **options)

    def test_no_client(self):
        self.refuse(r"There is no Dask client\. .*client='tcp://host:8786'", self.ARRAY)
        self.refuse("'client' is a dask.distributed.Client", self.ARRAY, TypeError, client=8786)
        self.refuse("No scheduler answers at", self.ARRAY, OSError, client="nowhere://1")

    def test_an_object_without_a_vote(self, client, tmp_path):
        votes = make_votes(100)
        votes[[70, 75]] = -1
        self.refuse(
            "without a vote in any clustering: row 10 of partition 1, counted from 0; row 15",
            da.from_array(votes, chunks=(60, 5)),
            client=client,
        )
        paths = write_parts(votes, tmp_path)
        output = tmp_path / "l.parquet"
        options = {"client": client, "output": output, "id_column": "cell"}
        self.refuse(r"v2\.parquet, row 4;", paths, **options)
        assert not output.exists()
        assert not (tmp_path / "l.parquet.parts").exists()

    @pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs a file of one process")
    def test_a_file_that_workers_do_not_see(self, client, tmp_path):
        (path,) = write_parts(make_votes(), tmp_path, n_files=1)
        with path.open("rb") as file, os.fdopen(os.dup2(file.fileno(), 250), "rb") as far:
            own = f"/proc/self/fd/{far.fileno()}"  # a number that no worker has open
            output = tmp_path / "l.parquet"
            self.refuse(
                f"The worker at tcp://.* finds no {own}. Every worker must see",
                [own],
                FileNotFoundError,
                client=client,
                output=output,
            )
        assert not (tmp_path / "l.parquet.parts").exists()

    def test_levels(self, client):
        self.refuse(
            "'level' parameter of CSPA is 'objects'",
            self.ARRAY,
            estimator=qr.CSPA(2, level="objects"),
            client=client,
        )

    def test_what_has_no_output(self, client, tmp_path):
        self.refuse("name an 'output'", tmp_path, client=client)
        self.refuse("no room for confidence", self.ARRAY, client=client, confidence=True)
        frame = dd.from_pandas(pd.DataFrame(make_votes(), columns=list("abcde")), npartitions=2)
        self.refuse("Scores belong to a result", frame, client=client, truth="a")

    def test_what_is_no_table(self, client):
        frame = dd.from_pandas(pd.DataFrame(make_votes(), columns=list("abcde")), npartitions=2)
        self.refuse("table of objects × clusterings", frame["a"], client=client)
        self.refuse("table of objects × clusterings", self.ARRAY[:, 0], client=client)
        self.refuse("no column 'q'", frame, client=client, columns=["a", "q"])
        self.refuse("no column or index 'q'", frame, client=client, id_column="q")
        self.refuse("An Array has no names for 'columns'", self.ARRAY, client=client, columns=["a"])
        self.refuse("no objects", self.ARRAY[:0], client=client)

    def test_names_in_one_file_and_numbers_in_another(self, client, tmp_path):
        pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "v.parquet")
        pq.write_table(pa.table({"a": ["x", "y"]}), tmp_path / "w.parquet")
        self.refuse(
            "Column 'a' holds names in .*w.parquet, but numbers in .*v.parquet",
            tmp_path,
            client=client,
            output=tmp_path / "l.parquet",
        )

    def test_a_cluster_that_does_not_know_what_is_sent(self, client):
        array = self.ARRAY.map_blocks(only_known_here, dtype=int)
        self.refuse("must be installed at the scheduler", array, OSError, client=client)

    def test_too_many_clusters(self, client):
        self.refuse("tells only 86 group", self.ARRAY, estimator=qr.EAC(500), client=client)

    def test_a_client_that_is_closed(self, address):
        with Client(address, set_as_default=False) as closed:
            pass
        with pytest.raises(ValueError, match="client is closed"):
            on_dask.consensus(self.frame(), qr.EAC(2), client=closed)

    def test_votes_that_are_others_the_second_time(self, client):
        def draw(part):
            return part.assign(a=np.random.default_rng().integers(0, 1 << 40, len(part)))

        labels = on_dask.consensus(self.frame().map_partitions(draw), qr.EAC(2), client=client)
        with pytest.raises(ValueError, match=r"Partition 0 was computed twice.* persist"):
            labels.compute(scheduler="synchronous")

    @pytest.mark.parametrize("given", [{"columns": ["a", "a"]}, {"columns": ["a"], "truth": "a"}])
    def test_a_column_has_one_part(self, client, given):
        with pytest.raises(ValueError, match="'a' was named as a clustering, and once more"):
            on_dask.consensus(self.frame(), qr.EAC(2), client=client, **given)

    def frame(self):
        return dd.from_pandas(pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 1, 2, 2]}), npartitions=1)

    def test_what_a_killed_run_left_is_not_used(self, client, tmp_path):
        target = tmp_path / "l.parquet"
        votes = {"partitions": 1, "columns": ["a", "b"], "truth": None}
        asked = {
            "estimator": estimator_in_words(qr.EAC(2)),
            "cuts": None,
            "confidence": False,
            "id column": None,
            "rows of a part": 0,
            "output": [str(target)],
        }
        left = Folder(tmp_path / "l.parquet.parts", votes, asked, resumes=False)
        left.write_labels({"label": np.array([1, 1], dtype=np.uint8)})
        left.close()
        on_dask.consensus(self.frame(), qr.EAC(2), target, client=client)
        assert labels_of(target).tolist() == [0, 0, 1, 1]

    def test_no_dask(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "distributed", None)
        self.refuse(r'pip install "quorate\[dask\]"', self.ARRAY, ImportError)


# -- ensembles -------------------------------------------------------------------------------------


def test_generating_on_a_cluster_gives_equal_votes(client):
    features = np.random.default_rng(0).normal(size=(120, 4))
    options = {"n_members": 6, "method": ["kmeans", "rpcl"], "random_state": 3}
    expected = qr.ensembles.generate(features, n_jobs=1, **options)
    with joblib.parallel_config(backend="dask", client=client):
        found = qr.ensembles.generate(features, **options)
    np.testing.assert_array_equal(found, expected)
