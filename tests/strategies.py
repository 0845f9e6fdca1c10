"""What hypothesis draws: label matrices of all shapes, with and without gaps."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst


@st.composite
def votes(draw, max_objects=24, max_clusterings=5, max_label=3, gaps=True):
    """Draw a label matrix in which every object has at least one vote."""
    shape = draw(st.tuples(st.integers(1, max_objects), st.integers(1, max_clusterings)))
    lowest = -1 if gaps and draw(st.booleans()) else 0
    matrix = draw(npst.arrays(np.int64, shape, elements=st.integers(lowest, max_label)))
    matrix[(matrix < 0).all(axis=1), 0] = 0
    return matrix


@st.composite
def ensembles(draw, **options):
    """Draw votes together with a number of neighbours and a number of steps."""
    return draw(votes(**options)), draw(st.integers(1, 8)), draw(st.integers(1, 4))
