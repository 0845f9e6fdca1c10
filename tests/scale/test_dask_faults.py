"""What goes wrong on a Dask cluster: workers that die are made up for, bad calls are refused."""

import os
import signal
import socket
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from scale_helpers import change, in_memory, labels_of, make_votes, write_parts

import ensemblage as en
from ensemblage.scale import dask as on_dask
from ensemblage.scale._checkpoint import Folder, format_estimator
from ensemblage.scale._tasks import Tasks

pytest.importorskip("dask.distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")

from distributed import Client  # noqa: E402

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are killed as POSIX does")


# -- votes that change -----------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["first_pass", "second_pass"])
def test_votes_that_change_before_a_pass_are_noticed_in_it(when, client, tmp_path, monkeypatch):
    path = tmp_path / "v.csv"
    path.write_text("a,b\n" + "0,1\n1,0\n" * 300)
    begun = []

    def watched(name):
        real = getattr(Tasks, name)

        def begin(self, *arguments):
            begun.append(name)
            if name == when:
                change(path, 4, b"1,0\n0,1\n")
            return real(self, *arguments)

        return begin

    for name in ("first_pass", "second_pass"):
        monkeypatch.setattr(Tasks, name, watched(name))
    with pytest.raises(en.tables.FileFormatError, match="has changed while it was read"):
        on_dask.consensus(path, en.EAC(2), tmp_path / "l.csv", client=client)
    assert begun[-1] == when
    assert [left.name for left in tmp_path.iterdir()] == ["v.csv"]


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
        found = on_dask.consensus(array, en.EAC(3), client=client)
        assert (tmp_path / "first").exists()
        (tmp_path / "first").unlink()
        labels = client.compute(found).result()
        assert (tmp_path / "first").exists()
        np.testing.assert_array_equal(labels, in_memory(votes, en.EAC(3)).labels_)

    def test_while_files_are_written(self, client, tmp_path):
        def die_after_a_part(marker):
            from ensemblage.scale._checkpoint import Folder

            write_part = Folder.write_part

            def write_and_die(self, *arguments):
                write_part(self, *arguments)
                marker.touch()
                os.kill(os.getpid(), signal.SIGKILL)

            Folder.write_part = write_and_die

        votes = make_votes(4000)
        paths = write_parts(votes, tmp_path, row_group=40)
        output, marker = tmp_path / "l.parquet", tmp_path / "died"
        victim = next(iter(client.scheduler_info()["workers"]))
        client.run(die_after_a_part, marker, workers=[victim])
        on_dask.consensus(paths, en.EAC(3), output, client=client, task_rows=40, id_column="cell")
        assert marker.exists()
        np.testing.assert_array_equal(labels_of(output), in_memory(votes, en.EAC(3)).labels_)
        np.testing.assert_array_equal(labels_of(output, "cell"), np.arange(4000))
        assert not (tmp_path / "l.parquet.parts").exists()

    def test_again_and_again(self, client):
        def kill_worker():
            os.kill(os.getpid(), signal.SIGKILL)

        array = da.from_delayed(dask.delayed(kill_worker)(), (30, 5), dtype=int)
        with pytest.raises(OSError, match="died several times at the same task"):
            on_dask.consensus(array, en.EAC(3), client=client)


# -- what is refused -------------------------------------------------------------------------------


def only_known_here(votes):
    return votes


class TestComplaints:
    ARRAY = da.from_array(make_votes(), chunks=(60, 5))

    def refuse(self, match, votes, error=ValueError, estimator=None, **options):
        with pytest.raises(error, match=match):
            on_dask.consensus(votes, estimator or en.EAC(2), **options)

    def test_no_client(self):
        self.refuse(r"There is no Dask client\. .*client='tcp://host:8786'", self.ARRAY)
        self.refuse("'client' is a dask.distributed.Client", self.ARRAY, TypeError, client=8786)
        self.refuse("No scheduler answers at", self.ARRAY, OSError, client="nowhere://1")

    @pytest.mark.parametrize(
        "sent",
        [
            b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n" * 20,
            bytes(4000),
            b"\xff" * 4000,
            (5).to_bytes(8, "little") + b"abcde" * 800,
        ],
    )
    def test_a_server_of_another_kind(self, sent):
        """Its bytes are parsed as a length of 3 EiB, or as numbers that are not there."""
        with socket.create_server(("127.0.0.1", 0)) as listening, ExitStack() as accepted:

            def answer():
                with suppress(OSError):
                    while True:
                        accepted.enter_context(listening.accept()[0]).sendall(sent)

            server = Thread(target=answer)
            server.start()
            accepted.callback(server.join)
            accepted.callback(listening.shutdown, socket.SHUT_RDWR)
            address = f"tcp://127.0.0.1:{listening.getsockname()[1]}"
            match = f"No scheduler answers at {address}: .*Check the address"
            with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
                self.refuse(match, self.ARRAY, ConnectionError, client=address)

    @pytest.mark.parametrize(
        ("error", "words"),
        [
            (MemoryError("3 EiB"), "what answers there is not a scheduler"),
            (OSError("shut"), "shut"),
        ],
    )
    def test_the_reason_is_that_of_the_network_or_another_server(self, error, words, monkeypatch):
        def reach(_):
            raise error

        monkeypatch.setattr(on_dask, "_reach", reach)
        self.refuse(f"at tcp://a:1: {words}", self.ARRAY, ConnectionError, client="tcp://a:1")

    def test_an_object_without_a_vote(self, client, tmp_path):
        votes = make_votes(100)
        votes[[70, 75]] = -1
        self.refuse(
            "2 .* have no vote in any clustering: row 10 of partition 1, counted from 0; row 15",
            da.from_array(votes, chunks=(60, 5)),
            client=client,
        )
        paths = write_parts(votes, tmp_path)
        output = tmp_path / "l.parquet"
        options = {"client": client, "output": output, "id_column": "cell"}
        self.refuse(r"v2\.parquet, row 4\)?;", paths, **options)
        assert not output.exists()
        assert not (tmp_path / "l.parquet.parts").exists()

    @pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs a file of one process")
    def test_a_file_that_workers_do_not_see(self, client, tmp_path):
        (path,) = write_parts(make_votes(), tmp_path, n_files=1)
        with path.open("rb") as file, os.fdopen(os.dup2(file.fileno(), 250), "rb") as far:
            own = f"/proc/self/fd/{far.fileno()}"  # a number that no worker has open
            output = tmp_path / "l.parquet"
            self.refuse(
                f"The worker at tcp://.* does not find {own}. Every worker must see",
                [own],
                FileNotFoundError,
                client=client,
                output=output,
            )
        assert not (tmp_path / "l.parquet.parts").exists()

    def test_levels(self, client):
        self.refuse(
            "'level' parameter of CSPA must be 'microclusters'",
            self.ARRAY,
            estimator=en.CSPA(2, level="objects"),
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
        self.refuse("Install the same versions of ensemblage", array, OSError, client=client)

    def test_too_many_clusters(self, client):
        self.refuse("tells only 86 group", self.ARRAY, estimator=en.EAC(500), client=client)

    def test_a_client_that_is_closed(self, address):
        with Client(address, set_as_default=False) as closed:
            pass
        with pytest.raises(ValueError, match="client is closed"):
            on_dask.consensus(self.frame(), en.EAC(2), client=closed)

    def test_votes_that_are_others_the_second_time(self, client):
        def draw(part):
            return part.assign(a=np.random.default_rng().integers(0, 1 << 40, len(part)))

        labels = on_dask.consensus(self.frame().map_partitions(draw), en.EAC(2), client=client)
        with pytest.raises(ValueError, match=r"Partition 0 was computed twice.* persist"):
            labels.compute(scheduler="synchronous")

    @pytest.mark.parametrize("given", [{"columns": ["a", "a"]}, {"columns": ["a"], "truth": "a"}])
    def test_a_column_has_one_part(self, client, given):
        with pytest.raises(ValueError, match="'a' was named twice: as a clustering"):
            on_dask.consensus(self.frame(), en.EAC(2), client=client, **given)

    def frame(self):
        return dd.from_pandas(pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 1, 2, 2]}), npartitions=1)

    def test_what_a_killed_run_left_is_not_used(self, client, tmp_path):
        target = tmp_path / "l.parquet"
        votes = {"partitions": 1, "columns": ["a", "b"], "truth": None}
        asked = {
            "estimator": format_estimator(en.EAC(2)),
            "cuts": None,
            "confidence": False,
            "id column": None,
            "rows of a part": 0,
            "output": [str(target)],
        }
        left = Folder(tmp_path / "l.parquet.parts", votes, asked, resumes=False)
        left.write_labels({"label": np.array([1, 1], dtype=np.uint8)})
        left.close()
        on_dask.consensus(self.frame(), en.EAC(2), target, client=client)
        assert labels_of(target).tolist() == [0, 0, 1, 1]

    def test_no_dask(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "distributed", None)
        self.refuse(r'pip install "ensemblage\[dask\]"', self.ARRAY, ImportError)
