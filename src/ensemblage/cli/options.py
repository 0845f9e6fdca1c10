"""Every option and argument of the command, defined once: type, names, help, completion.

A verb takes an option by naming its alias in its signature. Numbers and words (Literal) are
checked by typer; any other value has a parser.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ensemblage import METHODS
from ensemblage.cli.parsers import (
    CRITERIA,
    DATASETS,
    KNOWN_TABLES,
    TABLES,
    MethodName,
    argument,
    check_jobs,
    choice,
    count_or,
    flag,
    name_of,
    names_of,
    option,
    range_of,
    share_or_count,
)

# What is read

_FILES = (
    "CSV, TSV, Parquet, Arrow, ORC, JSON lines, XLSX, NPY, NPZ or MAT; - is standard input. Several"
    " form one table, in the order given."
)
_VOTES = "Files with a row for each object and a column for each clustering"
_OR_MODEL = "or a saved model (.ensemblage), alone or followed by the votes that it was fitted on."
_OR_DATASET = "Or, if there is no such file, the name of one of the paper's datasets."
Votes = Annotated[list[str], argument("VOTES", f"{_VOTES}: {_FILES}")]
Model = Annotated[str, argument("MODEL", "A file written by consensus --save.")]
ModelOrVotes = Annotated[
    list[str], argument("[MODEL] [VOTES]", f"{_VOTES}, as for consensus; {_OR_MODEL}")
]
Data = Annotated[
    list[str],
    argument("DATA", f"{_VOTES.replace('clustering', 'feature')}: {_FILES} {_OR_DATASET}"),
]
Tables = Annotated[
    list[str],
    argument(
        "TABLE... | all",
        f"{', '.join(TABLES)}; or by the paper's numbers: table9, figure10.",
        **name_of("table", *KNOWN_TABLES, "all"),
    ),
]
Truth = Annotated[
    str | None,
    option("COLUMN|FILE", "True labels: a file, or a column, which then does not vote."),
]
FeatureFile = Annotated[
    str | None,
    option("FILE", "Measurements of the same objects, for a map by features.", "--features"),
]
Drop = Annotated[list[str] | None, option("NAME", "A column to leave out. Can be repeated.")]
Columns = Annotated[
    list[str] | None,
    option("NAME,...", "The clusterings, by name or pattern: 'leiden_*'. Can be repeated."),
]
Keep = Annotated[
    list[str] | None,
    option("NAME,...", "Columns to copy to the output, by name or pattern. Can be repeated."),
]
Layout = Annotated[
    Literal["wide", "long", "members"],
    choice("Clusterings are columns (wide), rows of object, member, label (long), or files."),
]
IdColumn = Annotated[
    str, option("NAME", "The column of ids: its name, its position from 0, or none.")
]
Header = Annotated[bool | None, flag("Whether the first row holds names.", "--header/--no-header")]
Format = Annotated[
    Literal["csv", "tsv", "parquet", "arrow", "orc", "json", "npy", "npz", "mat", "xlsx"] | None,
    choice("Format of the input.", default="from the name"),
]
Key = Annotated[
    str | None, option("NAME", "The array of an NPZ or MAT file to read.", default="detected")
]

# How many clusters

_K = ("-k", "--clusters")
K = Annotated[int, option("INT", "Number of clusters.", *_K, min=1)]
AutoK = Annotated[
    Any,
    count_or(
        _K, "INT|auto", "Number of clusters; auto chooses one and prints the reasons.", "auto"
    ),
]
ConsensusK = Annotated[
    int | None,
    option(
        "INT", "Clusters of the consensus; each clustering has 2 to 4 times as many.", *_K, min=1
    ),
]
LabelRange = Annotated[Any, range_of("Instead of -k: a column of labels for each k.")]
ScoreRange = Annotated[Any, range_of("Numbers of clusters to score.", "2:20, or further")]
MemberRange = Annotated[
    Any,
    range_of(
        "Each clustering has a random number of clusters in this range.",
        "2 to half the root of the number of objects, at most 50",
    ),
]
Criteria = Annotated[
    Any,
    option(
        "cheap|all|NAME,NAME,...",
        "Scores to compute.",
        **names_of("--criteria", "criterion", *CRITERIA, words=("cheap", "all")),
    ),
]
_CRITERION = name_of("criterion", "auto", *CRITERIA)
Criterion = Annotated[
    str, option("auto|NAME", "The score that decides; auto is support.", **_CRITERION)
]
Refits = Annotated[
    int, option("INT", "Number of random halves of the clusterings that are refitted.", min=2)
]

# How it is computed

_METHOD = ("--method", "-m")
Method = Annotated[
    MethodName,
    option("NAME", "The consensus method; auto suits most data.", *_METHOD, case_sensitive=False),
]
Methods = Annotated[
    Any,
    option(
        "all|NAME,NAME,...",
        "Methods to run.",
        **names_of("--methods", "method", *METHODS, words=("all",)),
    ),
]
BySize = Annotated[
    bool,
    flag("Number the clusters by size, the largest 0. Default: by first appearance.", "--by-size"),
]
AlignTo = Annotated[str | None, option("FILE", "Earlier labels; clusters keep their numbers.")]
Linkage = Annotated[
    Literal["average", "complete", "single"] | None,
    choice("How agglomerative methods merge.", default="average"),
]
Neighbors = Annotated[
    Any,
    count_or(["--neighbors"], "auto|all|INT", "Links kept for each microcluster.", "auto", "all"),
]
Steps = Annotated[Any, count_or(["--steps"], "auto|INT", "Length of the random walks.", "auto")]
MinClusterSize = Annotated[
    Any,
    share_or_count(
        "--min-cluster-size",
        "Least size of a cluster: objects (5), a share of the mean size (0.1), or auto.",
        "auto; 1 with a named method",
        word="auto",
    ),
]
Device = Annotated[
    Literal["cpu", "cuda", "auto"] | None,
    choice("Device for the walks of PTA and PTGP; auto may use a GPU.", default="cpu"),
]
Seed = Annotated[int, option("INT", "Random seed.", min=0)]
Jobs = Annotated[
    int, option("INT", "Threads; -1 is all cores. Results do not change.", callback=check_jobs)
]
Engine = Annotated[
    Literal["auto", "memory", "stream", "dask"],
    choice("memory; stream, for votes larger than memory; dask, for workers; auto selects one."),
]
PredictEngine = Annotated[
    Literal["auto", "memory", "stream"],
    choice("memory; stream, for votes larger than memory; auto selects one.", "--engine"),
]
Scheduler = Annotated[
    str | None,
    option(
        "ADDRESS",
        "With --engine dask: a scheduler, such as tcp://host:8786. Default: local processes.",
    ),
]
DryRun = Annotated[
    bool, flag("Print the expected time and memory, and write nothing.", "--dry-run")
]

# Clusterings from features

Members = Annotated[int, option("INT", "Number of clusterings.", "--members", "-m", min=1)]
Generators = Annotated[
    Any,
    option(
        "kmeans|kmeans++|rpcl|NAME,NAME",
        "Base clusterers; several are used in turn.",
        "--method",
        **names_of("--method", "method", "kmeans", "kmeans++", "rpcl"),
    ),
]
Scale = Annotated[
    Literal["minmax", "standard"] | None, choice("Scale each feature first.", default="not scaled")
]
_SEES = "Each clustering uses"
Subspace = Annotated[
    Any,
    share_or_count(
        "--subspace", f"{_SEES} this share of the features (0.5), or this many (10).", "all"
    ),
]
Projection = Annotated[
    Any,
    share_or_count(
        "--projection",
        f"{_SEES} the features projected on this many random directions.",
        "not projected",
    ),
]
Subsample = Annotated[
    Any,
    share_or_count(
        "--subsample",
        f"{_SEES} this share of the objects, and has no vote on the others.",
        "all",
        share_only=True,
    ),
]
Checkpoint = Annotated[
    str | None,
    option("DIR", "Folder for finished clusterings.", default="POOL.parts, removed at the end"),
]

# Experiments

_DATASETS = names_of("--datasets", "dataset", *DATASETS)
Datasets = Annotated[
    Any, option("NAME,NAME,...", "Datasets to use.", default="the paper's ten", **_DATASETS)
]
Runs = Annotated[
    int | None, option("INT", "Number of draws.", default="20 or 100, as in the paper", min=1)
]
Repeats = Annotated[
    int,
    option("INT", "Number of ensembles, each with its own seed; the table has their means.", min=1),
]
Pools = Annotated[
    Literal["authors", "own"] | None,
    choice(
        "Source of the ensembles; own pools are made from the features.",
        default="the authors' if available",
    ),
]
Quick = Annotated[bool, flag("Two draws on two datasets, in minutes.", "--quick")]
Render = Annotated[bool, flag("Run nothing; make tables and figures from the records.", "--render")]
Uncapped = Annotated[
    bool,
    flag(
        "Also run Table 9, and the largest ensembles of Figure 10, with K and T without the limit"
        " of the authors' program.",
        "--uncapped",
    ),
]
CheckSome = Annotated[
    int | None, option("INT", "Repeat this number of records and compare.", "--check", min=1)
]

# What is written

_O = ("-o", "--output")
LabelFile = Annotated[
    str,
    option(
        "FILE|DIR/",
        "Output file: .csv, .tsv (also .gz), .parquet, .arrow, .orc, .jsonl, .npy, .npz; - is"
        " standard output; a folder, with a slash, gets a file for each input.",
        *_O,
    ),
]
PoolFile = Annotated[
    str,
    option(
        "POOL", "Output file: .parquet, .csv, .tsv, .npy, .npz, .mat; - is standard output.", *_O
    ),
]
ScoreFile = Annotated[
    str | None, option("FILE", "Write the scores, a row for each k: .csv, .tsv, .parquet.", *_O)
]
MethodFile = Annotated[
    str | None,
    option("FILE", "Write the table: .csv, .tsv, .parquet; .json also has the agreement.", *_O),
]
ReportFile = Annotated[str, option("FILE", "The HTML file; - is standard output.", *_O)]
RecordFolder = Annotated[
    str, option("DIR", "Folder for records, own pools and results.", *_O, "--out")
]
DemoFolder = Annotated[
    str | None,
    option("DIR", "Folder for votes.csv, labels.csv and report.html of the first ensemble.", *_O),
]
Confidence = Annotated[bool, flag("Add the confidence of each label, from 0 to 1.", "--confidence")]
MemberTable = Annotated[
    str | None, option("FILE", "Also write a table of the clusterings, with those to check.")
]
ClusterTable = Annotated[
    str | None, option("FILE", "Also write a table of the clusters: size, consensus, nearest.")
]
Save = Annotated[
    str | None, option("FILE", "Also save the model (.ensemblage), for ensemblage predict.")
]
Title = Annotated[
    str | None, option("TEXT", "The heading of the report.", default="the name of the file")
]
Json = Annotated[bool, flag("Print the summary as JSON on standard output.", "--json")]
Quiet = Annotated[bool, flag("No progress and no summary.", "--quiet", "-q")]
Debug = Annotated[bool, flag("Show the traceback of an error.", "--debug")]
