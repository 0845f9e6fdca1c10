"""Hypothesis strategies for ensembles, including unusual ones.

>>> from hypothesis import given, settings
>>> import ensemblage as en
>>> from ensemblage.testing import strategies
>>> @settings(max_examples=5, deadline=None, database=None)
... @given(strategies.odd_votes())
... def test_every_object_gets_a_label(votes):
...     assert len(en.EAC(n_clusters=1).fit_predict(votes)) == len(votes)
>>> test_every_object_gets_a_label()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

try:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as npst
except ImportError as error:
    raise ImportError(
        'ensemblage.testing needs hypothesis, which is not installed. Run: pip install "ensemblage'
        '[testing]".'
    ) from error

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Draw = Callable[[st.SearchStrategy[Any]], Any]

__all__ = ["ensembles", "named", "odd_votes", "votes"]


@st.composite
def votes(
    draw: Draw,
    max_objects: int = 24,
    max_clusterings: int = 5,
    max_label: int = 3,
    *,
    gaps: bool = True,
) -> NDArray[np.int64]:
    """Draw a label matrix in which every object has at least one vote.

    Parameters
    ----------
    draw : callable
        Passed by hypothesis; leave it out.
    max_objects, max_clusterings : int
        The largest shape.
    max_label : int
        Labels are 0 to `max_label`.
    gaps : bool, default=True
        Whether some matrices have missing votes, -1.

    Examples
    --------
    >>> from hypothesis import find
    >>> from ensemblage.testing.strategies import votes
    >>> find(votes(), lambda matrix: True).shape
    (1, 1)
    """
    shape = draw(st.tuples(st.integers(1, max_objects), st.integers(1, max_clusterings)))
    lowest = -1 if gaps and draw(st.booleans()) else 0
    matrix = draw(npst.arrays(np.int64, shape, elements=st.integers(lowest, max_label)))
    return _everybody_votes(matrix)


@st.composite
def ensembles(draw: Draw, **options: Any) -> tuple[NDArray[np.int64], int, int]:
    """Draw `votes` with a number of neighbours and a number of steps.

    Examples
    --------
    >>> from hypothesis import find
    >>> from ensemblage.testing.strategies import ensembles
    >>> len(find(ensembles(), lambda drawn: True))
    3
    """
    return draw(votes(**options)), draw(st.integers(1, 8)), draw(st.integers(1, 4))


@st.composite
def odd_votes(draw: Draw, *, gaps: bool = True, **options: Any) -> NDArray[np.int64]:
    """Draw a label matrix with one or more difficult structures.

    One cluster, all objects separate, blocks that share no cluster, objects that agree with no
    other, graphs with two sides, duplicate or constant members, ties everywhere, a single object or
    member. `options` are those of `votes`.

    Examples
    --------
    >>> from hypothesis import find
    >>> from ensemblage.testing.strategies import odd_votes
    >>> find(odd_votes(), lambda matrix: True).ndim
    2
    """
    matrix = draw(votes(gaps=gaps, **options))
    for change in draw(st.lists(st.sampled_from(_CHANGES), max_size=3, unique=True)):
        matrix = change(draw, matrix)
    if gaps and draw(st.booleans()):
        missing = draw(npst.arrays(np.bool_, matrix.shape))
        matrix = np.where(missing, -1, matrix)
    return _everybody_votes(matrix)


@st.composite
def named(draw: Draw, matrix: NDArray[np.int64]) -> Any:
    """Draw other names for the clusters of a label matrix, one clustering at a time.

    Numbers that are large, negative or floats, strings, bools if there are two clusters. The
    returned matrix of objects represents the same votes; None is a missing vote.

    Examples
    --------
    >>> import numpy as np
    >>> from hypothesis import find
    >>> from ensemblage.testing.strategies import named
    >>> find(named(np.array([[0, 1], [1, 1]])), lambda renamed: True).shape
    (2, 2)
    """
    columns = []
    for column in matrix.T:
        clusters = np.unique(column[column >= 0])
        kinds = [kind for kind in _NAMES if kind is not st.booleans or len(clusters) <= 2]
        kind = draw(st.sampled_from(kinds))
        count = len(clusters)
        names = draw(st.lists(kind(), min_size=count, max_size=count, unique=True))
        name_of = dict(zip(clusters.tolist(), names, strict=True))
        columns.append([name_of.get(label) for label in column.tolist()])
    renamed = np.empty(matrix.shape, dtype=object)
    for place, names in enumerate(columns):
        renamed[:, place] = names
    return renamed


def _everybody_votes(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    matrix = matrix.copy()
    matrix[(matrix < 0).all(axis=1), 0] = 0
    return matrix


def _one_cluster(draw: Draw, matrix: NDArray[np.int64]) -> NDArray[np.int64]:  # noqa: ARG001
    return np.zeros_like(matrix)


def _all_alone(draw: Draw, matrix: NDArray[np.int64]) -> NDArray[np.int64]:  # noqa: ARG001
    return np.repeat(np.arange(len(matrix))[:, None], matrix.shape[1], axis=1)


def _blocks(draw: Draw, matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Make two or three groups that no clustering puts together."""
    block = draw(npst.arrays(np.int64, len(matrix), elements=st.integers(0, 2)))
    return np.where(matrix < 0, -1, matrix + (matrix.max(initial=0) + 1) * block[:, None])


def _agrees_with_nobody(draw: Draw, matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    rows = draw(st.lists(st.integers(0, len(matrix) - 1), max_size=3, unique=True))
    matrix = matrix.copy()
    for number, row in enumerate(rows):
        matrix[row] = matrix.max(initial=0) + 1 + number
    return matrix


def _two_sides(draw: Draw, matrix: NDArray[np.int64]) -> NDArray[np.int64]:  # noqa: ARG001
    """Make objects agree only with those of the other side: in one clustering each, by pairs."""
    n, m = len(matrix), max(2, matrix.shape[1])
    rows = np.arange(n)
    alone = rows[:, None] + n * (1 + np.arange(m))
    alone[:, 0] = rows // 2
    alone[:, 1] = (rows + 1) // 2
    return alone


def _member_twice(draw: Draw, matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    member = draw(st.integers(0, matrix.shape[1] - 1))
    return np.column_stack([matrix, matrix[:, member]])


def _constant_member(draw: Draw, matrix: NDArray[np.int64]) -> NDArray[np.int64]:  # noqa: ARG001
    return np.column_stack([matrix, np.zeros(len(matrix), dtype=np.int64)])


def _ties(draw: Draw, matrix: NDArray[np.int64]) -> NDArray[np.int64]:  # noqa: ARG001
    """Let every clustering cut the objects at another place: all neighbours agree equally."""
    n, m = matrix.shape
    return (np.arange(n)[:, None] + np.arange(m)) // max(1, m)


def _one_object(draw: Draw, matrix: NDArray[np.int64]) -> NDArray[np.int64]:  # noqa: ARG001
    return matrix[:1]


def _one_member(draw: Draw, matrix: NDArray[np.int64]) -> NDArray[np.int64]:  # noqa: ARG001
    return matrix[:, :1]


_CHANGES = (
    _one_cluster,
    _all_alone,
    _blocks,
    _agrees_with_nobody,
    _two_sides,
    _member_twice,
    _constant_member,
    _ties,
    _one_object,
    _one_member,
)
_NAMES: tuple[Any, ...] = (
    lambda: st.integers(-(2**63), 2**63 - 1).filter(lambda label: label != -1),
    lambda: st.integers(-(10**30), 10**30).filter(lambda label: label != -1),
    lambda: st.integers(0, 10**6).map(float),
    lambda: st.text(min_size=1, max_size=20),
    st.booleans,
)
