"""Where a consensus is computed: in memory, in a stream of batches, or on a cluster.

An engine is a function of a `Task` that writes the labels and returns what the summary tells. To
add one, name it in `ENGINES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ensemblage.cli._engine_dask import on_dask
from ensemblage.cli._engine_memory import in_memory
from ensemblage.cli._engine_stream import in_stream, why_not_streamed
from ensemblage.cli._errors import WrongCall
from ensemblage.cli._words import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from ensemblage.cli._task import Done, Task

AUTO = "auto"
ENGINES: dict[str, Callable[[Task], Done]] = {
    "memory": in_memory,
    "stream": in_stream,
    "dask": on_dask,
}
#: Votes that would take more of the available memory than this share are streamed.
_SHARE = 0.5


def check_engine(name: str, scheduler: str | None) -> str:
    """Return the name of an engine in lower case, or refuse the call."""
    known = (AUTO, *ENGINES)
    if name.lower() not in known:
        hint = did_you_mean(name, known)
        raise WrongCall(f"--engine is one of {', '.join(known)}. Found {name!r}.{hint}")
    if scheduler is not None and name.lower() != "dask":
        raise WrongCall("--scheduler is for --engine dask, which was not asked for.")
    return name.lower()


def choose(name: str, task: Task) -> str:
    """Return the engine for a task: the one asked for, else the one that fits it."""
    if name != AUTO:
        return name
    from ensemblage.scale import stream

    if task.output_is_folder or any(map(stream.only_streamed, task.votes)):
        return "stream"
    if why_not_streamed(task) is not None:
        return "memory"
    from ensemblage._validate import available_memory

    needed = stream.bytes_in_memory(task.votes, format=task.format)
    return "stream" if needed > _SHARE * available_memory() else "memory"
