"""Bad input, each with its exact message: what was asked, what was found, what to do.

One table for the library and one for the command, walked through by one test each. A message says
``(...)`` where another library gives the reason in its own words, and FOLDER for the working one.
"""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

import quorate as qr
from quorate.cli import app
from quorate.files import FileFormatError

pytest.importorskip("pyarrow")

GOOD = [[0, 0], [0, 1], [1, 1]]
FRAME = pd.DataFrame(GOOD, columns=["a", "b"])

CALLS = {
    "one dimension": (
        lambda: qr.Ensemble([1, 2, 3]),
        ValueError,
        (
            "Votes must be a table of objects × clusterings (two dimensions), but an array of 1 "
            "dimension(s) was passed, shape=(3,). Reshape your data: one clustering of many "
            "objects is votes.reshape(-1, 1), or stack several clusterings with "
            "numpy.column_stack."
        ),
    ),
    "three dimensions": (
        lambda: qr.Ensemble(np.zeros((2, 2, 2), int)),
        ValueError,
        (
            "Votes must be a table of objects × clusterings (two dimensions), but an array of 3 "
            "dimension(s) was passed, shape=(2, 2, 2). Reshape your data: one clustering of "
            "many objects is votes.reshape(-1, 1), or stack several clusterings with "
            "numpy.column_stack."
        ),
    ),
    "no objects": (
        lambda: qr.Ensemble(np.zeros((0, 3), int)),
        ValueError,
        (
            "Votes have no objects: found array with 0 sample(s) (shape=(0, 3)) while a minimum "
            "of 1 is required."
        ),
    ),
    "no clusterings": (
        lambda: qr.Ensemble(np.zeros((3, 0), int)),
        ValueError,
        (
            "Votes have no clusterings: found array with 0 feature(s) (shape=(3, 0)) while a "
            "minimum of 1 is required."
        ),
    ),
    "ragged rows": (
        lambda: qr.Ensemble([[1, 2], [1]]),
        ValueError,
        (
            "Votes must be a table in which every object has as many cells as there are "
            "clusterings, but rows of different lengths were passed. Fill the gaps with -1, "
            "which means no vote."
        ),
    ),
    "infinity": (
        lambda: qr.Ensemble([[1.0], [np.inf]]),
        ValueError,
        (
            "Votes must be labels, but clustering 0 holds infinity (inf). Use -1 or NaN where "
            "an object has no vote."
        ),
    ),
    "complex numbers": (
        lambda: qr.Ensemble([[1j]]),
        ValueError,
        (
            "Complex data not supported: votes are labels, but complex numbers were passed. "
            "Pass whole numbers or names."
        ),
    ),
    "a sparse matrix": (
        lambda: qr.Ensemble(sparse.eye_array(3)),
        TypeError,
        (
            "Sparse data was passed, but votes are a dense label matrix of objects × "
            "clusterings. Pass labels, one column for each clustering; a 0/1 membership matrix "
            "is not needed."
        ),
    ),
    "labels without a hash": (
        lambda: qr.Ensemble(np.array([[{}], [1]], dtype=object)),
        TypeError,
        (
            "Votes must be labels that can be told apart, such as a string or a number, but "
            "clustering 0 holds something that has no hash (unhashable type: 'dict'). A label "
            "argument must be a string or a number."
        ),
    ),
    "objects without votes": (
        lambda: qr.Ensemble([[1, 1], [-1, -1], [np.nan, -1]]),
        ValueError,
        (
            "2 object(s) have no vote in any clustering: row(s) 1, 2, counted from 0. Nothing "
            "can be said about them; leave these rows out."
        ),
    ),
    "two columns of one name": (
        lambda: qr.Ensemble(pd.DataFrame(GOOD, columns=["a", "a"])),
        ValueError,
        "Votes have several columns called 'a'. Give each clustering a name of its own.",
    ),
    "a word for votes": (
        lambda: qr.Ensemble("votes.csv"),
        ValueError,
        (
            "Votes must be a table of objects × clusterings, but a single value (an array of 0 "
            "dimension(s), shape=()) was passed. Pass an array or a DataFrame; votes in a file "
            "are read by quorate.files.read_table."
        ),
    ),
    "None for votes": (
        lambda: qr.Ensemble(None),
        ValueError,
        (
            "Votes must be a table of objects × clusterings, but a single value (an array of 0 "
            "dimension(s), shape=()) was passed. Pass an array or a DataFrame; votes in a file "
            "are read by quorate.files.read_table."
        ),
    ),
    "no clusters": (
        lambda: qr.PTGP(0).fit(GOOD),
        ValueError,
        (
            "The 'n_clusters' parameter of PTGP must be 'auto' or a whole number from 1 up. Got "
            "0 instead."
        ),
    ),
    "clusters and a half": (
        lambda: qr.PTGP(2.5).fit(GOOD),
        ValueError,
        (
            "The 'n_clusters' parameter of PTGP must be 'auto' or a whole number from 1 up. Got "
            "2.5 instead."
        ),
    ),
    "clusters in words": (
        lambda: qr.PTGP("two").fit(GOOD),
        ValueError,
        (
            "The 'n_clusters' parameter of PTGP must be 'auto' or a whole number from 1 up. Got "
            "'two' instead."
        ),
    ),
    "True clusters": (
        lambda: qr.PTGP(True).fit(GOOD),
        ValueError,
        (
            "The 'n_clusters' parameter of PTGP must be 'auto' or a whole number from 1 up. Got "
            "True instead."
        ),
    ),
    "more clusters than groups": (
        lambda: qr.PTGP(4).fit(GOOD),
        ValueError,
        (
            "PTGP was asked for n_clusters=4, but the ensemble tells only 3 group(s) of objects "
            "apart. Ask for at most 3 cluster(s), or add clusterings that split the data "
            "further."
        ),
    ),
    "no neighbours": (
        lambda: qr.PTGP(2, n_neighbors=0).fit(GOOD),
        ValueError,
        (
            "The 'n_neighbors' parameter of PTGP must be 'auto', 'all' or a whole number from 1 "
            "up. Got 0 instead."
        ),
    ),
    "some neighbours": (
        lambda: qr.PTA(2, n_neighbors="some").fit(GOOD),
        ValueError,
        (
            "The 'n_neighbors' parameter of PTA must be 'auto', 'all' or a whole number from 1 "
            "up. Got 'some' instead."
        ),
    ),
    "steps backwards": (
        lambda: qr.PTGP(2, n_steps=-1).fit(GOOD),
        ValueError,
        (
            "The 'n_steps' parameter of PTGP must be 'auto' or a whole number from 1 up. Got -1 "
            "instead."
        ),
    ),
    "no threads": (
        lambda: qr.PTA(2, n_jobs=0).fit(GOOD),
        ValueError,
        (
            "The 'n_jobs' parameter of PTA must be None or a whole number other than 0. Got 0 "
            "instead."
        ),
    ),
    "a linkage of others": (
        lambda: qr.PTA(2, linkage="ward").fit(GOOD),
        ValueError,
        (
            "The 'linkage' parameter of PTA must be one of 'average', 'complete', 'single'. Got "
            "'ward' instead."
        ),
    ),
    "a negative seed": (
        lambda: qr.PTGP(2, random_state=-1).fit(GOOD),
        ValueError,
        (
            "The 'random_state' parameter of PTGP must be None, a whole number from 0 up, or a "
            "NumPy random generator. Got -1 instead."
        ),
    ),
    "a seed in words": (
        lambda: qr.PTGP(2, random_state="seed").fit(GOOD),
        ValueError,
        (
            "The 'random_state' parameter of PTGP must be None, a whole number from 0 up, or a "
            "NumPy random generator. Got 'seed' instead."
        ),
    ),
    "a device that is none": (
        lambda: qr.PTGP(2, device="abacus").fit(GOOD),
        ValueError,
        (
            "The 'device' parameter of PTGP must be one of 'cpu', 'cuda', 'auto'. Got 'abacus' "
            "instead."
        ),
    ),
    "predict before fit": (
        lambda: qr.PTGP(2).predict(GOOD),
        NotFittedError,
        (
            "This PTGP instance is not fitted yet. Call 'fit' with appropriate arguments before "
            "using this estimator."
        ),
    ),
    "predict on other columns": (
        lambda: qr.PTA(2).fit(GOOD).predict([[1, 2, 3]]),
        ValueError,
        "X has 3 features, but PTA is expecting 2 features as input.",
    ),
    "predict without votes": (
        lambda: qr.PTA(2).fit(GOOD).predict([[-1, -1]]),
        ValueError,
        (
            "1 object(s) have no vote in any clustering: row(s) 0, counted from 0. Nothing can "
            "be said about them; leave these rows out."
        ),
    ),
    "predict on columns in another order": (
        lambda: qr.PTA(2).fit(FRAME).predict(FRAME[["b", "a"]]),
        ValueError,
        (
            "The feature names should match those that were passed during fit.\nFeature names "
            "must be in the same order as they were in fit.\n"
        ),
    ),
    "a cut into none": (
        lambda: qr.PTA(2).fit(GOOD).cut(0),
        ValueError,
        "The 'n_clusters' parameter of PTA must be a whole number from 1 up. Got 0 instead.",
    ),
    "a cut into too many": (
        lambda: qr.PTA(2).fit(GOOD).cut(9),
        ValueError,
        (
            "PTA was asked for n_clusters=9, but the ensemble tells only 3 group(s) of objects "
            "apart. Ask for at most 3 cluster(s), or add clusterings that split the data "
            "further."
        ),
    ),
    "weights of other members": (
        lambda: qr.EAC(2).fit(GOOD, member_weight=[1, 2, 3]),
        ValueError,
        (
            "The member_weight of EAC must be 2 number(s) from 0 up, one for each clustering, "
            "but its shape is (3,)."
        ),
    ),
    "negative weights": (
        lambda: qr.EAC(2).fit(GOOD, member_weight=[1, -2]),
        ValueError,
        (
            "The member_weight of EAC must be 2 number(s) from 0 up, one for each clustering, "
            "but number 1, counted from 0, is -2.0."
        ),
    ),
    "labels of different lengths": (
        lambda: qr.metrics.nmi([1, 2], [1, 2, 3]),
        ValueError,
        (
            "Two clusterings must be two equally long lists of labels, but their shapes are "
            "(2,) and (3,)."
        ),
    ),
    "an average that is none": (
        lambda: qr.metrics.nmi([1, 2], [1, 2], average="median"),
        ValueError,
        (
            "The 'average' parameter of nmi must be one of 'max', 'min', 'geometric', "
            "'arithmetic'. Got 'median' instead."
        ),
    ),
    "features with a hole": (
        lambda: qr.ensembles.generate([[1.0], [np.nan]], n_members=2),
        ValueError,
        (
            "Features must be finite numbers, but row 1 of column 0, counted from 0, is NaN. "
            "Fill gaps first, say with SimpleImputer of scikit-learn, or leave those objects "
            "out."
        ),
    ),
    "features in words": (
        lambda: qr.ensembles.generate([["a"], ["b"]], n_members=2),
        ValueError,
        (
            "Features must be numbers, but row 0 of column 0, counted from 0, is 'a'. Turn "
            "words into numbers first, say with OneHotEncoder of scikit-learn."
        ),
    ),
    "no members": (
        lambda: qr.ensembles.generate([[1.0], [2.0]], n_members=0),
        ValueError,
        ("The 'n_members' parameter of generate must be a whole number from 1 up. Got 0 instead."),
    ),
    "a generator that is none": (
        lambda: qr.ensembles.generate([[1.0], [2.0]], n_members=2, method="magic"),
        ValueError,
        (
            "The 'method' parameter of generate must be 'kmeans', 'rpcl', a clusterer of "
            "scikit-learn, or a list of these. Got 'magic' instead."
        ),
    ),
    "a scale that is none": (
        lambda: qr.ensembles.generate([[1.0], [2.0]], n_members=2, scale="log"),
        ValueError,
        (
            "The 'scale' parameter of generate must be one of 'minmax', 'standard'. Got 'log' "
            "instead."
        ),
    ),
    "a model that is not there": (
        lambda: qr.load("nothing.quorate"),
        FileNotFoundError,
        "There is no file nothing.quorate. Check the name and the folder.",
    ),
    "a model that is a table": (
        lambda: qr.load("v.csv"),
        FileFormatError,
        ("v.csv is not a saved model, or it is damaged or truncated (...). Save the model again."),
    ),
}

#: Files that ``quorate consensus FILE -k 2`` refuses.
CONTENTS = {
    "empty.csv": (
        "",
        "empty.csv is empty. A table of votes has a row for each object.",
    ),
    "h.csv": (
        "a,b\n",
        ("h.csv has a header and no rows. If its only row holds votes, say that it has no header."),
    ),
    "r.csv": (
        "a,b\n1,2\n1\n",
        (
            "r.csv, row 3 has 1 cell, but the first row has 2 cells. Every row needs as many "
            "cells as there are columns; a missing vote is an empty cell between two "
            "separators."
        ),
    ),
    "b.csv": (
        "a,b\n1,2\n\n1,1\n",
        (
            "b.csv, row 3 is blank, but the first row has 2 cells. Every row needs as many "
            "cells as there are columns; a missing vote is an empty cell between two "
            "separators."
        ),
    ),
    "q.csv": (
        'a,b\n"1,2\n1,1\n',
        (
            "q.csv, line 3: unexpected end of data. Look for a quotation mark that is not "
            "closed. Cells are separated by commas, semicolons or tabs."
        ),
    ),
    "bars.csv": (
        "1|2\n1|3\n",
        (
            "bars.csv was read as one column, but bars (|) part its rows into equally many "
            "values. Cells are separated by commas, semicolons or tabs: save the file with one "
            "of these."
        ),
    ),
    "latin.csv": (
        b"a,b\nr\xf6t,1\n",
        "latin.csv is not UTF-8 text: byte 0xf6 is met in it. Save it again as UTF-8.",
    ),
    "bin.csv": (
        b"\x00\x01\x02",
        (
            "bin.csv cannot be read as CSV: it is binary, or text in UTF-16. Give the format it "
            "is in, or save it as UTF-8 text."
        ),
    ),
    "two.csv": (
        "a,a\n1,2\n1,1\n",
        (
            "two.csv has several columns called 'a' (columns 1, 2). Give each column a name of "
            "its own, or say that the file has no header."
        ),
    ),
    "f.csv": (
        "a,b\n0.5,1.5\n0.7,2.5\n",
        (
            "f.csv, row 2, column 'a': 0.5 is not a cluster label, and 2 of 2 values in this "
            "column are no whole numbers. Numbers with a fraction are measurements, not cluster "
            "labels: features belong to the command quorate generate, or to "
            "quorate.EnsembleClustering, which make the votes."
        ),
    ),
    "word.csv": (
        "a,b\n1,1\nx,1\n2,2\n1,2\n",
        (
            "word.csv, row 3, column 'a': 'x' is not a whole number, but 3 of 4 labels in this "
            "column are. Correct the cell, or leave it empty if the vote is missing."
        ),
    ),
    "n.csv": (
        "a,b\n1,1\n99999999999999999999,1\n2,2\n1,2\n",
        (
            "n.csv, row 3, column 'a': 99999999999999999999 is too large for a label: numbers "
            "go up to 9223372036854775807 (64 bits). Number the clusters from 0, or give them "
            "names."
        ),
    ),
    "i.csv": (
        "id,a\n1,0.5\n2,\n3,1\n",
        (
            "i.csv, row 2, column 'a': '0.5' is not a whole number, but 1 of 2 labels in this "
            "column are. Correct the cell, or leave it empty if the vote is missing."
        ),
    ),
    "s.csv": (
        "id,a,b\nx,1,1\ny,,\n",
        (
            "1 object(s) have no vote in any clustering: 'y' (s.csv, row 3). Nothing can be "
            "said about them; leave these rows out."
        ),
    ),
    "sheet.xlsx": (
        b"PK\x03\x04 and more",
        (
            "sheet.xlsx is a zip archive (a spreadsheet, perhaps), not one of the formats csv, "
            "tsv, parquet, npy, npz, mat. Save the votes as CSV, or say --format npz if it is "
            "one."
        ),
    ),
    "z.csv.gz": (
        b"\x1f\x8b\x08 and more",
        "z.csv.gz is a damaged or truncated gzip file (...). Make or fetch it again.",
    ),
    "d.npy": (
        b"\x93NUMPY and more",
        (
            "d.npy cannot be read as NPY: it is damaged, truncated, in another format, or holds "
            "Python objects (a header of version (32, 97), which plain arrays do not have). "
            "Make or fetch it again."
        ),
    ),
    "d.npz": (
        b"PK\x03\x04 and more",
        (
            "d.npz cannot be read as NPZ: it is damaged, truncated, in another format, or holds "
            "Python objects (...). Make or fetch it again."
        ),
    ),
    "d.parquet": (
        b"PAR1 and more",
        (
            "d.parquet cannot be read as Parquet: it is damaged, truncated or in another format "
            "(...). Make or fetch the file again."
        ),
    ),
    "d.mat": (
        b"MATLAB and more",
        (
            "d.mat cannot be read as MAT: it is damaged, truncated, in another format, or holds "
            "Python objects (...). Make or fetch it again."
        ),
    ),
}

#: Calls on a good file, and their exit codes.
COMMANDS = {
    "consenus v.csv": (
        2,
        (
            "There is no command 'consenus'. Did you mean consensus? Known: consensus, predict, "
            "generate, choose-k, compare, report, reproduce, demo."
        ),
    ),
    "consensus -k 2": (
        2,
        "VOTES is missing. See: quorate consensus --help",
    ),
    "consensus v.csv": (
        2,
        (
            "Say how many clusters you want: either -k 10, or --k-range 2:20 for one column of "
            "labels for each k; neither was given."
        ),
    ),
    "consensus v.csv -k 2 --k-range 2:3": (
        2,
        (
            "Say how many clusters you want: either -k 10, or --k-range 2:20 for one column of "
            "labels for each k; both were given."
        ),
    ),
    "consensus v.csv -k two": (
        2,
        "-k is a whole number from 1 on, or auto. Found 'two'.",
    ),
    "consensus v.csv -k 0": (
        2,
        "-k is a whole number from 1 on, or auto. Found '0'.",
    ),
    "consensus v.csv -k 9": (
        1,
        (
            "9 clusters were asked for, but the votes tell only 3 group(s) of objects apart. "
            "Ask for at most 3, or add clusterings that split the data further."
        ),
    ),
    "consensus v.csv --k-range 2:": (
        2,
        "--k-range is two numbers with a colon, as in 2:20. Found '2:'.",
    ),
    "consensus v.csv --k-range 5:2": (
        2,
        (
            "--k-range goes from a smaller to a larger number, the smaller at least 1, as in "
            "2:20. Found '5:2'."
        ),
    ),
    "consensus votes.csv -k 2": (
        1,
        "There is no file votes.csv. Check the name and the folder.",
    ),
    "consensus 'none*.csv' -k 2": (
        1,
        "No file matches none*.csv. Check the name and the folder.",
    ),
    "consensus v.csv -k 2 --method pgtp": (
        2,
        (
            "There is no method 'pgtp'. Did you mean ptgp? Known: cspa, eac, ecmc, ecpcs, "
            "gpmgla, hbgf, hgpa, lwea, lwgp, lwpt, mcla, nmf, pta, ptgp, srs, srw, usenc, vote, "
            "wct, weac."
        ),
    ),
    "consensus v.csv -k 2 --confidense": (
        2,
        (
            "There is no option --confidense. Did you mean --confidence? See: quorate consensus "
            "--help"
        ),
    ),
    "consensus v.csv -k": (
        2,
        "-k needs a value, and none was given.",
    ),
    "consensus v.csv -k 2 --id-column cel": (
        2,
        "v.csv has no column 'cel' to take ids from. Its 3 columns are 'id', 'a', 'b'.",
    ),
    "consensus v.csv -k 2 --truth clas": (
        2,
        ("--truth clas: there is neither a column nor a file of that name. The columns are a, b."),
    ),
    "consensus v.csv -k 2 --format xls": (
        2,
        "There is no format 'xls'. Known: csv, tsv, parquet, npy, npz, mat.",
    ),
    "consensus v.csv -k 2 --key votes": (
        2,
        "--key is for NPZ and MAT, but v.csv is read as CSV. Leave it out.",
    ),
    "consensus v.csv -k 2 -o v.csv": (
        2,
        "The output v.csv is the input v.csv, which it would replace. Name another output.",
    ),
    "consensus v.csv -k 2 -o labels.xls": (
        2,
        (
            "Labels cannot be written as '.xls' (labels.xls). Use a name that ends in .csv, "
            ".csv.gz, .tsv, .tsv.gz, .parquet, .npy or .npz."
        ),
    ),
    "consensus v.csv -k 2 -o nowhere/labels.csv": (
        1,
        (
            "The output nowhere/labels.csv cannot be written: there is no folder "
            "FOLDER/nowhere. Make it first."
        ),
    ),
    "consensus v.csv -k 2 --linkage average": (
        2,
        ("Method ptgp has no --linkage. Of these options it has --neighbors, --steps, --device."),
    ),
    "consensus v.csv -k 2 --method pta --linkage ward": (
        2,
        "--linkage is one of average, complete, single. Found 'ward'.",
    ),
    "consensus v.csv -k 2 --neighbors 0": (
        2,
        "--neighbors is auto, all or a whole number from 1 on. Found '0'.",
    ),
    "consensus v.csv -k 2 --steps many": (
        2,
        "--steps is auto or a whole number from 1 on. Found 'many'.",
    ),
    "consensus v.csv -k 2 --jobs 0": (
        2,
        "--jobs is a number of threads from 1 on, or -1 for all cores. Found 0.",
    ),
    "consensus v.csv -k 2 --seed -1": (
        2,
        "--seed is a whole number from 0 on. Found '-1'.",
    ),
    "consensus v.csv -k 2 --engine steam": (
        2,
        "--engine is one of auto, memory, stream, dask. Found 'steam'. Did you mean stream?",
    ),
    "consensus v.csv -k 2 --scheduler tcp://here:1": (
        2,
        "--scheduler is for --engine dask, which was not asked for.",
    ),
    "predict v.csv v.csv": (
        1,
        ("v.csv is not a saved model, or it is damaged or truncated (...). Save the model again."),
    ),
    "predict m.quorate v.csv": (
        1,
        "There is no file m.quorate. Check the name and the folder.",
    ),
    "generate v.csv -m 2 -o g.csv --drop c": (
        2,
        "--drop c: there is no such column. The columns are a, b.",
    ),
    "generate v.csv -m 0 -o g.csv": (
        2,
        "--members is a whole number from 1 on. Found '0'.",
    ),
    "choose-k v.csv --k-range 9:12": (
        1,
        (
            "12 clusters were asked for, but the votes tell only 3 group(s) of objects apart. "
            "Ask for at most 3, or add clusterings that split the data further."
        ),
    ),
    "compare v.csv -k 2 --truth t.csv": (
        2,
        ("--truth t.csv: there is neither a column nor a file of that name. The columns are a, b."),
    ),
}


def assert_says(found, expected):
    pattern = re.escape(expected).replace(re.escape("(...)"), r"\(.+\)")
    assert re.fullmatch(pattern, found.replace(str(Path.cwd()), "FOLDER"), re.DOTALL), found


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("v.csv").write_text("id,a,b\nx,1,1\ny,1,2\nz,2,2\n")


@pytest.mark.parametrize("case", CALLS)
def test_calls(case):
    call, error, message = CALLS[case]
    with pytest.raises(error) as caught:
        call()
    assert_says(str(caught.value), message)


@pytest.mark.parametrize("call", [f"consensus {name} -k 2" for name in CONTENTS] + list(COMMANDS))
def test_commands(call):
    for name, (content, _) in CONTENTS.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    refused = {f"consensus {name} -k 2": (1, message) for name, (_, message) in CONTENTS.items()}
    code, message = (refused | COMMANDS)[call]
    done = CliRunner().invoke(app, shlex.split(call))
    assert (done.exit_code, done.stdout) == (code, ""), done.stderr
    assert_says(done.stderr.removeprefix("error: ").removesuffix("\n"), message)
