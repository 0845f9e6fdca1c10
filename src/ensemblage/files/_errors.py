"""What is wrong with a file, as an exception a command can print."""

from __future__ import annotations


class FileFormatError(ValueError):
    """The content of a file is not what its format, or a table of votes, asks for."""


class OptionError(FileFormatError):
    """An option that the format of the file has no use for, or that names no column of it."""
