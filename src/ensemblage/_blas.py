"""One BLAS thread while an estimator works.

Matrices here are small for BLAS: its threads cost more than they save, busy-wait for each other (a
hundred times slower on a busy machine), and may change the last bit of a result. Large products are
cut into blocks for the threads of `ensemblage.flow` instead.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from typing import Self


class _OneBlasThread:
    """A context that several threads may enter at once; the last to leave restores."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._controller: ThreadpoolController | None = None
        self._limiter: Any = None

    def __enter__(self) -> Self:
        with self._lock:
            if self._inside == 0:
                if self._controller is None:
                    import scipy.linalg  # noqa: F401 - its BLAS must be loaded to be found

                    self._controller = ThreadpoolController()
                self._limiter = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.restore_original_limits()


one_blas_thread = _OneBlasThread()
