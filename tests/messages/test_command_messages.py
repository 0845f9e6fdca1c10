"""Wrong calls of the command, each with its exact message."""

import pytest

pytest.importorskip("pyarrow")

#: Calls on a good file, and their exit codes.
COMMANDS = {
    "consenus v.csv": (
        2,
        (
            "Unknown command 'consenus'. Did you mean 'consensus'? Known: consensus, predict, "
            "generate, choose-k, compare, report, reproduce, demo."
        ),
    ),
    "consensus -k 2": (
        2,
        "VOTES is missing. See: ensemblage consensus --help",
    ),
    "consensus v.csv --method pta": (
        2,
        (
            "Say how many clusters you want: -k 10, -k auto, or --k-range 2:20 for one column of "
            "labels for each k; neither was given."
        ),
    ),
    "consensus v.csv -k 2 --k-range 2:3": (
        2,
        (
            "Say how many clusters you want: -k 10, -k auto, or --k-range 2:20 for one column of "
            "labels for each k; both were given."
        ),
    ),
    "consensus v.csv -k two": (
        2,
        "-k must be auto or a whole number from 1 up, got 'two'.",
    ),
    "consensus v.csv -k 0": (
        2,
        "-k must be auto or a whole number from 1 up, got '0'.",
    ),
    "consensus v.csv -k 9": (
        1,
        (
            "9 clusters were asked for, but the votes distinguish only 3 group(s) of objects. "
            "Ask for at most 3, or add clusterings that split the data further."
        ),
    ),
    "consensus v.csv --k-range 2:": (
        2,
        "--k-range must be two numbers with a colon, such as 2:20, got '2:'.",
    ),
    "consensus v.csv --k-range 5:2": (
        2,
        (
            "--k-range must run from a smaller to a larger number, the smaller at least 1, such "
            "as 2:20, got '5:2'."
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
            "Unknown method 'pgtp'. Did you mean 'ptgp'? Known: auto, consensus, cspa, eac, "
            "ecmc, ecpcs, gpmgla, hbgf, hgpa, lca, lwea, lwgp, lwpt, mcla, median, nmf, pta, ptgp, "
            "srs, srw, usenc, vote, wct, weac."
        ),
    ),
    "consensus v.csv -k 2 --confidense": (
        2,
        (
            "Unknown option --confidense. Did you mean '--confidence'? See: ensemblage consensus "
            "--help"
        ),
    ),
    "consensus v.csv -k": (
        2,
        "-k needs a value, and none was given. See: ensemblage consensus --help",
    ),
    "consensus v.csv -k 2 --id-column cel": (
        2,
        "v.csv has no column 'cel' to take ids from. Its columns: 'id', 'a', 'b'.",
    ),
    "consensus v.csv -k 2 --truth clas": (
        2,
        ("--truth clas: there is neither a column nor a file of that name. The columns are a, b."),
    ),
    "consensus v.csv -k 2 --format xls": (
        2,
        (
            "Unknown format 'xls'. Did you mean 'xlsx'? Known: csv, tsv, parquet, arrow, orc, "
            "json, npy, npz, mat, xlsx."
        ),
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
            ".tsv, .parquet, .arrow, .orc, .jsonl, .npy or .npz; .gz and .zst after it compress."
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
        (
            "Method auto has no --linkage. Name a method that has it, such as --method pta, or "
            "leave it out."
        ),
    ),
    "consensus v.csv -k 2 --linkage average --method ptgp": (
        2,
        ("Method ptgp has no --linkage. Of these options it has --neighbors, --steps, --device."),
    ),
    "consensus v.csv -k 2 --min-cluster-size 1 --method ptgp": (
        2,
        (
            "Method ptgp has no --min-cluster-size. Of these options it has --neighbors, --steps,"
            " --device."
        ),
    ),
    "consensus v.csv -k 2 --min-cluster-size 0": (
        2,
        (
            "--min-cluster-size must be auto, a whole number from 1 up, or a share above 0 and up "
            "to 1.0, such as 0.5, got '0'."
        ),
    ),
    "consensus v.csv -k 2 --method pta --linkage ward": (
        2,
        "Unknown linkage 'ward'. Known: average, complete, single.",
    ),
    "consensus v.csv -k 2 --neighbors 0": (
        2,
        "--neighbors must be auto, all or a whole number from 1 up, got '0'.",
    ),
    "consensus v.csv -k 2 --steps many": (
        2,
        "--steps must be auto or a whole number from 1 up, got 'many'.",
    ),
    "consensus v.csv -k 2 --jobs 0": (
        2,
        "--jobs must be a number from 1 up, or -1 for all cores, got 0.",
    ),
    "consensus v.csv -k 2 --seed -1": (
        2,
        "--seed must be a whole number from 0 up, got '-1'.",
    ),
    "consensus v.csv -k 2 --engine steam": (
        2,
        "Unknown engine 'steam'. Did you mean 'stream'? Known: auto, memory, stream, dask.",
    ),
    "consensus v.csv -k 2 --scheduler tcp://here:1": (
        2,
        "--scheduler needs --engine dask.",
    ),
    "predict v.csv v.csv": (
        1,
        (
            "v.csv is not a saved model. Name a file written by consensus --save; the votes come"
            " after it."
        ),
    ),
    "predict m.ensemblage v.csv": (
        1,
        "There is no file m.ensemblage. Check the name and the folder.",
    ),
    "generate v.csv -m 2 -o g.csv --drop c": (
        2,
        "--drop c: there is no such column. The columns are a, b.",
    ),
    "generate v.csv -m 0 -o g.csv": (
        2,
        "--members must be a whole number from 1 up, got '0'.",
    ),
    "choose-k v.csv --k-range 9:12": (
        1,
        (
            "12 clusters were asked for, but the votes distinguish only 3 group(s) of objects. "
            "Ask for at most 3, or add clusterings that split the data further."
        ),
    ),
    "compare v.csv -k 2 --truth t.csv": (
        2,
        ("--truth t.csv: there is neither a column nor a file of that name. The columns are a, b."),
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command, assert_refused):
    assert_refused(command, *COMMANDS[command])
