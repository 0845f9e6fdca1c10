"""Reading votes and writing labels: CSV, TSV, Parquet, NPY, NPZ, MAT. No science."""

from quorate.files._errors import FileFormatError, OptionError
from quorate.files._formats import READABLE as FORMATS
from quorate.files._formats import format_to_write
from quorate.files._ids import as_texts
from quorate.files._read import Labels, read_labels, read_table, read_tables
from quorate.files._table import (
    VoteTable,
    is_missing,
    n_objects,
    object_in_words,
    silent_objects,
    take_column,
    votes_of,
)
from quorate.files._write import check_writable, write_table, write_text

__all__ = [
    "FORMATS",
    "FileFormatError",
    "Labels",
    "OptionError",
    "VoteTable",
    "as_texts",
    "check_writable",
    "format_to_write",
    "is_missing",
    "n_objects",
    "object_in_words",
    "read_labels",
    "read_table",
    "read_tables",
    "silent_objects",
    "take_column",
    "votes_of",
    "write_table",
    "write_text",
]
