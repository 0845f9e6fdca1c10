"""Saving of fitted consensus methods, and recomputation of omitted parts after loading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.exceptions import NotFittedError

from ensemblage.methods.archive import write_archive
from ensemblage.methods.loading import complete
from ensemblage.methods.saving import ONLY_SOME, preamble, state_of

if TYPE_CHECKING:
    from os import PathLike


class Savable:
    """A consensus method with `save`; omitted parts are recomputed on first access."""

    def save(self, path: str | PathLike[str], *, objects: bool = True) -> None:
        """Save the fitted estimator to a file that `ensemblage.load` reads, without pickling.

        Parameters
        ----------
        path : str or path-like
            The file, usually ``*.ensemblage``. It is replaced only when the new one is complete.
        objects : bool, default=True
            Keep the microcluster of every object, 4 bytes each before compression. Without it the
            loaded estimator predicts the same, but ``labels_``, ``confidence_`` and ``cut`` have
            one value for each microcluster.

        Notes
        -----
        Similarities, graphs and eigenvectors are not saved. A loaded estimator recomputes them from
        the microclusters on first use: ``predict``, ``labels_``, ``confidence_`` and cuts of a tree
        need none of them, ``cut`` of other methods does, once. The index of a DataFrame is not
        saved.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import ensemblage as en
        >>> votes = [["a", 1], ["a", 1], ["a", 2], ["b", 3], ["b", 3]]
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "two.ensemblage")
        ...     en.PTGP(n_clusters=2, random_state=0).fit(votes).save(path)
        ...     model = en.load(path)
        >>> model.predict([["b", 3], ["a", 4]])
        array([1, 0])
        """
        header, arrays = state_of(self, objects=objects)
        write_archive(path, preamble() | header, arrays)

    if not TYPE_CHECKING:  # type checkers must still report missing attributes

        def __getattr__(self, name: str) -> Any:
            """Recompute an attribute that was omitted from the file, on first access."""
            left_out = vars(self).get("_left_out")
            if left_out is None or isinstance(getattr(type(self), name, None), property):
                return object.__getattribute__(self, name)  # Python's own error, or the property's
            if name in left_out:
                complete(self)
            if name in vars(self):  # also if another thread has completed it since
                return vars(self)[name]
            is_fitted_name = name.startswith("_") or name.endswith("_")
            if name in ONLY_SOME or not is_fitted_name:
                return object.__getattribute__(self, name)
            raise NotFittedError(  # also a ValueError: the file may be incomplete
                f"{type(self).__name__!r} object has no attribute {name!r}, and the file that it"
                f" was loaded from does not contain it."
            )
