"""An underscore means: no other package imports it."""

import ast
from pathlib import Path

import ensemblage as en

ROOT = Path(en.__file__).parent


def imported(path):
    """Return what a module imports of this library: line and dotted name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{name.name}") for name in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)


def is_private_to_another(name, package):
    """Tell whether a dotted name has a part with an underscore that is not of this package.

    Modules beside the packages, such as ``ensemblage._types``, are for all of them.
    """
    parts = name.split(".")
    if parts[0] != "ensemblage":
        return False
    private = [place for place, part in enumerate(parts) if part[0] == "_" and part[:2] != "__"]
    return any(place > 1 and parts[1] != package for place in private)


def test_no_private_name_is_imported_from_another_package():
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT)
        package = place.parts[0]
        found += [
            f"{place}:{line} {name}"
            for line, name in imported(path)
            if is_private_to_another(name, package)
        ]
    assert not found, found


def test_private_names_are_told_apart():
    assert is_private_to_another("ensemblage.flow._threads.n_threads", "methods")
    assert is_private_to_another("ensemblage._validate.votes._join", "scale")
    assert not is_private_to_another("ensemblage.flow._threads.n_threads", "flow")
    assert not is_private_to_another("ensemblage._types.Microclusters", "flow")
    assert not is_private_to_another("numpy._core", "flow")
