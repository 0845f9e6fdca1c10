"""Long ids of Parquet that all differ: counted before they are read, and read in short batches."""

from types import SimpleNamespace

import numpy as np
import pytest

import ensemblage as en
from ensemblage import tables
from ensemblage.tables.columns import decoded_bytes
from ensemblage.tables.parquet_sizes import sizes_of_texts

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
N, LENGTH = 40_000, 600


@pytest.fixture
def path(tmp_path):
    ids = [f"{row:06d}" * (LENGTH // 6) for row in range(N)]
    table = pa.table({"cell": ids, "a": np.arange(N) % 3, "b": np.arange(N) % 2})
    pq.write_table(table, tmp_path / "votes.parquet")
    return tmp_path / "votes.parquet"


def test_the_estimate_has_their_bytes(path):
    assert 2 * N * LENGTH < tables.bytes_in_memory([str(path)]) < 3 * N * LENGTH


def test_they_do_not_fit_in_memory(path, monkeypatch):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", f"{1.5 * N * LENGTH:.0f}")
    with pytest.raises(en.MemoryBudgetError, match="The ids and kept columns"):
        tables.read(path)
    (source,) = tables.scan([path])
    batches = list(source.batches(carried=True))
    assert sum(batch.n_rows for batch in batches) == N
    assert max(batch.n_rows for batch in batches) < N // 4


def test_looking_for_ids_reads_the_first_rows_only(path, monkeypatch):
    n_rows = []
    whole = pq.ParquetFile.iter_batches

    def counted(self, *arguments, **options):
        for batch in whole(self, *arguments, **options):
            n_rows.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", counted)
    (source,) = tables.scan([path], id_column="auto")
    assert source.id_name == "cell"
    assert max(n_rows) <= tables.source.JUDGED_ROWS
    once_for_each_question = 2 * tables.source.JUDGED_ROWS
    assert sum(n_rows) <= once_for_each_question + 1 < N  # and a row for the sizes


def test_all_row_groups_are_measured_but_empty_ones(path):
    """Damaged metadata of a column ends the process, unless a row was read before."""
    pq.write_table(pq.read_table(path), path, row_group_size=N // 4)
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(i) for i in range(4)]
        sizes = sizes_of_texts(file, [*groups, SimpleNamespace(num_rows=0)])
    assert N * LENGTH <= sizes["cell"] < 1.1 * N * LENGTH
    assert set(sizes) == {"cell"}


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "large_binary"])
def test_texts_in_place_are_measured(kind):
    column = pa.array(["x" * 100, None, "y" * 50]).cast(getattr(pa, kind)())
    assert 150 <= decoded_bytes(column) < 250
    assert 50 <= decoded_bytes(column.slice(2)) < 100
    assert decoded_bytes(pa.array([1, 2])) == 0
