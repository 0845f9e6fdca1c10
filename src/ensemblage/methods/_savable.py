"""What lets a fitted consensus method be saved, and a loaded one be whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.exceptions import NotFittedError

from ensemblage.methods.archive import write_archive
from ensemblage.methods.loading import complete
from ensemblage.methods.saving import preamble, state_of

if TYPE_CHECKING:
    from os import PathLike


class Savable:
    """A consensus method with `save`; what it was saved without comes back when it is needed."""

    def save(self, path: str | PathLike[str], *, objects: bool = True) -> None:
        """Save the fitted estimator to a file that `ensemblage.load` reads. Nothing is pickled.

        Parameters
        ----------
        path : str or path-like
            The file, by custom ``*.ensemblage``. It is replaced when the new one is complete.
        objects : bool, default=True
            Keep the place of every object, 4 bytes each before compression. Without it the loaded
            estimator predicts the same, but knows microclusters only: ``labels_``,
            ``confidence_`` and ``cut`` have one value for each of these.

        Notes
        -----
        Similarities, graphs and eigenvectors are not saved. They follow from the microclusters,
        and a loaded estimator computes them again where it needs them: ``predict``, ``labels_``,
        ``confidence_`` and cuts of a tree do not, ``cut`` of other methods does, once. An index of
        a DataFrame is not saved either.

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

    if not TYPE_CHECKING:  # what is not there is an error to the type checker

        def __getattr__(self, name: str) -> Any:
            """Compute what a loaded estimator was saved without, when it is first asked for."""
            left_out = vars(self).get("_left_out")
            if left_out is None or isinstance(getattr(type(self), name, None), property):
                return object.__getattribute__(self, name)  # Python's own error, or the property's
            if name in left_out:
                complete(self)
                if name in vars(self):
                    return vars(self)[name]
            raise NotFittedError(  # a ValueError too: it may be the file that lacks it
                f"{type(self).__name__!r} object has no attribute {name!r}, nor has the file that"
                f" it was loaded from."
            )
