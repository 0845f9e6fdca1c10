"""Which files of labels a stream writes: one for all inputs, or one for each in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from ensemblage.tables import (
    TEXT,
    File,
    FileFormatError,
    check_target,
    format_to_write,
    is_remote,
    packing,
)

if TYPE_CHECKING:
    from ensemblage.tables import Source

#: The formats that labels are written in.
WRITTEN = (*TEXT, "parquet")


@dataclass(frozen=True)
class Target:
    """A file of labels, and the places of the sources that it is for."""

    path: Path
    format: str
    sources: range


def is_folder(output: str | PathLike[str]) -> bool:
    """Tell whether an output is a folder: it exists as one, or has a slash at its end."""
    path = fspath(output)
    return bool(path) and (path.endswith(("/", "\\")) or Path(path).is_dir())


def parts_folder(output: str | PathLike[str]) -> Path:
    """Return the folder beside an output where what is finished is kept."""
    where = Path(output)
    return where.with_name(f"{where.name}.parts")


def targets_of(output: str, files: list[Source], asked: str | None, *, each: bool) -> list[Target]:
    """Return the files of labels to write, checked for whether they can be written."""
    if not each:
        check_target(output)
        chosen = format_to_write(output, None)
        if chosen not in WRITTEN or packing(output) or output == "-":
            raise FileFormatError(
                f"Labels of a stream are written to .parquet, .csv or .tsv files, not to {output}."
            )
        targets = [Target(Path(output), chosen, range(len(files)))]
        _check_inputs(targets, files, "file")
    else:
        folder = Path(output)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise type(error)(f"The folder {folder} cannot be made: {error.strerror}.") from error
        targets = []
        for place, source in enumerate(files):
            chosen = asked or File(source.path).format()
            chosen = chosen if chosen in TEXT else "parquet"
            stem = Path(source.path).with_suffix("") if packing(source.path) else Path(source.path)
            name = stem.with_suffix(f".{chosen}").name
            targets.append(Target(folder / name, chosen, range(place, place + 1)))
        _check_names(targets, files)
    for target in targets:
        check_target(str(target.path))
    return targets


def _check_names(targets: list[Target], files: list[Source]) -> None:
    """Refuse two outputs of one name, and an output that is an input."""
    source_of: dict[Path, str] = {}
    for target, source in zip(targets, files, strict=True):
        if target.path in source_of:
            raise FileFormatError(
                f"{source.path} and {source_of[target.path]} would both get {target.path} as"
                " output. Rename one, or write to one file."
            )
        source_of[target.path] = source.path
    _check_inputs(targets, files, "folder")


def _check_inputs(targets: list[Target], files: list[Source], other: str) -> None:
    """Refuse an output that would replace an input."""
    inputs = {Path(source.path).resolve() for source in files if not is_remote(source.path)}
    for target in targets:
        if target.path.resolve() in inputs:
            raise FileFormatError(
                f"The output {target.path} is one of the inputs. Name another {other}."
            )
