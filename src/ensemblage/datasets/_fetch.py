"""Download of a file from one of several addresses, resuming interrupted attempts.

Servers are not trusted: addresses are of http or https only, also after redirects, which never lead
from https to http; sizes and times are limited; and every failure is a `DownloadError`.
"""

from __future__ import annotations

import hashlib
import http.client
import lzma
import re
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ensemblage._messages import printable
from ensemblage.datasets._connections import Connections
from ensemblage.tables import UNFINISHED, finished, lock, release, remove_stale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CHUNK = 1 << 18
_PATIENCE = 30.0  # seconds without data
_ANSWERED = 120.0  # seconds until an answer begins, after all redirects
_LONGEST = 3600.0  # seconds for the rest of it
_MOST_BYTES = 2 << 30  # of a file, packed or not
_ATTEMPTS = 3  # as long as each of them receives data
_REDIRECTS = 5
_LOCK = ".lock"  # of a folder that files are fetched into
_PAUSE = 0.1  # seconds until the next look at it
_WHOLE, _PARTIAL, _NOT_SATISFIABLE = 200, 206, 416
_SCHEMES = ("http", "https")
#: Raised by damaged or invalid archives.
_ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError,
    ValueError,
)  # fmt: skip
_RANGE = re.compile(r"bytes ([0-9]+)-[0-9]+/([0-9]+|\*)")


class DownloadError(OSError):
    """A file could not be fetched from any address, or is not the expected file.

    The words of servers are part of its message, so control characters are escaped.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


def fetch(urls: Sequence[str], target: Path, *, sha256: str | None = None) -> None:
    """Fetch a file from the first address that has it.

    An incomplete download is kept next to the target, under a name that ends in ``.part``; the same
    call resumes it. The target appears complete, or not at all. Of several calls for one folder at
    once, one fetches and the others wait.

    Parameters
    ----------
    urls : sequence of str
        Addresses of the same file, http or https; ``archive.zip#member`` for one in an archive.
    target : Path
        The target file; its folder is created.
    sha256 : str, optional
        The checksum that the file must have.

    Raises
    ------
    DownloadError
        With the reason for each address.
    """
    failures = []
    for url in urls:
        try:
            with alone(target.parent / _LOCK) as waited:
                if waited and _is_there(target, sha256):
                    return
                remove_stale(target.parent, UNFINISHED)
                _fetch_from(url, target, sha256)
        except (OSError, ValueError) as error:  # a full disk, an invalid address
            failures.append(f"{url}: {_reason(error)}")
        else:
            return
    raise DownloadError("; ".join(failures))


@contextmanager
def alone(path: Path) -> Iterator[bool]:
    """Wait for a lock; give whether another run had it."""
    waited = False
    while (held := _locked(path)) is None:
        waited = True
        time.sleep(_PAUSE)
    try:
        yield waited
    finally:
        release(held, path)


def _locked(path: Path) -> IO[bytes] | None:
    try:
        return lock(path)
    except OSError as error:
        raise DownloadError(
            f"Nothing can be fetched into the folder {path.parent}: {_reason(error)}. Set the"
            " environment variable ENSEMBLAGE_CACHE to another."
        ) from error


def _is_there(target: Path, sha256: str | None) -> bool:
    return target.is_file() and sha256 in (None, checksum(target))


def _fetch_from(url: str, target: Path, sha256: str | None) -> None:
    address, _, member = url.partition("#")
    if urlsplit(address).scheme not in _SCHEMES:
        raise DownloadError("not an address of http or https")
    if member:
        archive = target.with_name(PurePosixPath(urlsplit(address).path).name)
        if not archive.exists():
            _download(address, archive, None)
        _extract(archive, member, target, sha256)
    else:
        _download(address, target, sha256)


def _download(url: str, target: Path, sha256: str | None) -> None:
    mark = hashlib.sha256(url.encode()).hexdigest()[:8]  # parts of two mirrors must not mix
    part = target.with_name(f"{target.name}.{mark}.part")
    for is_last in (False, True):
        resumed = _complete(url, part)
        if sha256 is None or (found := checksum(part)) == sha256:
            part.replace(target)
            return
        part.unlink()
        if is_last or not resumed:  # else the first half may belong to an older file
            break
    raise DownloadError(f"the file has the checksum {found}, not {sha256}: it was removed")


def _complete(url: str, part: Path) -> bool:
    """Receive a complete file; tell whether an earlier part belongs to it."""
    resumed = _size(part) > 0
    for attempt in range(_ATTEMPTS):
        before = _size(part)
        try:
            if _receive(url, part):
                break
            reason = "it ended too early"
        except DownloadError:
            raise
        except urllib.error.HTTPError as error:
            raise DownloadError(f"the server answers {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = _reason(error)
        if _size(part) == before or attempt == _ATTEMPTS - 1:
            kept = _size(part)
            more = f"; {kept:,} bytes are kept, the next call resumes there" if kept else ""
            raise DownloadError(f"{reason}{more}")
        resumed = True
    return resumed


def _receive(url: str, part: Path) -> bool:
    """Append the missing bytes of a part; tell whether it is complete."""
    have = _size(part)
    headers = {"User-Agent": "ensemblage", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(url, headers=headers)
    try:
        answer = _answer(request)
    except urllib.error.HTTPError as error:
        if error.code != _NOT_SATISFIABLE or not have:
            raise
        if error.headers.get("Content-Range") == f"bytes */{have}":
            return True
        part.unlink()  # longer than the current file: not a part of it
        return _receive(url, part)
    with answer:
        if answer.status not in (_WHOLE, _PARTIAL):
            raise DownloadError(
                f"the server answers {answer.status} {answer.reason}, without a file"
            )
        goes_on, whole = answer.status == _PARTIAL, None
        if goes_on:
            start, whole = _range(answer)
            if not have or start != have:
                part.unlink(missing_ok=True)
                raise DownloadError("the server sent another part than requested")
        expected = _length(answer)
        have = have if goes_on else 0
        if have + (expected or 0) > _MOST_BYTES:
            part.unlink(missing_ok=True)
            raise DownloadError(f"the file has more than {_MOST_BYTES:,} bytes")
        with part.open("ab" if goes_on else "wb") as file:
            try:
                _copy(answer, file, _MOST_BYTES - have)
            except _TooLargeError:
                part.unlink()
                raise
    size = _size(part)
    return (expected is None or size == have + expected) and whole in (None, size)


def _answer(request: urllib.request.Request) -> Any:
    """Return the answer to a request, within some time even if its headers come bit by bit."""
    connections = Connections()

    def ask() -> Any:
        return _opener(connections).open(request, timeout=_PATIENCE)

    return connections.answer_of(ask, _ANSWERED)


class _TooLargeError(DownloadError):
    """More bytes than a file may have."""


def _copy(source: Any, file: IO[bytes], most: int) -> None:
    """Copy at most `most` bytes, within the time of an attempt."""
    end = time.monotonic() + _LONGEST
    while chunk := source.read1(_CHUNK):  # what there is: read would wait for all of it
        most -= len(chunk)
        if most < 0:
            raise _TooLargeError(f"the file has more than {_MOST_BYTES:,} bytes")
        file.write(chunk)
        if time.monotonic() > end:
            raise TimeoutError(f"it was not complete after {_LONGEST:.0f} seconds")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Redirects to http and https only, and never from https to http."""

    max_redirections = _REDIRECTS

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        before, after = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if after not in _SCHEMES or (before == "https" and after == "http"):
            raise DownloadError(f"the server redirects from {before} to {after}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(connections: Connections) -> urllib.request.OpenerDirector:
    """Return an opener for addresses of http and https only."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        *connections.handlers,
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    return opener


def _length(answer: Any) -> int | None:
    text = answer.headers.get("Content-Length")
    if text is None:
        return None
    if not text.isdecimal():
        raise DownloadError(f"the server sent the invalid length {text!r}")
    return int(text)


def _range(answer: Any) -> tuple[int | None, int | None]:
    """Return the first byte of a part, and the length of the whole file where it is given."""
    found = _RANGE.fullmatch(str(answer.headers.get("Content-Range", "")))
    if found is None:
        return None, None
    return int(found[1]), None if found[2] == "*" else int(found[2])


def _extract(archive: Path, member: str, target: Path, sha256: str | None) -> None:
    """Extract one file from an archive, ignoring its folder there."""
    try:
        with zipfile.ZipFile(archive) as content, finished(target) as file:
            _take_out(content, member, file)
            _check_member(Path(file.name), member, sha256)
    except DownloadError:
        archive.unlink(missing_ok=True)
        raise
    except Exception as error:
        archive.unlink(missing_ok=True)
        if isinstance(error, _ZIP_ERRORS):
            raise DownloadError("this is not a complete zip archive, and was removed") from error
        raise DownloadError(
            f"the archive could not be unpacked ({_reason(error)}), and was removed"
        ) from error


def _take_out(content: zipfile.ZipFile, member: str, file: IO[bytes]) -> None:
    names = [name for name in content.namelist() if PurePosixPath(name).name == member]
    if not names:
        raise DownloadError(f"the archive has no file {member}")
    with content.open(names[0]) as packed:
        _copy(packed, file, _MOST_BYTES)
    file.flush()


def _check_member(path: Path, member: str, sha256: str | None) -> None:
    if sha256 is not None and (found := checksum(path)) != sha256:
        raise DownloadError(f"{member} has the checksum {found}, not {sha256}")


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reason(error: BaseException) -> str:
    reason = getattr(error, "reason", None) or error
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
