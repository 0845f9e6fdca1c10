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
    " are one table, in the order given."
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
    option("COLUMN|FILE", "True labels: a column, which is not used otherwise, or a file."),
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
    str, option("NAME", "The column that names the objects: its name, its place from 0, or none.")
]
Header = Annotated[bool | None, flag("Whether the first row holds names.", "--header/--no-header")]
Format = Annotated[
    Literal["csv", "tsv", "parquet", "arrow", "orc", "json", "npy", "npz", "mat", "xlsx"] | None,
    choice("The format of the input.", default="by the name"),
]
Key = Annotated[
    str | None, option("NAME", "The array of an NPZ or MAT file to read.", default="by its name")
]

# How many clusters

_K = ("-k", "--clusters")
K = Annotated[int, option("INT", "How many clusters.", *_K, min=1)]
AutoK = Annotated[
    Any, count_or(_K, "INT|auto", "How many clusters; auto chooses, and says why.", "auto")
]
ConsensusK = Annotated[
    int | None,
    option("INT", "Clusters of the consensus; each clustering has 2 to 4 times more.", *_K, min=1),
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
        "Which scores to compute.",
        **names_of("--criteria", "criterion", *CRITERIA, words=("cheap", "all")),
    ),
]
_CRITERION = name_of("criterion", "auto", *CRITERIA)
Criterion = Annotated[
    str, option("auto|NAME", "Which score decides; auto is support.", **_CRITERION)
]
Refits = Annotated[int, option("INT", "How many random halves of the members are refitted.", min=2)]

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
        "Which methods to run.",
        **names_of("--methods", "method", *METHODS, words=("all",)),
    ),
]
BySize = Annotated[
    bool, flag("Number clusters by size, the largest 0; else by appearance.", "--by-size")
]
AlignTo = Annotated[str | None, option("FILE", "Earlier labels; clusters keep their numbers.")]
Linkage = Annotated[
    Literal["average", "complete", "single"] | None,
    choice("How agglomerative methods merge.", default="average"),
]
Neighbors = Annotated[
    Any,
    count_or(["--neighbors"], "auto|all|INT", "Links kept at each microcluster.", "auto", "all"),
]
Steps = Annotated[Any, count_or(["--steps"], "auto|INT", "Length of the walks.", "auto")]
Device = Annotated[
    Literal["cpu", "cuda", "auto"] | None,
    choice("Where PTA and PTGP compute the walks; auto may take a GPU.", default="cpu"),
]
Seed = Annotated[int, option("INT", "Seed of all random numbers.", min=0)]
Jobs = Annotated[
    int, option("INT", "Threads; -1 is all cores. Results do not change.", callback=check_jobs)
]
Engine = Annotated[
    Literal["auto", "memory", "stream", "dask"],
    choice("Where to work: in memory, in batches of votes that need not fit there, or on Dask."),
]
PredictEngine = Annotated[
    Literal["auto", "memory", "stream"],
    choice("Where to work: in memory, or in batches of votes that need not fit there.", "--engine"),
]
Scheduler = Annotated[
    str | None,
    option("ADDRESS", "With --engine dask: a scheduler, as tcp://host:8786; else local processes."),
]
DryRun = Annotated[
    bool, flag("Print the time and memory that it would take, and write nothing.", "--dry-run")
]

# Clusterings from features

Members = Annotated[int, option("INT", "How many clusterings.", "--members", "-m", min=1)]
Generators = Annotated[
    Any,
    option(
        "kmeans|rpcl|NAME,NAME",
        "What makes them; several take turns.",
        "--method",
        **names_of("--method", "method", "kmeans", "rpcl"),
    ),
]
Scale = Annotated[
    Literal["minmax", "standard"] | None, choice("Scale each feature first.", default="not scaled")
]
_SEES = "Each clustering sees"
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
    option("DIR", "Where to keep finished clusterings.", default="POOL.parts, removed in the end"),
]

# Experiments

_DATASETS = names_of("--datasets", "dataset", *DATASETS)
Datasets = Annotated[
    Any, option("NAME,NAME,...", "Which datasets.", default="the paper's ten", **_DATASETS)
]
Runs = Annotated[
    int | None, option("INT", "How many draws.", default="as the paper: 20 or 100", min=1)
]
Repeats = Annotated[
    int, option("INT", "How many ensembles, each from its own seed, to take means over.", min=1)
]
Pools = Annotated[
    Literal["authors", "own"] | None,
    choice("Draw ensembles from these; own pools are made from features.", default="what is there"),
]
Quick = Annotated[bool, flag("Two draws on two datasets, in minutes.", "--quick")]
Render = Annotated[bool, flag("Run nothing; make tables of the records.", "--render")]
Uncapped = Annotated[
    bool,
    flag("Also run Table 9 with K and T without the limit of the authors' program.", "--uncapped"),
]
CheckSome = Annotated[
    int | None, option("INT", "Run this many records again, and compare.", "--check", min=1)
]

# What is written

_O = ("-o", "--output")
LabelFile = Annotated[
    str,
    option(
        "FILE|DIR/",
        "Where the labels go: .csv, .tsv (also .gz), .parquet, .npy, .npz; - is standard output; a"
        " folder, with a slash, gets a file for each input.",
        *_O,
    ),
]
PoolFile = Annotated[
    str,
    option(
        "POOL", "Where the clusterings go: .parquet, .csv, .tsv, .npy, .npz, .mat; or - (CSV).", *_O
    ),
]
ScoreFile = Annotated[
    str | None, option("FILE", "Write the scores, a row for each k: .csv, .tsv, .parquet.", *_O)
]
MethodFile = Annotated[
    str | None,
    option("FILE", "Write the table: .csv, .tsv, .parquet; .json has the agreement too.", *_O),
]
ReportFile = Annotated[str, option("FILE", "The HTML file; - is standard output.", *_O)]
RecordFolder = Annotated[str, option("DIR", "Records, own pools and results.", *_O, "--out")]
DemoFolder = Annotated[
    str | None,
    option("DIR", "Write votes.csv, labels.csv and report.html of the first ensemble here.", *_O),
]
Confidence = Annotated[bool, flag("Add how sure each label is, from 0 to 1.", "--confidence")]
MemberTable = Annotated[
    str | None, option("FILE", "Also write agreement and diversity of the clusterings, and doubts.")
]
ClusterTable = Annotated[
    str | None, option("FILE", "Also write size, consensus and neighbour of the clusters.")
]
Save = Annotated[
    str | None, option("FILE", "Also save the model, for ensemblage predict: model.ensemblage.")
]
Title = Annotated[
    str | None, option("TEXT", "The heading of the report.", default="the name of the file")
]
Json = Annotated[bool, flag("Print the summary as JSON, on standard output.", "--json")]
Quiet = Annotated[bool, flag("No progress and no summary.", "--quiet", "-q")]
Debug = Annotated[bool, flag("Show the traceback of an error.", "--debug")]
