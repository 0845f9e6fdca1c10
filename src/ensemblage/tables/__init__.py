"""Tables in files: `scan` opens them as Arrow batches, `read` reads all votes, `write` writes."""

# ruff: noqa: F401 - the face of the package; names that are not in __all__ are for other packages

from ensemblage._types import VoteTable
from ensemblage.tables.arrays import read_npy
from ensemblage.tables.cells import csv_text, rows_of_text
from ensemblage.tables.columns import ROW, Codes, as_texts, check_carried, texts_of
from ensemblage.tables.features import read_features
from ensemblage.tables.files import File, is_remote, resolve
from ensemblage.tables.formats import (
    FORMATS,
    TEXT,
    FileFormatError,
    OptionError,
    format_of_name,
    format_to_write,
    packing,
)
from ensemblage.tables.ids import Ids, id_keys, raise_repeated, repeated
from ensemblage.tables.ipc import open_mapped
from ensemblage.tables.labelling import (
    LABEL_NAMES,
    check_beside,
    is_beside,
    read_labels,
    read_truth,
    take_truth,
)
from ensemblage.tables.labels import (
    NAMES,
    NUMBERS,
    Kind,
    arrow_votes,
    is_missing,
    is_text,
    smallest,
    understand,
)
from ensemblage.tables.layout import bytes_in_memory, no_rows, scan, why_not_streamed
from ensemblage.tables.locks import lock, release, remove_stale
from ensemblage.tables.pools import NamedColumn, check_pool_writable, pool_format, write_pool
from ensemblage.tables.reading import LAYOUTS, read, read_arrays, table_of_arrays
from ensemblage.tables.rows import has_decimal_comma
from ensemblage.tables.source import Batch, Source, types_of
from ensemblage.tables.table import (
    FeatureTable,
    Labels,
    format_object,
    in_order,
    n_objects,
    silent_objects,
    take_column,
    unknown_column,
    votes_of,
)
from ensemblage.tables.target import (
    UNFINISHED,
    check_target,
    finished,
    identity,
    is_folder,
    is_special,
    lost_errors,
    replacing,
)
from ensemblage.tables.text import RereadError
from ensemblage.tables.writing import (
    check_writable,
    write,
    write_text,
    write_typed,
)

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
