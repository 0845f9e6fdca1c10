"""Registry of consensus methods: names to classes, each imported on first use."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ensemblage.methods._base import ConsensusClusterer


class Registry(UserDict[str, "type[ConsensusClusterer]"]):
    """A dict of classes by name. Listing names is cheap; a class is imported on first access.

    Parameters
    ----------
    package : str
        The package with one module for each class, named as the class in lower case.
    classes : dict
        Names of classes by their registered names. A class may have several.

    Examples
    --------
    >>> from ensemblage import METHODS
    >>> "eac" in METHODS, METHODS["eac"](n_clusters=3)
    (True, EAC(n_clusters=3))
    """

    data: dict[str, Any]  # a class, or its name until first access

    def __init__(self, package: str, classes: Mapping[str, str]) -> None:
        self._package = package
        self.data = dict(classes)

    def __getitem__(self, name: str) -> type[ConsensusClusterer]:
        kind = self.data[name]
        if isinstance(kind, str):
            module = import_module(f"{self._package}.{kind.lower()}")
            kind = self.data[name] = getattr(module, kind)
        loaded: type[ConsensusClusterer] = kind
        return loaded

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {kind}' for name, kind in self._called().items())}}}"

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, each once."""
        return tuple(dict.fromkeys(self._called().values()))

    def title(self, name: str) -> str:
        """Return the class name that is registered under a name, without importing the class."""
        return self._called()[name]

    def class_called(self, name: str) -> type[ConsensusClusterer] | None:
        """Return the class of this name; None if there is none."""
        registered = (key for key, called in self._called().items() if called == name)
        key = next(registered, None)
        return None if key is None else self[key]

    def _called(self) -> dict[str, str]:
        return {
            name: kind if isinstance(kind, str) else kind.__name__
            for name, kind in self.data.items()
        }
