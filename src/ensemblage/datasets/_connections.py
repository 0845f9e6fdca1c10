"""Connections that end when a request is given up, so that no thread reads on without end."""

from __future__ import annotations

import socket
import threading
import urllib.request
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import http.client
    from collections.abc import Callable


class Connections:
    """The connections of one request, with those of its redirects.

    Attributes
    ----------
    handlers : list of urllib.request.BaseHandler
        What opens them, for an opener.
    """

    def __init__(self) -> None:
        self.handlers = [_Http(self), _Https(self)]
        self._made: list[http.client.HTTPConnection] = []
        self._ended = False

    def add(self, connection: http.client.HTTPConnection) -> None:
        """Remember a connection that is about to be made."""
        self._made.append(connection)

    def check(self) -> None:
        """Raise an error if the request was given up."""
        if self._ended:
            raise TimeoutError("the request was given up")

    def answer_of(self, ask: Callable[[], Any], seconds: float) -> Any:
        """Return the answer to a request, or raise its error; give it up after so many seconds."""
        found: list[Any] = []

        def run() -> None:
            try:
                found.append(ask())
            except Exception as error:  # noqa: BLE001 - raised below
                found.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        is_late = True  # also if Ctrl-C ends the wait
        try:
            thread.join(seconds)
            is_late = not found
        finally:
            if is_late:
                self.end()
        if is_late:
            raise TimeoutError(f"the server did not answer within {seconds:.0f} seconds")
        answer = found.pop()
        if not isinstance(answer, Exception):
            return answer
        try:
            raise answer
        finally:
            del answer  # its traceback leads here: nothing would close the connection

    def end(self) -> None:
        """End them: a thread that reads from one then finds no more bytes."""
        self._ended = True
        for connection in self._made:
            if (opened := connection.sock) is not None:
                with suppress(OSError):  # it is closed already
                    # Not the method of an SSL socket, which is for the thread that reads.
                    socket.socket.shutdown(opened, socket.SHUT_RDWR)


class _Ending(urllib.request.AbstractHTTPHandler):
    def __init__(self, connections: Connections) -> None:
        super().__init__()
        self._connections = connections

    def do_open(self, http_class: Any, req: Any, **options: Any) -> Any:
        return super().do_open(_known_to(self._connections, http_class), req, **options)


class _Http(_Ending, urllib.request.HTTPHandler):
    pass


class _Https(_Ending, urllib.request.HTTPSHandler):
    pass


def _known_to(connections: Connections, kind: Any) -> Any:
    """Return a kind of connection that can be ended."""

    class Known(kind):
        def connect(self) -> None:
            connections.add(self)
            super().connect()
            connections.check()

    return Known
