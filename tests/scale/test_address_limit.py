"""A stream under ``ulimit -v``: fewer threads and no maps, or a message that names the limit."""

import os
import subprocess
import sys

import numpy as np
import pytest

import ensemblage as en
from ensemblage import _validate
from ensemblage._validate import memory
from ensemblage.cli import addresses
from ensemblage.cli.errors import describe
from ensemblage.scale import stream
from ensemblage.tables import ipc

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses are limited on Linux")
N = 300_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limited")
    truth = np.random.default_rng(0).integers(0, 3, N).astype(np.int8)
    table = pa.table({f"m{i}": (truth + i) % 3 for i in range(4)})
    pq.write_table(table, folder / "v.parquet", row_group_size=1 << 16)
    with pa.OSFile(str(folder / "v.arrow"), "wb") as file:
        writer = pa.ipc.new_file(file, table.schema)
        writer.write_table(table, max_chunksize=1 << 16)
        writer.close()
    return folder


def run(folder, suffix, kilobytes, *options):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1024 * kilobytes,) * 2)

    call = ["consensus", f"v.{suffix}", "-k", "3", *options, "-o", f"{suffix}{kilobytes}.csv"]
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return subprocess.run(
        [sys.executable, "-m", "ensemblage", *call],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name not in threads},
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize(
    ("suffix", "method", "engine"),
    [
        ("parquet", "eac", "stream"),
        ("arrow", "eac", "stream"),
        ("parquet", "consensus", "stream"),
        ("parquet", "consensus", "memory"),
    ],
)
@pytest.mark.parametrize("kilobytes", [1_500_000, 2_000_000, 2_100_000])
def test_two_gigabytes_are_enough(folder, suffix, method, engine, kilobytes):
    done = run(folder, suffix, kilobytes, "--method", method, "--engine", engine)
    assert done.returncode == 0, done.stderr
    assert (folder / f"{suffix}{kilobytes}.csv").read_text().count("\n") == N + 1


def test_settings_of_the_user_stay(monkeypatch):
    monkeypatch.setattr(os, "environ", {"OMP_NUM_THREADS": "2"})
    for most, one_thread in ((resource.RLIM_INFINITY, False), (2 << 30, True)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, most=most: (most, most))
        addresses.check_addresses()
        assert os.environ["OMP_NUM_THREADS"] == "2"
        assert ("MKL_NUM_THREADS" in os.environ) == one_thread


@pytest.mark.parametrize(("cores", "one_thread"), [(1, False), (64, True)])
def test_each_core_takes_addresses(cores, one_thread, monkeypatch):
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10 << 30, 10 << 30))
    addresses.check_addresses()
    assert ("MKL_NUM_THREADS" in os.environ) == one_thread


@pytest.mark.parametrize("kilobytes", [400_000, 700_000, 1_000_000])
def test_a_limit_too_small_for_the_libraries_is_told(folder, kilobytes):
    done = run(folder, "arrow", kilobytes)
    assert done.returncode == 1
    assert done.stderr.startswith("error: The limit of addresses (ulimit -v) must be at least")
    assert done.stderr.count("\n") == 1


def test_what_does_not_fit_names_the_limit(monkeypatch):
    monkeypatch.setattr(memory, "address_limit", lambda: "1.0 GB")
    for error in (MemoryError("No room"), RuntimeError("can't start new thread")):
        code, message = describe(error)
        assert code == 1
        assert message.endswith(". The limit of addresses (ulimit -v) is 1.0 GB: raise it.")
    monkeypatch.setattr(memory, "address_limit", lambda: None)
    assert describe(MemoryError())[1] == "There was not enough memory for this."


def test_files_are_mapped_only_where_there_is_room(folder, monkeypatch):
    for cramped, kind in ((True, pa.OSFile), (False, pa.MemoryMappedFile)):
        monkeypatch.setattr(ipc, "is_cramped", lambda cramped=cramped: cramped)
        with ipc.open_mapped(str(folder / "v.arrow")) as file:
            assert isinstance(file, kind)


def test_arrow_has_one_thread_and_its_threads_are_given_back(folder, monkeypatch):
    before, found = (pa.cpu_count(), pa.io_thread_count()), []
    whole = stream.consensus_of

    def consensus_of(*arguments):
        found.append((pa.cpu_count(), pa.io_thread_count()))
        return whole(*arguments)

    monkeypatch.setattr(_validate, "is_cramped", lambda: True)
    monkeypatch.setattr(stream, "consensus_of", consensus_of)
    stream.consensus(folder / "v.arrow", en.EAC(3), folder / "cramped.csv")
    assert found == [(1, 1)]
    assert (pa.cpu_count(), pa.io_thread_count()) == before
