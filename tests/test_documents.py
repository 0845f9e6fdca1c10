"""The documents keep their word: their code runs, and prints what they show.

In README.md and docs/*.md, ``python`` blocks run in order, in one namespace for each document: as
doctests where they hold prompts, else as scripts, whose output is the ``text`` block that follows.
``console`` blocks are sessions: commands after ``$``, then what they print. ``sh`` blocks are not
run, but every ``ensemblage`` command in them must be one that the command line understands.
"""

import contextlib
import doctest
import io
import itertools
import math
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import typer
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import flow
from ensemblage.cli import app

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EVERY_PAGE = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "docs" / "api").glob("*.md"),
    *(ROOT / "docs" / "decisions").glob("*.md"),
]
API = ROOT / "docs" / "api"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
COMPILING = r"(, and \d+\.\d s compiling kernels, once)?"
SECONDS = re.compile(rf"\d+\.\d+ s{COMPILING}$|(?<=\d\.\d{{3}}) +\d+\.\d{{3}}$", re.MULTILINE)


def name_of(path):
    return str(path.relative_to(ROOT))


def blocks(document, *languages):
    found = FENCE.findall(document.read_text(encoding="utf-8"))
    return [(kind, text) for kind, text in found if not languages or kind in languages]


def commands_of(session):
    """Yield each command of a session with what it prints; a here-document belongs to it."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, rest = part.partition("\n")
        while command.endswith("\\"):
            line, _, rest = rest.partition("\n")
            command = command[:-1] + line
        if "<<END" in command:
            text, _, rest = rest.partition("END\n")
            command += f"\n{text}END"
        yield command, rest


def assert_prints(printed, shown):
    """Compare texts; numbers may differ by what another processor makes of k-means, times freely.

    Small whole numbers, labels say, must be equal.
    """
    printed, shown = (" ".join(SECONDS.sub("", text).split()) for text in (printed, shown))
    assert NUMBER.split(printed) == NUMBER.split(shown), f"shown: {shown}\nprinted: {printed}"
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(shown), strict=True)
    for found, expected in pairs:
        close = math.isclose(float(found), float(expected), rel_tol=0.03, abs_tol=0.02)
        assert close, f"{found} was printed where {expected} is shown:\n{printed}"


# -- what runs -------------------------------------------------------------------------------------


def run_doctest(text, names, document):
    test = doctest.DocTestParser().get_doctest(text, names, document, document, 0)
    test.globs = names  # shared, so that later blocks see what earlier ones defined
    runner = doctest.DocTestRunner(
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False
    )
    report = []
    runner.run(test, out=report.append, clear_globs=False)
    assert not runner.failures, "".join(report)


def run_script(text, names, document):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, document, "exec"), names)
    return printed.getvalue()


def run_command(command):
    if not command.startswith("ensemblage "):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        return done.stdout
    result = CliRunner().invoke(app, shlex.split(command)[1:], prog_name="ensemblage")
    return result.output


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Let k-means of scikit-learn run in one thread: its idle threads slow busy machines down."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with threadpool_limits(limits=1):
        yield


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_code_prints_what_is_shown(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, printed = {"__name__": "__main__"}, None
    for kind, text in blocks(document):
        if kind == "python" and ">>> " in text:
            run_doctest(text, names, document.name)
        elif kind == "python":
            printed = run_script(text, names, document.name)
            continue
        elif kind == "text" and printed:
            assert_prints(printed, text)
        elif kind == "console":
            for command, shown in commands_of(text):
                assert_prints(run_command(command), shown)
        printed = None


@pytest.mark.parametrize("script", EXAMPLES, ids=name_of)
def test_examples_run_without_a_warning(script, tmp_path):
    no_window = {**os.environ, "MPLBACKEND": "agg"}
    quiet = ["-W", "error", "-W", "ignore:FigureCanvasAgg is non-interactive"]
    command = [sys.executable, *quiet, str(script)]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=no_window
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not list(tmp_path.iterdir())


# -- what is written -------------------------------------------------------------------------------


def calls_in(document):
    """Return the arguments of every call of ``ensemblage`` in blocks of shell commands."""
    calls = []
    for kind, text in blocks(document, "sh", "console"):
        lines = text.splitlines() if kind == "sh" else [line for line, _ in commands_of(text)]
        for line in lines:
            words = shlex.shlex(line.partition("\n")[0], posix=True, punctuation_chars="|<>")
            words.whitespace_split = True
            parts = itertools.groupby(words, lambda word: word not in {"|", "<", ">"})
            calls += [list(part) for is_call, part in parts if is_call]
    return [call[1:] for call in calls if call[0] == "ensemblage"]


CALLS = [
    pytest.param(call, id=f"{name_of(document)}: ensemblage {' '.join(call)}")
    for document in DOCUMENTS
    for call in calls_in(document)
]


@pytest.mark.parametrize("call", CALLS)
def test_commands_are_understood(call):
    group = typer.main.get_command(app)
    if call[0].startswith("-"):
        assert call in (["--help"], ["--version"])
        return
    command = group.commands[call[0]]
    if "--help" not in call:
        command.make_context(call[0], list(call[1:]))


def test_every_option_is_described():
    pages = [ROOT / "docs" / name for name in ("command.md", "command_more.md")]
    described = "".join(page.read_text(encoding="utf-8") for page in pages)
    for command in typer.main.get_command(app).commands.values():
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("-"):
                    assert f"`{option}" in described, f"{command.name} {option}"


def reference():
    """Return the text of every page of the reference by name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in API.glob("*.md")}


def test_every_public_name_is_in_the_reference():
    text = "\n".join(reference().values())
    modules = [name for name in en.__all__ if isinstance(getattr(en, name), ModuleType)]
    names = [name for name in en.__all__ if name not in ("__version__", *modules)]
    for name in [*names, *en.metrics.__all__, *en.graph.__all__, *en.refine.__all__]:
        assert re.search(rf"^\.\. (auto\w+|py:data):: {name}$", text, re.MULTILINE), name
    for name in modules:
        assert re.search(rf"^\.\. currentmodule:: ensemblage\.{name}\b", text, re.MULTILINE), name


@pytest.mark.parametrize("path", EVERY_PAGE, ids=name_of)
def test_names_that_pages_mention_are_public(path):
    for name in re.findall(r"\ben\.(\w+)", path.read_text(encoding="utf-8")):
        assert name in en.__all__, name


def test_every_stage_is_on_one_page_of_the_reference():
    pages = reference()
    rest = re.search(r"^   :exclude-members: (.*)$", pages["flow_others"], re.MULTILINE)
    stages = [text for name, text in pages.items() if name.startswith("flow_")]
    listed = re.findall(r"^\.\. auto(?:class|function):: (\w+)$", "\n".join(stages), re.MULTILINE)
    assert sorted(listed) == sorted(rest[1].split(", "))  # the last page has all others
    assert set(listed) <= set(flow.__all__)


def test_every_page_of_the_reference_is_in_its_table():
    table = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for name in reference():
        assert f"(api/{name}.md)" in table
        assert f"\napi/{name}\n" in table


def test_the_code_for_scanpy_is_that_of_the_picture():
    script = (ROOT / "docs" / "single_cell_picture.py").read_text(encoding="utf-8")
    code = script.partition("# -- the page begins\n")[2].partition("# -- the page ends")[0]
    shown, _ = [text for _, text in blocks(ROOT / "docs" / "single_cell.md", "py")]
    assert shown.strip() == code.strip()


@pytest.mark.parametrize("page", EVERY_PAGE, ids=name_of)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_links_of_the_readme_are_those_of_the_project_and_lead_to_pages():
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    raw = urls["Source"].replace("github.com", "raw.githubusercontent.com")
    places = {
        f"{urls['Documentation']}/en/latest/": ROOT / "docs",
        f"{urls['Source']}/blob/main/": ROOT,
        f"{raw}/main/": ROOT,
    }
    for target in LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")):
        [base] = [base for base in places if target.startswith(base)]
        path = places[base] / target.removeprefix(base)
        assert path.exists() or path.with_suffix(".md").exists(), target


def test_the_drawn_tree_has_every_package_and_every_stage():
    drawn = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "ensemblage"
    packages = {f"{path.parent.name}/" for path in source.glob("*/__init__.py")}
    stages = {path.name for path in source.glob("flow/[a-z]*.py")}
    modules = {path.name for path in source.glob("*.py")} - {"__main__.py"}
    assert {name for name in packages | stages | modules if name not in drawn} == set()


def test_badges_are_true():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    minors = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    claims = {
        "python": " | ".join(minors),
        "licence": project["license"],
        "typed": "checked by mypy",
    }
    assert (ROOT / "src" / "ensemblage" / "py.typed").exists()
    assert "$(BIN)/mypy" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {path.stem for path in (ROOT / "docs" / "badges").iterdir()} == set(claims)
    for name, claim in claims.items():
        badge = (ROOT / "docs" / "badges" / f"{name}.svg").read_text(encoding="utf-8")
        assert f">{claim}</text>" in badge


def test_the_site_builds_without_a_warning(site):
    assert (site / "methods.html").is_file()
