"""Work on a stream of items: read in one thread, done in others, results in order."""

import time

import pytest

from ensemblage.scale._passes import in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_items(threads):
    def slow_at_first(item):
        time.sleep(0.02 if item == 0 else 0)
        return item * item

    assert list(in_order(slow_at_first, range(20), threads)) == [i * i for i in range(20)]


@pytest.mark.parametrize("threads", [1, 3])
def test_errors_come_where_their_item_would(threads):
    def items():
        yield from range(3)
        raise OSError("the disk is gone")

    results = in_order(lambda item: 6 // (item - 5), items(), threads)
    assert [next(results) for _ in range(3)] == [-2, -2, -2]
    with pytest.raises(OSError, match="gone"):
        next(results)
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda item: 6 // item, [1, 0], threads))


def test_reading_does_not_run_ahead():
    seen = []

    def items():
        for item in range(100):
            seen.append(item)
            yield item

    results = in_order(str, items(), 2)
    next(results)
    time.sleep(0.05)
    results.close()
    assert len(seen) <= 5
