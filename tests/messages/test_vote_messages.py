"""Tables that hold no votes, each with its exact message."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ensemblage as en

VOTES = {
    "one dimension": (
        lambda: en.Ensemble([1, 2, 3]),
        ValueError,
        (
            "Votes must be a table of objects × clusterings (two dimensions), but an array of 1 "
            "dimension(s) was passed, shape=(3,). Reshape your data: one clustering of many "
            "objects is votes.reshape(-1, 1), or stack several clusterings with "
            "numpy.column_stack."
        ),
    ),
    "three dimensions": (
        lambda: en.Ensemble(np.zeros((2, 2, 2), int)),
        ValueError,
        (
            "Votes must be a table of objects × clusterings (two dimensions), but an array of 3 "
            "dimension(s) was passed, shape=(2, 2, 2). Reshape your data: one clustering of "
            "many objects is votes.reshape(-1, 1), or stack several clusterings with "
            "numpy.column_stack."
        ),
    ),
    "no objects": (
        lambda: en.Ensemble(np.zeros((0, 3), int)),
        ValueError,
        (
            "Votes have no objects: found array with 0 sample(s) (shape=(0, 3)) while a minimum "
            "of 1 is required."
        ),
    ),
    "no clusterings": (
        lambda: en.Ensemble(np.zeros((3, 0), int)),
        ValueError,
        (
            "Votes have no clusterings: found array with 0 feature(s) (shape=(3, 0)) while a "
            "minimum of 1 is required."
        ),
    ),
    "ragged rows": (
        lambda: en.Ensemble([[1, 2], [1]]),
        ValueError,
        (
            "Votes must be a table in which every object has as many cells as there are "
            "clusterings, but rows of different lengths were passed. Fill the gaps with -1, "
            "which means no vote."
        ),
    ),
    "infinity": (
        lambda: en.Ensemble([[1.0], [np.inf]]),
        ValueError,
        (
            "Votes must be labels, but clustering 0 holds infinity (inf). Use -1 or NaN where "
            "an object has no vote."
        ),
    ),
    "complex numbers": (
        lambda: en.Ensemble([[1j]]),
        ValueError,
        (
            "Complex data not supported: votes are labels, but complex numbers were passed. "
            "Pass whole numbers or names."
        ),
    ),
    "a sparse matrix": (
        lambda: en.Ensemble(sparse.eye_array(3)),
        TypeError,
        (
            "Sparse data was passed, but votes are a dense label matrix of objects × "
            "clusterings. Pass labels, one column for each clustering; a 0/1 membership matrix "
            "is not needed."
        ),
    ),
    "labels without a hash": (
        lambda: en.Ensemble(np.array([[{}], [1]], dtype=object)),
        TypeError,
        (
            "Votes must be labels that can be told apart, such as a string or a number, but "
            "clustering 0 holds something that has no hash (unhashable type: 'dict'). A label "
            "argument must be a string or a number."
        ),
    ),
    "objects without votes": (
        lambda: en.Ensemble([[1, 1], [-1, -1], [np.nan, -1]]),
        ValueError,
        (
            "2 object(s) have no vote in any clustering: row(s) 1, 2, counted from 0. Nothing "
            "can be said about them; leave these rows out."
        ),
    ),
    "two columns of one name": (
        lambda: en.Ensemble(pd.DataFrame([[0, 0], [0, 1], [1, 1]], columns=["a", "a"])),
        ValueError,
        "Votes have several columns called 'a'. Give each clustering a name of its own.",
    ),
    "a word for votes": (
        lambda: en.Ensemble("votes.csv"),
        ValueError,
        (
            "Votes must be a table of objects × clusterings, but a single value (an array of 0 "
            "dimension(s), shape=()) was passed. Pass an array, a DataFrame or a dict of lists; "
            "votes in a file are read by ensemblage.files.read_table."
        ),
    ),
    "a dict of numbers": (
        lambda: en.Ensemble({"a": 1, "b": 2}),
        ValueError,
        (
            "Votes in a dict are a list of labels for each clustering, but 'a' holds int. Pass a "
            "list, an array of one dimension or a Series."
        ),
    ),
    "a dict of unequal lists": (
        lambda: en.Ensemble({"a": [1, 2], "b": [2]}),
        ValueError,
        "Votes must have equally long columns, but their lengths are [2, 1].",
    ),
    "a dict of Series with an object twice": (
        lambda: en.Ensemble({"a": pd.Series([1, 2], ["x", "x"]), "b": pd.Series([1], ["y"])}),
        ValueError,
        (
            "Votes in a dict are matched by the index of each Series, but 'x' occurs more than "
            "once in that of 'a'. Name each object once."
        ),
    ),
    "a dict of a table": (
        lambda: en.Ensemble({"a": [[1, 2], [1, 3]]}),
        ValueError,
        (
            "Votes in a dict are a list of labels for each clustering, but 'a' holds list of shape "
            "(2, 2). Pass a list, an array of one dimension or a Series."
        ),
    ),
    "a word beside a Series": (
        lambda: en.Ensemble({"a": pd.Series([1, 2]), "b": "leiden"}),
        ValueError,
        (
            "Votes in a dict are a list of labels for each clustering, but 'b' holds str. Pass a "
            "list, an array of one dimension or a Series."
        ),
    ),
    "a list beside Series that differ": (
        lambda: en.Ensemble({"a": pd.Series([1, 2]), "b": pd.Series([1, 2], [1, 0]), "c": [1, 2]}),
        ValueError,
        (
            "Votes in a dict are matched by the index of each Series, but 'c' has none and the "
            "indexes differ. Make it a Series, or give all the same index."
        ),
    ),
    "Series of other objects": (
        lambda: en.Ensemble({"a": pd.Series([1, 2]), "b": pd.Series([1, 2], ["0", "1"])}),
        ValueError,
        (
            "Votes in a dict are matched by the index of each Series, but that of 'a' (0, ...) has "
            "no object in common with the others. Give them the same index, or pass lists."
        ),
    ),
    "a Series of dates beside one of texts": (
        lambda: en.Ensemble(
            {
                "a": pd.Series([1, 2], ["2020-01-01", "2020-01-02"]),
                "b": pd.Series([1, 2], pd.to_datetime(["2020-01-01", "2020-01-02"])),
            }
        ),
        ValueError,
        (
            "Votes in a dict are matched by the index of each Series, but that of 'a' "
            "('2020-01-01', ...) has no object in common with the others. Give them the same "
            "index, or pass lists."
        ),
    ),
    "an empty Series": (
        lambda: en.Ensemble({"a": pd.Series([1, 2]), "b": pd.Series([], dtype=int)}),
        ValueError,
        "The Series 'b' of the votes holds no objects. Leave it out.",
    ),
    "an empty dict": (
        lambda: en.Ensemble({}),
        ValueError,
        (
            "Votes have no clusterings: found array with 0 feature(s) (shape=(1, 0)) while a "
            "minimum of 1 is required."
        ),
    ),
    "Series with other levels": (
        lambda: en.Ensemble(
            {"a": pd.Series([1]), "b": pd.Series([1], pd.MultiIndex.from_tuples([(0, 0)]))}
        ),
        ValueError,
        (
            "Votes in a dict are matched by the index of each Series, but these have different "
            "numbers of levels. Give them the same index."
        ),
    ),
    "None for votes": (
        lambda: en.Ensemble(None),
        ValueError,
        (
            "Votes must be a table of objects × clusterings, but a single value (an array of 0 "
            "dimension(s), shape=()) was passed. Pass an array, a DataFrame or a dict of lists; "
            "votes in a file are read by ensemblage.files.read_table."
        ),
    ),
}


@pytest.mark.parametrize("case", VOTES)
def test_votes(case, assert_raises):
    assert_raises(*VOTES[case])
