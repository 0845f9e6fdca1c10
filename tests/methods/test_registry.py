"""One registry of methods: a file and a line in METHODS are enough for everything else."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from heaviest import Heaviest

import ensemblage as en
from ensemblage import methods

SOURCE = Path(en.__file__).parent
VOTES = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [2, 2, 2], [2, 2, 3], [2, 3, 2], [2, 2, 2]]


@pytest.fixture
def registered(monkeypatch):
    """Register a method that the library does not have, as its line in METHODS would."""
    monkeypatch.setitem(en.METHODS, "heaviest", Heaviest)


@pytest.fixture
def votes_file(tmp_path):
    path = tmp_path / "votes.csv"
    np.savetxt(path, VOTES, fmt="%d", delimiter=",", header="a,b,c", comments="")
    return path


PROGRAM = """
import sys
import ensemblage as en
from heaviest import Heaviest
en.METHODS["heaviest"] = Heaviest  # before the command is imported, as its line in METHODS is
from ensemblage.cli import main
main()
"""


def run(*arguments):
    """Run the command with one method more."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.usefixtures("registered")
class TestARegisteredMethod:
    def test_is_a_name_of_the_package(self):
        assert en.Heaviest is methods.Heaviest is Heaviest
        assert "heaviest" in methods.NAMES

    def test_is_fitted_by_name(self):
        alone = Heaviest(2).fit(VOTES)
        named = en.Consensus(2, method="heaviest").fit(VOTES)
        assert named.method_ == "heaviest"
        assert np.array_equal(named.labels_, alone.labels_)
        assert np.array_equal(alone.predict(VOTES), alone.labels_)

    def test_is_saved_and_loaded(self, tmp_path):
        Heaviest(2).fit(VOTES).save(tmp_path / "model")
        loaded = en.load(tmp_path / "model")
        assert type(loaded) is Heaviest
        assert np.array_equal(loaded.cut(3), Heaviest(3).fit(VOTES).labels_)

    def test_is_a_method_of_the_command(self, votes_file, tmp_path):
        method = ("--method", "heaviest", "-k", 2)
        done = run("consensus", votes_file, *method, "-o", tmp_path / "out.csv")
        assert done.returncode == 0, done.stderr
        labels = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1)[:, -1]
        assert np.array_equal(labels, Heaviest(2).fit(VOTES).labels_)
        compared = run("compare", votes_file, "-k", 2, "--methods", "eac,heaviest")
        assert "heaviest" in compared.stdout
        refused = run("consensus", votes_file, "--method", "heavy", "-k", 2)
        assert "heaviest" in refused.stderr

    def test_is_reported(self):
        page = en.report.html(Heaviest(2).fit(VOTES))
        assert "Heaviest" in page

    def test_is_plotted(self):
        mpl.use("agg")
        model = Heaviest(2).fit(VOTES)
        assert en.plot.heatmap(model) is not None
        with pytest.raises(ValueError, match="this Heaviest has none: it does not merge"):
            en.plot.dendrogram(model)

    def test_refuses_weights_and_names_those_that_take_them(self):
        with pytest.raises(TypeError, match=r"Heaviest does not support member_weight.*LWEA"):
            Heaviest(2).fit(VOTES, member_weight=[1, 1, 2])


def test_names_are_known_without_heavy_imports():
    code = (
        "import sys; from ensemblage.methods import METHODS, NAMES; import ensemblage;"
        "print(len(METHODS), 'PTGP' in dir(ensemblage), 'numpy' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == [str(len(en.METHODS)), "True", "False"]


def test_a_copy_is_a_dict_of_classes():
    copy = dict(en.METHODS)
    assert list(copy) == list(en.METHODS)
    assert all(issubclass(kind, methods.ConsensusClusterer) for kind in copy.values())
    assert "'pta': PTA" in repr(en.METHODS)


def test_every_method_is_registered():
    written = set()
    for path in (SOURCE / "methods").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        written.update(name for name in classes if name.lower() == path.stem)
    assert written == set(en.METHODS.classes)


def test_type_checkers_see_the_registered_classes():
    tree = ast.parse((SOURCE / "methods" / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    seen = {name.name for node in imports for name in node.names if name.asname == name.name}
    assert seen == {*en.METHODS.classes, *methods._OTHERS}


#: Where the names of classes may be written as strings, and why.
ALLOWED = {
    "methods/__init__.py": "the registry",
    "experiments": "rows of the paper's tables, some of which are called as a class is",
}


def literals(path):
    """Return the strings of a module without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts
    ]


def test_no_class_of_a_method_is_named_by_a_string_elsewhere():
    found = []
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        if not place.startswith(tuple(ALLOWED)):
            found += [
                f"{place}:{node.lineno} {node.value!r}"
                for node in literals(path)
                if node.value in en.METHODS.classes
            ]
    assert not found, f"Import the class, or ask it for what it can do: {found}"
