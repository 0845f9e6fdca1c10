"""Files around the package: they parse, and say the same about versions and systems."""

import importlib
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

import ensemblage as en

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
PARSED = sorted(
    path
    for folder, pattern in (
        (".", "*.toml"),
        (".", "*.cff"),
        (".", ".*.yaml"),
        (".github", "**/*.yml"),
        ("packaging", "**/*.yaml"),
    )
    for path in (ROOT / folder).glob(pattern)
)
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")

#: Imports every module as if this were Windows: modules and calls of POSIX are not there for it.
ELSEWHERE = """
import builtins, os, pkgutil, signal
missing = {"fcntl", "resource", "pwd", "grp", "termios"}
true_import = builtins.__import__

def guarded(name, globals=None, *rest, **named):
    if name in missing and str((globals or {}).get("__name__")).startswith("ensemblage"):
        raise ImportError(name)
    return true_import(name, globals, *rest, **named)

builtins.__import__ = guarded
del signal.pthread_sigmask
import ensemblage
for module in pkgutil.walk_packages(ensemblage.__path__, "ensemblage."):
    if not module.name.endswith("__main__"):
        __import__(module.name)
        print(module.name)

from ensemblage._validate import memory
assert memory.address_limit() is None
from ensemblage.experiments import runner
with runner._interrupts_held():
    pass
"""


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def parse(path):
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text)


def classified():
    """Return the minor versions of Python that the metadata names."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    return re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))


@pytest.mark.parametrize("path", PARSED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_file_parses(path):
    assert isinstance(parse(path), dict)


def test_no_file_is_overlooked():
    names = {path.relative_to(ROOT).as_posix() for path in PARSED}
    workflows = {f".github/workflows/{name}.yml" for name in ("lint", "tests", "docs", "release")}
    assert names >= workflows | {"CITATION.cff", "pyproject.toml", ".readthedocs.yaml"}


def test_workflows_have_what_every_workflow_needs():
    for path in (ROOT / ".github" / "workflows").iterdir():
        workflow = parse(path)
        assert workflow[True], path  # YAML 1.1 reads the key `on` as true
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            assert job["runs-on"]
            assert all(("uses" in step) != ("run" in step) for step in job["steps"])


def test_targets_that_workflows_make_exist():
    for path in (ROOT / ".github" / "workflows").iterdir():
        for target in re.findall(r"run: make ([\w-]+)", path.read_text(encoding="utf-8")):
            assert f"\n{target}:" in read("Makefile"), target


def test_the_matrix_is_what_the_classifiers_say():
    matrix = parse(ROOT / ".github/workflows/tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"] == classified()
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    for row in matrix["include"]:  # may fail, so the metadata must not promise it
        assert row["experimental"] is True
        assert row["python"] not in classified()


def test_every_file_has_the_version():
    assert str(parse(ROOT / "CITATION.cff")["version"]) == en.__version__
    assert parse(ROOT / "packaging/conda/recipe.yaml")["context"]["version"] == en.__version__
    assert parse(ROOT / "packaging/scverse/meta.yaml")["version"] == f"v{en.__version__}"


def test_the_recipe_needs_what_the_package_needs():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = {line.replace(" ", "") for line in project["dependencies"]}
    recipe = parse(ROOT / "packaging/conda/recipe.yaml")["requirements"]["run"]
    assert {line.replace(" ", "") for line in recipe if not line.startswith("python ")} == wanted


def test_every_citation_of_the_paper_is_in_its_list():
    cited = set(re.findall(r"@([a-z]+\d{4}[a-z]+)", read("packaging/joss/paper.md")))
    listed = set(re.findall(r"^@\w+\{(\w+),", read("packaging/joss/paper.bib"), re.MULTILINE))
    assert cited == listed


def test_figures_of_the_paper_are_printed_elsewhere():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    printed = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    paper = read("packaging/joss/paper.md")
    for number in re.findall(r"\d\.\d+", paper):
        assert number in printed, number


def test_links_of_packaging_lead_somewhere():
    for path in (ROOT / "packaging").rglob("*.md"):
        for target in LINK.findall(path.read_text(encoding="utf-8")):
            assert "://" in target or (path.parent / target).exists(), target


def test_mistakes_made_by_hand_fit_the_code(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    tool = importlib.import_module("hand_mutants")
    entries = tomllib.loads(tool.LIST.read_text(encoding="utf-8"))["mutant"]
    assert [entry["what"] for entry in entries if tool.changed_text(entry) is None] == []
    assert all((ROOT / test).is_file() for entry in entries for test in entry["tests"])


def test_every_module_imports_without_the_modules_of_posix():
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    assert {"ensemblage.tables.target", "ensemblage.experiments.records"} <= set(names)


@pytest.fixture
def release_check(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "tools")
    module = importlib.import_module("release_check")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


class TestReleaseCheck:
    def test_links_that_lead_nowhere_are_found(self, release_check, tmp_path):
        (tmp_path / "a.md").write_text("# A\n[b](b.md#one-two) [web](https://x.y) `[c](c.md)`\n")
        (tmp_path / "b.md").write_text("# B\n## One, two\n")
        assert release_check.check_links() == []
        (tmp_path / "b.md").write_text("# B\n[gone](gone.md)\n")
        wrong = release_check.check_links()
        assert wrong == ["a.md: no heading b.md#one-two", "b.md: no file gone.md"]

    def test_a_readme_that_would_not_render_is_found(self, release_check, tmp_path):
        readme = tmp_path / "README.md"
        readme.write_text("# A\n```sh\n# not a title\n```\n## B\n")
        assert release_check.check_readme() == []
        readme.write_text("# A\n### B\n```sh\n")
        assert len(release_check.check_readme()) == 2

    def test_an_archive_without_a_licence_or_with_a_large_file_is_found(
        self, release_check, tmp_path
    ):
        large = tmp_path / "ensemblage-1" / "records.gz"
        large.parent.mkdir()
        large.write_bytes(bytes(release_check.LARGEST_FILE + 1))
        archive, wheel = tmp_path / "ensemblage-1.tar.gz", tmp_path / "ensemblage-1.whl"
        with tarfile.open(archive, "w:gz") as opened:
            opened.add(large, "ensemblage-1/records.gz")
        wheel.write_bytes(b"")
        wrong = release_check.check_archives(wheel, archive)
        assert "not in the source archive: LICENSE" in wrong
        assert any("records.gz has" in problem for problem in wrong)
