"""Work on a stream of items: read in one thread, done in others, results in order.

What is under way at one time is bounded, so that a fast reader does not fill the memory.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from queue import Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

Item = TypeVar("Item")
Result = TypeVar("Result")

_SECONDS_TO_LOOK_UP = 0.1


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Generator[Result]:
    """Yield ``work(item)`` for each item, in order; errors come where their item would."""
    if threads <= 1:
        yield from map(work, items)
        return
    # One more than the workers hold: enough that none of them waits.
    queue: Queue[Future[Result] | None] = Queue(threads + 1)
    stopped = Event()

    def put(future: Future[Result] | None) -> bool:
        while not stopped.is_set():
            try:
                queue.put(future, timeout=_SECONDS_TO_LOOK_UP)
            except Full:
                continue
            return True
        return False

    def read(pool: ThreadPoolExecutor) -> None:
        try:
            for item in items:
                if not put(pool.submit(work, item)):
                    return
            put(None)
        except BaseException as error:  # noqa: BLE001 - raised again where results are taken
            failed: Future[Result] = Future()
            failed.set_exception(error)
            put(failed)

    with ThreadPoolExecutor(threads) as pool:
        reader = Thread(target=read, args=(pool,), daemon=True)
        reader.start()
        try:
            while (future := queue.get()) is not None:
                yield future.result()
        finally:
            stopped.set()
            reader.join()
