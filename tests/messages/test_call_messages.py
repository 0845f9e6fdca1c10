"""Wrong calls of the library, each with its exact message."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import ensemblage as en
from ensemblage.scale import stream
from ensemblage.tables import FileFormatError

GOOD = [[0, 0], [0, 1], [1, 1]]
FRAME = pd.DataFrame(GOOD, columns=["a", "b"])

CALLS = {
    "no clusters": (
        lambda: en.PTGP(0).fit(GOOD),
        ValueError,
        (
            "The 'n_clusters' parameter of PTGP must be 'auto' or a whole number from 1 up. Got "
            "0 instead."
        ),
    ),
    "clusters and a half": (
        lambda: en.PTGP(2.5).fit(GOOD),
        ValueError,
        (
            "The 'n_clusters' parameter of PTGP must be 'auto' or a whole number from 1 up. Got "
            "2.5 instead."
        ),
    ),
    "clusters as text": (
        lambda: en.PTGP("two").fit(GOOD),
        ValueError,
        (
            "The 'n_clusters' parameter of PTGP must be 'auto' or a whole number from 1 up. Got "
            "'two' instead."
        ),
    ),
    "True clusters": (
        lambda: en.PTGP(True).fit(GOOD),
        ValueError,
        (
            "The 'n_clusters' parameter of PTGP must be 'auto' or a whole number from 1 up. Got "
            "True instead."
        ),
    ),
    "more clusters than groups": (
        lambda: en.PTGP(4).fit(GOOD),
        ValueError,
        (
            "PTGP was asked for n_clusters=4, but the ensemble tells only 3 group(s) of objects "
            "apart. Ask for at most 3 cluster(s), or add clusterings that split the data "
            "further."
        ),
    ),
    "no neighbours": (
        lambda: en.PTGP(2, n_neighbors=0).fit(GOOD),
        ValueError,
        (
            "The 'n_neighbors' parameter of PTGP must be 'auto', 'all' or a whole number from 1 "
            "up. Got 0 instead."
        ),
    ),
    "some neighbours": (
        lambda: en.PTA(2, n_neighbors="some").fit(GOOD),
        ValueError,
        (
            "The 'n_neighbors' parameter of PTA must be 'auto', 'all' or a whole number from 1 "
            "up. Got 'some' instead."
        ),
    ),
    "steps backwards": (
        lambda: en.PTGP(2, n_steps=-1).fit(GOOD),
        ValueError,
        (
            "The 'n_steps' parameter of PTGP must be 'auto' or a whole number from 1 up. Got -1 "
            "instead."
        ),
    ),
    "no threads": (
        lambda: en.PTA(2, n_jobs=0).fit(GOOD),
        ValueError,
        (
            "The 'n_jobs' parameter of PTA must be None or a whole number other than 0. Got 0 "
            "instead."
        ),
    ),
    "a linkage of others": (
        lambda: en.PTA(2, linkage="ward").fit(GOOD),
        ValueError,
        (
            "The 'linkage' parameter of PTA must be one of 'average', 'complete', 'single'. Got "
            "'ward' instead."
        ),
    ),
    "a negative seed": (
        lambda: en.PTGP(2, random_state=-1).fit(GOOD),
        ValueError,
        (
            "The 'random_state' parameter of PTGP must be None, a whole number from 0 up, or a "
            "NumPy random generator. Got -1 instead."
        ),
    ),
    "a seed as text": (
        lambda: en.PTGP(2, random_state="seed").fit(GOOD),
        ValueError,
        (
            "The 'random_state' parameter of PTGP must be None, a whole number from 0 up, or a "
            "NumPy random generator. Got 'seed' instead."
        ),
    ),
    "an unknown device": (
        lambda: en.PTGP(2, device="abacus").fit(GOOD),
        ValueError,
        (
            "The 'device' parameter of PTGP must be one of 'cpu', 'cuda', 'auto'. Got 'abacus' "
            "instead."
        ),
    ),
    "predict before fit": (
        lambda: en.PTGP(2).predict(GOOD),
        NotFittedError,
        (
            "This PTGP instance is not fitted yet. Call 'fit' with appropriate arguments before "
            "using this estimator."
        ),
    ),
    "predict on other columns": (
        lambda: en.PTA(2).fit(GOOD).predict([[1, 2, 3]]),
        ValueError,
        "X has 3 features, but PTA is expecting 2 features as input.",
    ),
    "predict without votes": (
        lambda: en.PTA(2).fit(GOOD).predict([[-1, -1]]),
        ValueError,
        (
            "1 object(s) have no vote in any clustering: row(s) 0, counted from 0. Nothing can "
            "be said about them; leave these rows out."
        ),
    ),
    "predict on another column": (
        lambda: en.PTA(2).fit(FRAME).predict(FRAME.rename(columns={"b": "c"})),
        ValueError,
        (
            "The feature names should match those that were passed during fit.\nFeature names "
            "unseen at fit time:\n- c\nFeature names seen at fit time, yet now missing:\n- b\n"
        ),
    ),
    "predict on a row in a list": (
        lambda: en.PTA(2).fit(GOOD).predict([np.array([0, 1])]),
        ValueError,
        (
            "X has 1 features (clusterings), but PTA is expecting 2 features as input. Arrays in a "
            "list are columns; pass one row as [[...]] or votes[[0]]."
        ),
    ),
    "more clusters than groups, by default": (
        lambda: en.EAC().fit(GOOD),
        ValueError,
        (
            "EAC was asked for n_clusters=8, which is the default, but the ensemble tells only 3 "
            "group(s) of objects apart. Ask for at most 3 cluster(s), or add clusterings that "
            "split the data further."
        ),
    ),
    "a cut into none": (
        lambda: en.PTA(2).fit(GOOD).cut(0),
        ValueError,
        "The 'n_clusters' parameter of PTA must be a whole number from 1 up. Got 0 instead.",
    ),
    "a cut into too many": (
        lambda: en.PTA(2).fit(GOOD).cut(9),
        ValueError,
        (
            "PTA was asked for n_clusters=9, but the ensemble tells only 3 group(s) of objects "
            "apart. Ask for at most 3 cluster(s), or add clusterings that split the data "
            "further."
        ),
    ),
    "weights of other members": (
        lambda: en.EAC(2).fit(GOOD, member_weight=[1, 2, 3]),
        ValueError,
        (
            "The member_weight of EAC must be 2 number(s) from 0 up, one for each clustering, "
            "but its shape is (3,)."
        ),
    ),
    "negative weights": (
        lambda: en.EAC(2).fit(GOOD, member_weight=[1, -2]),
        ValueError,
        (
            "The member_weight of EAC must be 2 number(s) from 0 up, one for each clustering, "
            "but number 1, counted from 0, is -2.0."
        ),
    ),
    "labels of different lengths": (
        lambda: en.metrics.nmi([1, 2], [1, 2, 3]),
        ValueError,
        (
            "Both clusterings must be labels of the same objects, got arrays of shapes (2,) and "
            "(3,)."
        ),
    ),
    "an unknown average": (
        lambda: en.metrics.nmi([1, 2], [1, 2], average="median"),
        ValueError,
        (
            "The 'average' parameter of nmi must be one of 'max', 'min', 'geometric', "
            "'arithmetic'. Got 'median' instead."
        ),
    ),
    "features with a hole": (
        lambda: en.ensembles.generate([[1.0], [np.nan]], n_members=2),
        ValueError,
        (
            "Features must be finite numbers, but row 1 of column 0, counted from 0, is NaN. "
            "Fill gaps first, for example with SimpleImputer of scikit-learn, or leave those "
            "objects out."
        ),
    ),
    "features as text": (
        lambda: en.ensembles.generate([["a"], ["b"]], n_members=2),
        ValueError,
        (
            "Features must be numbers, but row 0 of column 0, counted from 0, is 'a'. Leave "
            "the column out, or turn words into numbers first, for example with OneHotEncoder of "
            "scikit-learn."
        ),
    ),
    "no members": (
        lambda: en.ensembles.generate([[1.0], [2.0]], n_members=0),
        ValueError,
        ("The 'n_members' parameter of generate must be a whole number from 1 up. Got 0 instead."),
    ),
    "an unknown generator": (
        lambda: en.ensembles.generate([[1.0], [2.0]], n_members=2, method="magic"),
        ValueError,
        (
            "The 'method' parameter of generate must be 'kmeans', 'kmeans++', 'rpcl', a "
            "clusterer of scikit-learn, or a list of these. Got 'magic' instead."
        ),
    ),
    "an unknown scale": (
        lambda: en.ensembles.generate([[1.0], [2.0]], n_members=2, scale="log"),
        ValueError,
        (
            "The 'scale' parameter of generate must be None or one of 'minmax', 'standard'. Got"
            " 'log' instead."
        ),
    ),
    "weights by name of an array": (
        lambda: en.EAC(2).fit(GOOD, member_weight={"a": 1, "b": 2}),
        ValueError,
        (
            "The member_weight of EAC goes by name, but the votes are an array, whose clusterings "
            "have none. Pass a list of weights in the order of the columns."
        ),
    ),
    "weights of another": (
        lambda: en.EAC(2).fit(FRAME, member_weight={"a": 1, "c": 2}),
        ValueError,
        (
            "The member_weight of EAC goes by name, with a weight for each clustering, but 'c' is "
            "not a clustering. Clusterings: 'a', 'b'."
        ),
    ),
    "weights of too few": (
        lambda: en.EAC(2).fit(FRAME, member_weight=pd.Series({"b": 2})),
        ValueError,
        (
            "The member_weight of EAC goes by name, with a weight for each clustering, but it has "
            "none for 'a'. Clusterings: 'a', 'b'."
        ),
    ),
    "weights of one twice": (
        lambda: en.EAC(2).fit(FRAME, member_weight=pd.Series([1, 2, 3], ["a", "b", "b"])),
        ValueError,
        (
            "The member_weight of EAC goes by name, with a weight for each clustering, but it has "
            "'b' more than once. Clusterings: 'a', 'b'."
        ),
    ),
    "weights of one misspelt": (
        lambda: en.EAC(2).fit({"leiden": [0, 1], "b": [0, 1]}, member_weight={"lieden": 1, "b": 2}),
        ValueError,
        (
            "The member_weight of EAC goes by name, with a weight for each clustering, but "
            "'lieden' is not a clustering. Did you mean 'leiden'? Clusterings: 'leiden', 'b'."
        ),
    ),
    "a frame of weights": (
        lambda: en.EAC(2).fit(FRAME, member_weight=pd.DataFrame({"w": [1, 2]}, index=["a", "b"])),
        ValueError,
        (
            "The member_weight of EAC must be 2 number(s) from 0 up, one for each clustering, but "
            "its shape is (2, 1)."
        ),
    ),
    "ragged weights": (
        lambda: en.EAC(2).fit(GOOD, member_weight=[[1], [1, 2]]),
        ValueError,
        (
            "The member_weight of EAC must be 2 number(s) from 0 up, one for each clustering. Got "
            "[[1], [1, 2]] instead (...)."
        ),
    ),
    "an ensemble of an ensemble": (
        lambda: en.Ensemble(en.Ensemble(GOOD)),
        TypeError,
        "X is already an Ensemble. Use it directly.",
    ),
    "features in a dict": (
        lambda: en.EnsembleClustering(2).fit({"a": [1.0, 2.0]}),
        TypeError,
        (
            "A dict was passed, but features are a table of objects × features. Pass "
            "pandas.DataFrame(X)."
        ),
    ),
    "other numbered clusterings": (
        lambda: en.EAC(2).fit({5: [0, 1], 3: [0, 1]}).predict({3: [0, 1], 4: [0, 1]}),
        ValueError,
        (
            "The feature names should match those that were passed during fit: EAC was fitted on "
            "5, 3, but X does not have 5 and has unexpected 4. Pass the same clusterings, "
            "in any order."
        ),
    ),
    "a stream by a similarity": (
        lambda: stream.consensus("v.csv", en.EAC(2, affinity="precomputed"), "o.csv"),
        ValueError,
        (
            "The 'affinity' parameter of EAC must be 'votes'. Got 'precomputed' instead. The files "
            "that were named hold votes."
        ),
    ),
    "a stream of lists": (
        lambda: stream.consensus([[0, 1], [1, 1]], en.EAC(2), "o.csv"),
        TypeError,
        (
            "Votes are files: a path, or a list of paths in order. Got list; the fit of an "
            "estimator takes votes in memory."
        ),
    ),
    "a stream of a set": (
        lambda: stream.consensus({"v.csv"}, en.EAC(2), "o.csv"),
        TypeError,
        (
            "Votes are files: a path, or a list of paths in order. Got set; the fit of an "
            "estimator takes votes in memory."
        ),
    ),
    "a stream of nothing": (
        lambda: stream.consensus("", en.EAC(2), "o.csv"),
        FileNotFoundError,
        "The name of a file to read is empty. Name a file, or - instead.",
    ),
    "a class to a stream": (
        lambda: stream.consensus("v.csv", en.EAC, "o.csv"),
        TypeError,
        (
            "The estimator must be a consensus method, such as PTGP(10), got "
            "<class 'ensemblage.methods.eac.EAC'>."
        ),
    ),
    "a stream for features": (
        lambda: stream.consensus("v.csv", en.EnsembleClustering(2), "o.csv"),
        TypeError,
        (
            "EnsembleClustering takes features, but files of votes were named. Pass a consensus "
            "method, such as PTGP(10)."
        ),
    ),
    "a stream of a frame": (
        lambda: stream.consensus(FRAME, en.EAC(2), "o.csv"),
        TypeError,
        (
            "Votes are files: a path, or a list of paths in order. Got DataFrame; the fit of an "
            "estimator takes votes in memory."
        ),
    ),
    "a model that is not there": (
        lambda: en.load("nothing.ensemblage"),
        FileNotFoundError,
        "There is no file nothing.ensemblage. Check the name and the folder.",
    ),
    "a model that is a table": (
        lambda: en.load("v.csv"),
        FileFormatError,
        ("v.csv is not a saved model. Pass a file written by save()."),
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_calls(case, assert_raises):
    assert_raises(*CALLS[case])
