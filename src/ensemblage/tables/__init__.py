"""Tables in files: one reader and one writer for every format.

A table is a source of Arrow batches. `scan` opens it, `read` returns all its batches as votes in
memory, and `write` writes columns to a file that appears complete or not at all.
"""

from ensemblage.tables.arrays import read_npy
from ensemblage.tables.carried import as_texts, common_type
from ensemblage.tables.codes import Codes
from ensemblage.tables.errors import FileFormatError, OptionError
from ensemblage.tables.features import read_features
from ensemblage.tables.files import File, is_remote, resolve
from ensemblage.tables.formats import TEXT, format_of_name, format_to_write, packing
from ensemblage.tables.formats import readable as _readable
from ensemblage.tables.labels import NAMES, NUMBERS, arrow_votes, is_missing, is_text, smallest
from ensemblage.tables.pools import NamedColumn, check_pool_writable, pool_format, write_pool
from ensemblage.tables.reading import LAYOUTS, read, read_arrays, read_labels, table_of_arrays
from ensemblage.tables.rows import has_decimal_comma
from ensemblage.tables.scanning import bytes_in_memory, scan, why_not_streamed
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
    lock,
    lost_errors,
    replacing,
)
from ensemblage.tables.text import RereadError
from ensemblage.tables.truth import in_order, read_truth, take_truth, unknown_column
from ensemblage.tables.writing import check_writable, write, write_text

#: The names of the formats that are read.
FORMATS = _readable()

__all__ = [
    "FORMATS",
    "LAYOUTS",
    "NAMES",
    "NUMBERS",
    "TEXT",
    "UNFINISHED",
    "Batch",
    "Codes",
    "FeatureTable",
    "File",
    "FileFormatError",
    "Labels",
    "NamedColumn",
    "OptionError",
    "RereadError",
    "Source",
    "VoteTable",
    "arrow_votes",
    "as_texts",
    "bytes_in_memory",
    "check_pool_writable",
    "check_target",
    "check_writable",
    "common_type",
    "finished",
    "format_object",
    "format_of_name",
    "format_to_write",
    "has_decimal_comma",
    "in_order",
    "is_missing",
    "is_remote",
    "is_text",
    "lock",
    "lost_errors",
    "n_objects",
    "packing",
    "pool_format",
    "read",
    "read_arrays",
    "read_features",
    "read_labels",
    "read_npy",
    "read_truth",
    "replacing",
    "resolve",
    "scan",
    "silent_objects",
    "smallest",
    "table_of_arrays",
    "take_column",
    "take_truth",
    "unknown_column",
    "votes_of",
    "why_not_streamed",
    "write",
    "write_pool",
    "write_text",
]
