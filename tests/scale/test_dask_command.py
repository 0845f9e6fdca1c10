"""``ensemblage consensus --engine dask``: labels as those of a stream, and what it refuses."""

import os
import socket
import subprocess
import sys

import numpy as np
import pytest
from scale_helpers import in_memory, labels_of, make_votes, table_of, write_parts
from typer.testing import CliRunner

import ensemblage as en
from ensemblage.cli import app

pytest.importorskip("dask.distributed")
dask = pytest.importorskip("dask")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="processes are killed as POSIX does")


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

    def test_an_id_that_occurs_twice_is_refused_or_accepted(self, address, tmp_path):
        votes = tmp_path / "v.parquet"
        cells = pa.array([f"c{i}" for i in [*range(199), 4]])
        pq.write_table(table_of(make_votes()).add_column(0, "cell", cells), votes)
        output = tmp_path / "l.csv"
        call = [votes, "-k", 3, "-o", output, "--engine", "dask", "--scheduler", address]
        refused = self.run(*call)
        assert refused.exit_code == 1
        assert "'c4' is in rows 5 and 200" in refused.stderr
        assert not output.exists()
        assert self.run(*call, "--id-column", "cell").exit_code == 0
        assert output.read_text().splitlines()[-1].startswith("c4,")

    def test_processes_of_its_own(self, tmp_path):
        votes = make_votes(60)
        write_parts(votes, tmp_path)
        arguments = ["consensus", tmp_path, "-k", 3, "-m", "eac", "-o", f"{tmp_path}/out/"]
        result = subprocess.run(
            [sys.executable, "-m", "ensemblage", *map(str, arguments), "--engine", "dask", "-q"],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=False,
        )
        assert (result.returncode, result.stderr) == (0, "")
        np.testing.assert_array_equal(
            np.concatenate([labels_of(tmp_path / "out" / f"v{i}.parquet") for i in range(3)]),
            in_memory(votes, en.EAC(3)).labels_,
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
        assert 'pip install "ensemblage[dask]"' in result.stderr

    def test_wrong_calls(self, tmp_path):
        write_parts(make_votes(60), tmp_path)
        result = self.run(tmp_path, "-k", 3, "--scheduler", "tcp://here:1")
        assert result.exit_code == 2
        assert "--scheduler needs --engine dask" in result.stderr
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
