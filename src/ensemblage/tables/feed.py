"""Text that Python code makes, for pyarrow's readers to read.

Threads of pyarrow may release a file object, or a part of its text, a moment after a reader has
returned its last row or raised an error. If Python shuts down at that moment, the thread cannot
get the interpreter lock, and the process aborts. Readers therefore wait for these threads.
"""

from __future__ import annotations

import weakref
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

_LONGEST_WAIT = 10.0  # seconds; a network that does not answer must not stop an error


class Feed:
    """Parts of a text, and what of them pyarrow still holds."""

    def __init__(self, parts: Generator[bytes]) -> None:
        self._parts = parts
        self._next = next(parts, b"")
        self._lent: dict[int, Any] = {}
        self._released: SimpleQueue[Any] = SimpleQueue()

    def is_empty(self) -> bool:
        """Return whether there is nothing to read."""
        return not self._next

    def file(self) -> FeedFile:
        """Return a file object for a reader of pyarrow. Keep neither, so that both are released."""
        return self._lend(FeedFile(self))

    def read(self, size: int = -1) -> memoryview:  # noqa: ARG002 - as much as there is
        """Return the next part."""
        while not self._released.empty():
            self._lent.pop(id(self._released.get()))
        part, self._next = self._next, b""
        return self._lend(memoryview(part or next(self._parts, b"")))

    def close(self) -> None:
        """Wait until pyarrow has released all that it got; close what the parts come from."""
        while self._lent:
            try:
                self._lent.pop(id(self._released.get(timeout=_LONGEST_WAIT)))
            except Empty:
                break
        self._parts.close()

    def _lend(self, one: Any) -> Any:
        # The callback is C code: the thread that releases an object finishes before others run.
        reference = weakref.ref(one, self._released.put)
        self._lent[id(reference)] = reference
        return one


class FeedFile:
    """A file object that returns one part of a text after another.

    Its methods are those of the feed: the traceback of an error in them does not hold the file.
    """

    closed = False

    def __init__(self, feed: Feed) -> None:
        self.read, self.close = feed.read, _nothing


def _nothing() -> None:
    """Do nothing: the feed closes what the parts come from."""
