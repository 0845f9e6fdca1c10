"""Tables that hold no votes, each with its exact message."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

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
    "a Series": (
        lambda: en.Ensemble(pd.Series([1, 2, 3])),
        ValueError,
        (
            "Votes must be a table of objects × clusterings (two dimensions), but an array of 1 "
            "dimension(s) was passed, shape=(3,). Reshape your data: one clustering of many "
            "objects is votes.to_frame(), or stack several clusterings with "
            "pandas.concat([...], axis=1)."
        ),
    ),
    "an empty list": (
        lambda: en.Ensemble([]),
        ValueError,
        (
            "Votes are empty (shape=(0,)). Pass a table with a row for each object and a column "
            "for each of the clusterings."
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
            "Votes must be labels that can be compared, such as strings or numbers, but "
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
    "a file for votes": (
        lambda: en.Ensemble("votes.csv"),
        TypeError,
        (
            "A path or text ('votes.csv') was passed, but votes are a table of labels, a column "
            "for each clustering. Read the file: fit(ensemblage.tables.read('votes.csv')); or "
            "run: ensemblage consensus votes.csv"
        ),
    ),
    "arrays of unequal lengths": (
        lambda: en.Ensemble([np.array([1, 2]), np.array([1, 2, 3])]),
        ValueError,
        (
            "Votes must have equally long columns, but item 0 has 2, item 1 has 3. Give a label, "
            "or -1 for none, to each object in each of them."
        ),
    ),
    "Series of unequal lengths without ids": (
        lambda: en.Ensemble({"a": pd.Series([1, 2]), "b": pd.Series([1, 2, 3])}),
        ValueError,
        (
            "Votes must have equally long columns, but 'a' has 2, 'b' has 3. Give a label, or -1 "
            "for none, to each object in each of them. Series with an index of ids are matched by "
            "it."
        ),
    ),
    "a clusterer that was not fitted": (
        lambda: en.Ensemble([KMeans(2).fit([[0.0], [1.0]]), KMeans(2)]),
        NotFittedError,
        (
            "Votes hold fitted clusterers, but item 1, a KMeans, has no labels_. Call its "
            "fit(features) first. Of a clusterer without labels_, such as a mixture, pass what "
            "fit_predict(features) returns."
        ),
    ),
    "a class beside a clusterer": (
        lambda: en.Ensemble([KMeans(2).fit([[0.0], [1.0]]), KMeans]),
        TypeError,
        (
            "Votes hold fitted clusterers, but item 1 is the class KMeans. Make one and fit it "
            "first: KMeans(...).fit(features)."
        ),
    ),
    "a clusterer": (
        lambda: en.Ensemble(KMeans(2)),
        TypeError,
        (
            "A KMeans object was passed, but votes are a table of labels, a column for each "
            "clustering. Pass a list of fitted clusterers, whose labels_ are then the columns."
        ),
    ),
    "a list of tables": (
        lambda: en.Ensemble([np.array([0, 1]), np.zeros((2, 3), int)]),
        ValueError,
        (
            "A list of clusterings holds one column in each item, but item 1, counted from 0, has "
            "the shape (2, 3). Put tables side by side first, with numpy.hstack or "
            "pandas.concat(..., axis=1)."
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
        (
            "Votes must have equally long columns, but 'a' has 2, 'b' has 1. Give a label, or -1 "
            "for none, to each object in each of them."
        ),
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
            "votes in a file are read by ensemblage.tables.read."
        ),
    ),
}


@pytest.mark.parametrize("case", VOTES)
def test_votes(case, assert_raises):
    assert_raises(*VOTES[case])
