"""The command and the tables where a system is not Linux: simulated, see `windows_like`."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ensemblage as en

pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("distributed")
SOURCES = sorted(Path(en.__file__).parent.rglob("*.py"))
PROGRAM = Path(__file__).parent / "windows_like.py"
#: What opens binary streams, or files by number.
_BINARY = ("os", "gzip", "archive", "content", "_opener(connections)", "tables", "Image")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="it is simulated on Linux")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_text_has_an_encoding(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and _opens_text(node):
            named = {keyword.arg for keyword in node.keywords}
            assert "encoding" in named, f"{path.name}:{node.lineno}"


def _opens_text(call):
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
    if name not in ("open", "read_text", "write_text", "TextIOWrapper", "fdopen"):
        return False
    if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in _BINARY:
        return False
    modes = [node.value for given in call.args for node in ast.walk(given) if _is_mode(node)]
    return not any("b" in mode for mode in modes)


def _is_mode(node):
    return isinstance(node, ast.Constant) and node.value in (
        "rb",
        "wb",
        "ab",
        "xb",
        "r+b",
        "x+b",
        "r",
        "w",
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_module_of_posix_is_needed_to_import(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imported for alias in node.names}
    assert not names & {"fcntl", "resource", "pwd", "grp", "termios", "msvcrt"}


def run(*words, cwd):
    variables = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONUTF8", "LANG")
    }
    variables |= {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    variables |= {
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", str(PROGRAM), *map(str, words)],
        capture_output=True,
        cwd=cwd,
        env=variables,
        check=False,
    )
    told = done.stderr.decode("cp1252")
    assert "Traceback" not in told, told
    assert "bug in ensemblage" not in told
    return done.returncode, done.stdout, told


@linux_only
class TestLikeWindows:
    @pytest.fixture
    def folder(self, tmp_path):
        place = tmp_path / "my votes" / "Zürich 漢字"
        place.mkdir(parents=True)
        return place

    @pytest.fixture
    def votes(self, folder):
        """Write votes with Windows' line ends, and names that cp1252 does not have."""
        rng = np.random.default_rng(0)
        truth = np.arange(300) % 3
        table = np.where(rng.random((300, 4)) < 0.1, rng.integers(0, 3, (300, 4)), truth[:, None])
        rows = [f"ż{i}," + ",".join(f"Λ{vote}" for vote in row) for i, row in enumerate(table)]
        path = folder / "a b.csv"
        text = "\r\n".join(["名前,ä,b,c,d", *rows, ""])
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        return path

    def labels(self, path):
        lines = path.read_text(encoding="utf-8").splitlines()
        return [line.split(",")[:2] for line in lines[1:]]

    def test_all_engines_write_the_same(self, votes, folder):
        found = []
        for engine in ("memory", "stream"):
            output = folder / f"{engine} out.csv"
            words = ["-k", 3, "-m", "eac", "-o", output, "--engine", engine, "--json"]
            status, printed, told = run("consensus", votes, *words, cwd=folder)
            assert status == 0, told
            assert b'"id_column"' in printed
            assert b"\r" not in output.read_bytes()
            found.append(self.labels(output))
            again, _, told = run("consensus", votes, *words, cwd=folder)  # over the old one
            assert again == 0, told
        assert found[0] == found[1]
        assert [name for name, _ in found[0][:2]] == ["ż0", "ż1"]
        assert sorted(path.name for path in folder.iterdir()) == [
            "a b.csv",
            "memory out.csv",
            "stream out.csv",
        ]

    def test_a_stream_to_parquet(self, votes, folder):
        output = folder / "l.parquet"
        status, _, told = run(
            "consensus", votes, "-k", 3, "--engine", "stream", "-o", output, cwd=folder
        )
        assert status == 0, told
        assert pq.read_table(output).num_rows == 300
        assert not (folder / "l.parquet.parts").exists()

    def test_generate_leaves_its_pool_only(self, folder):
        rng = np.random.default_rng(0)
        np.savetxt(folder / "f.csv", rng.normal(size=(60, 3)), delimiter=",", newline="\r\n")
        status, _, told = run(
            "generate", "f.csv", "-m", 5, "-o", "pool.csv", "--jobs", 1, cwd=folder
        )
        assert status == 0, told
        assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "pool.csv"]
        status, _, told = run(
            "consensus", "pool.csv", "-k", 2, "-o", "l.csv", "--save", "m.ensemblage", cwd=folder
        )
        assert status == 0, told
        status, printed, told = run("predict", "m.ensemblage", "pool.csv", cwd=folder)
        assert status == 0, told
        assert printed == (folder / "l.csv").read_bytes()

    def test_names_that_the_terminal_lacks(self, votes, folder):
        for words in (["choose-k", votes], ["compare", votes, "-k", 3, "--methods", "eac,vote"]):
            status, printed, told = run(*words, cwd=folder)
            assert status == 0, told
            assert printed
        status, _, told = run("consensus", votes, "-k", 3, "--columns", "漢字", cwd=folder)
        assert status == 2
        assert "has no column" in told

    def test_a_report(self, votes, folder):
        status, _, told = run("report", votes, "-k", 3, "-o", "r.html", cwd=folder)
        assert status == 0, told
        assert "ä" in (folder / "r.html").read_text(encoding="utf-8")


@linux_only
def test_an_output_that_is_open_is_refused(tmp_path):
    """A program such as a spreadsheet holds the old labels: on Windows they cannot be replaced."""
    code = f"""
import sys; sys.path.insert(0, {str(PROGRAM.parent)!r})
import windows_like; windows_like.become()
import numpy as np
from ensemblage import tables
with open("l.csv", "w", encoding="utf-8") as held:
    held.write("old")
    held.flush()
    try:
        tables.write("l.csv", {{"label": np.arange(3)}})
    except PermissionError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert "l.csv cannot be replaced" in done.stdout
    assert "Close" in done.stdout
    assert (tmp_path / "l.csv").read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["l.csv"]


@linux_only
def test_two_runs_cannot_share_a_folder(tmp_path):
    code = f"""
import sys; sys.path.insert(0, {str(PROGRAM.parent)!r})
import windows_like; windows_like.become()
from pathlib import Path
from ensemblage.tables import lock
held = lock(Path("x.parts/.lock"))
print(held is not None, lock(Path("x.parts/.lock")))
held.close()
print(lock(Path("x.parts/.lock")) is not None)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout.split() == ["True", "None", "True"]


def test_files_that_we_make_have_names_that_every_system_takes():
    """Names made of several parts hold no colon, quote, star or bar."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = isinstance(node, ast.Call) and getattr(node.func, "attr", "")
            if called in ("with_name", "joinpath"):
                texts = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                odd = [
                    text for text in texts if isinstance(text, str) and set(text) & set(':"*|<>?')
                ]
                assert not odd, f"{path.name}:{node.lineno}"
