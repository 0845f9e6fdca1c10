"""A cluster that speaks TLS: labels as without, and nobody without a certificate gets in."""

import gc
import os

import numpy as np
import pytest
from scale_helpers import in_memory, labels_of, make_votes, write_parts
from typer.testing import CliRunner

import ensemblage as en
from ensemblage.cli import app

dask = pytest.importorskip("dask")
pytest.importorskip("dask.distributed")
pytest.importorskip("pyarrow.parquet")

from distributed import Client, Security  # noqa: E402

from ensemblage.scale import dask as on_dask  # noqa: E402

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are killed as POSIX does")


def security_of(folder, name):
    return Security(
        tls_ca_file=str(folder / "authority.pem"),
        tls_client_cert=str(folder / f"{name}.pem"),
        tls_client_key=str(folder / f"{name}.key"),
        require_encryption=True,
    )


def configuration(folder, name):
    """Return what a user writes into Dask's configuration, or as DASK_DISTRIBUTED__COMM__TLS__."""
    return {
        "distributed.comm.tls.ca-file": str(folder / "authority.pem"),
        "distributed.comm.tls.client.cert": str(folder / f"{name}.pem"),
        "distributed.comm.tls.client.key": str(folder / f"{name}.key"),
        "distributed.comm.timeouts.connect": "2s",
    }


def files_with_labels(tmp_path):
    votes = make_votes(90)
    write_parts(votes, tmp_path)
    return tmp_path / "v*.parquet", in_memory(votes, en.EAC(3)).labels_


def test_a_client_with_a_certificate(tls_address, certificates, tmp_path):
    votes, expected = files_with_labels(tmp_path)
    with Client(
        tls_address, security=security_of(certificates, "own"), set_as_default=False
    ) as client:
        on_dask.consensus(votes, en.EAC(3), tmp_path / "l.parquet", client=client, id_column="cell")
    np.testing.assert_array_equal(labels_of(tmp_path / "l.parquet"), expected)


def test_the_command_takes_certificates_of_the_configuration(tls_address, certificates, tmp_path):
    votes, expected = files_with_labels(tmp_path)
    words = ["consensus", votes, "-k", 3, "-m", "eac", "-o", tmp_path / "l.parquet"]
    words += ["--engine", "dask", "--scheduler", tls_address]
    with dask.config.set(configuration(certificates, "own")):
        result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 0, result.stderr
    np.testing.assert_array_equal(labels_of(tmp_path / "l.parquet"), expected)


def n_clients():
    return sum(type(item) is Client for item in gc.get_objects())


class TestRefused:
    @pytest.fixture(autouse=True)
    def collect(self):
        """Collect refused clients: in the thread of the next one they wait for its lock."""
        yield
        gc.collect()

    def refuse(self, address, pattern, tmp_path):
        votes, _ = files_with_labels(tmp_path)
        gc.collect()
        before = n_clients()
        with pytest.raises(ConnectionError, match=pattern):
            on_dask.consensus(votes, en.EAC(3), tmp_path / "l.parquet", client=address)
        assert n_clients() == before  # none is left that would be closed later
        assert not (tmp_path / "l.parquet").exists()
        assert not (tmp_path / "l.parquet.parts").exists()

    def test_no_certificate(self, tls_address, tmp_path):
        self.refuse(tls_address, r"needs certificates: .*distributed\.comm\.tls\.ca-file", tmp_path)

    def test_a_certificate_of_a_stranger(self, tls_address, certificates, tmp_path):
        with dask.config.set(configuration(certificates, "stranger")):
            self.refuse(tls_address, "No scheduler answers", tmp_path)

    def test_no_tls(self, tls_address, tmp_path):
        with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
            self.refuse(tls_address.replace("tls", "tcp"), "No scheduler answers", tmp_path)

    def test_a_scheduler_without_tls_where_it_is_required(self, address, certificates):
        security = security_of(certificates, "own")
        with pytest.raises(RuntimeError, match="encryption required"):
            Client(address, security=security, set_as_default=False)


def test_processes_of_the_command_are_private():
    pytest.importorskip("cryptography")
    with on_dask.local_cluster(1) as cluster:
        assert cluster.scheduler_address.startswith("tls://")
        with pytest.raises(ConnectionError, match="needs certificates"):
            on_dask.consensus("no.csv", en.EAC(3), "l.csv", client=cluster.scheduler_address)
        with Client(cluster, set_as_default=False) as client:
            assert client.submit(sum, [1, 2]).result() == 3
