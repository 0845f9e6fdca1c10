"""How much memory a run may count on."""

import pytest

from ensemblage._validate import available_memory, memory


@pytest.fixture
def group(tmp_path, monkeypatch):
    """Return what writes the files of a control group."""
    monkeypatch.delenv("ENSEMBLAGE_MEMORY", raising=False)
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)

    def write(most, used, **stat):
        (tmp_path / "memory.max").write_text(f"{most}\n")
        (tmp_path / "memory.current").write_text(f"{used}\n")
        (tmp_path / "memory.stat").write_text("".join(f"{k} {v}\n" for k, v in stat.items()))

    return write


def test_what_the_group_has_left(group):
    group(10_000, 4_000, anon=4_000, inactive_file=0, active_file=0)
    assert available_memory() == 6_000


def test_files_in_the_cache_do_not_count(group):
    group(10_000, 9_900, anon=1_900, inactive_file=6_000, active_file=2_000)
    assert available_memory() == 8_100


def test_a_group_without_a_limit_does_not_count(group):
    group("max", 9_900)
    assert available_memory() > 10_000


def test_a_limit_on_addresses(group, monkeypatch):
    """As ``ulimit -v`` sets it: what this process has already is not left."""
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1 << 44, 1 << 44))
    roomy = memory._left_of_addresses()
    assert 0 < roomy < 1 << 44
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1 << 20, 1 << 20))
    assert available_memory() == 0
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY,) * 2)
    assert memory._left_of_addresses() is None


def test_no_group(group):
    assert available_memory() > 0


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("700", 700), ("4GB", 4e9), (" 4 g ", 4e9), ("1.5GiB", 1.5 * 2**30), ("2kB", 2000),
        ("3MiB", 3 * 2**20), ("1T", 1e12), ("10b", 10),
    ],
)  # fmt: skip
def test_a_size_in_words(monkeypatch, text, n_bytes):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", text)
    assert available_memory() == n_bytes


@pytest.mark.parametrize("text", ["much", "-5", "4 GB free", "1e9", "4XB"])
def test_a_size_that_is_none(monkeypatch, text):
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", text)
    with pytest.raises(ValueError, match="ENSEMBLAGE_MEMORY must be a number of bytes, such as"):
        available_memory()
