"""What several tests of datasets need."""

import pytest
from fetch_server import serving

from ensemblage import datasets
from ensemblage.datasets import _load


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no data folder, so that nothing is found by chance."""
    monkeypatch.setenv("ENSEMBLAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ENSEMBLAGE_DATA", str(tmp_path / "nowhere"))
    return tmp_path / "cache"


@pytest.fixture
def no_network(monkeypatch):
    def refuse(urls, *_, **__):
        raise datasets.DownloadError(f"{urls[0]}: Connection refused")

    monkeypatch.setattr(_load, "fetch", refuse)
