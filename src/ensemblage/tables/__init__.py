"""Tables in files: one reader and one writer for every format.

A table is a source of Arrow batches. `scan` opens it, `read` returns all its batches as votes in
memory, and `write` writes columns to a file that appears complete or not at all.
"""

# ruff: noqa: F401 - the face of the package; names that are not in __all__ are for other packages

from ensemblage.tables.arrays import read_npy
from ensemblage.tables.columns import Codes, as_texts, check_carried, common_type
from ensemblage.tables.features import read_features
from ensemblage.tables.files import File, is_remote, resolve
from ensemblage.tables.formats import (
    TEXT,
    FileFormatError,
    OptionError,
    format_of_name,
    format_to_write,
    packing,
    readable,
)
from ensemblage.tables.ipc import open_mapped
from ensemblage.tables.labels import NAMES, NUMBERS, arrow_votes, is_missing, is_text, smallest
from ensemblage.tables.layout import bytes_in_memory, scan, why_not_streamed
from ensemblage.tables.reading import LAYOUTS, read, read_arrays, read_labels, table_of_arrays
from ensemblage.tables.rows import has_decimal_comma
from ensemblage.tables.source import Batch, Source
from ensemblage.tables.table import (
    FeatureTable,
    Labels,
    VoteTable,
    format_object,
    n_objects,
    silent_objects,
    take_column,
    votes_of,
)
from ensemblage.tables.target import (
    UNFINISHED,
    check_target,
    finished,
    identity,
    is_folder,
    lock,
    lost_errors,
    release,
    replacing,
)
from ensemblage.tables.text import RereadError
from ensemblage.tables.truth import in_order, read_truth, take_truth, unknown_column
from ensemblage.tables.writing import (
    NamedColumn,
    check_pool_writable,
    check_writable,
    pool_format,
    write,
    write_pool,
    write_text,
)

#: The names of the formats that are read.
FORMATS = readable()

__all__ = [
    "FORMATS",
    "LAYOUTS",
    "FeatureTable",
    "FileFormatError",
    "Labels",
    "OptionError",
    "VoteTable",
    "read",
    "read_arrays",
    "read_features",
    "read_labels",
    "scan",
    "votes_of",
    "write",
    "write_pool",
]
