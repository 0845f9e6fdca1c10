"""Errors about the content of files."""

from __future__ import annotations


class FileFormatError(ValueError):
    """The content of a file is not what its format, or a table of votes, requires."""


class OptionError(FileFormatError):
    """An option that does not apply to the format of the file, or names a missing column."""
