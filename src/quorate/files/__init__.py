"""Reading votes and writing labels: CSV, TSV, Parquet, NPY, NPZ, MAT. No science."""

from quorate.files._errors import FileFormatError
from quorate.files._formats import READABLE as FORMATS
from quorate.files._formats import format_to_write
from quorate.files._read import Labels, read_labels, read_table, read_tables
from quorate.files._table import VoteTable, n_objects, take_column, votes_of
from quorate.files._write import check_writable, write_table, write_text

__all__ = [
    "FORMATS",
    "FileFormatError",
    "Labels",
    "VoteTable",
    "check_writable",
    "format_to_write",
    "n_objects",
    "read_labels",
    "read_table",
    "read_tables",
    "take_column",
    "votes_of",
    "write_table",
    "write_text",
]
