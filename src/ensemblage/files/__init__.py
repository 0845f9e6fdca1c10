"""Reading votes and writing labels: CSV, TSV, Parquet, NPY, NPZ, MAT. No science."""

from ensemblage.files._arrays import table_from_arrays
from ensemblage.files._errors import FileFormatError, OptionError
from ensemblage.files._features import FeatureTable, read_features
from ensemblage.files._formats import READABLE as FORMATS
from ensemblage.files._formats import format_of_name, format_to_write
from ensemblage.files._ids import as_texts
from ensemblage.files._pools import NamedColumn, check_pool_writable, pool_format, write_pool
from ensemblage.files._read import Labels, read_arrays, read_labels, read_table, read_tables
from ensemblage.files._table import (
    VoteTable,
    is_missing,
    n_objects,
    object_in_words,
    silent_objects,
    take_column,
    votes_of,
)
from ensemblage.files._text_column import has_decimal_comma
from ensemblage.files._write import check_writable, write_table, write_text

__all__ = [
    "FORMATS",
    "FeatureTable",
    "FileFormatError",
    "Labels",
    "NamedColumn",
    "OptionError",
    "VoteTable",
    "as_texts",
    "check_pool_writable",
    "check_writable",
    "format_of_name",
    "format_to_write",
    "has_decimal_comma",
    "is_missing",
    "n_objects",
    "object_in_words",
    "pool_format",
    "read_arrays",
    "read_features",
    "read_labels",
    "read_table",
    "read_tables",
    "silent_objects",
    "table_from_arrays",
    "take_column",
    "votes_of",
    "write_pool",
    "write_table",
    "write_text",
]
