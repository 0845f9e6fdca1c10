"""Fetching a file: from one of several addresses, going on where an earlier attempt broke off."""

from __future__ import annotations

import hashlib
import http.client
import shutil
import urllib.error
import urllib.request
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ensemblage.tables import finished

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHUNK = 1 << 18
_PATIENCE = 30.0  # seconds without a single byte
_ATTEMPTS = 3  # as long as each of them brings something
_PARTIAL, _NOT_SATISFIABLE = 206, 416


class DownloadError(OSError):
    """A file could not be fetched from any address, or is not the file it should be."""


def fetch(urls: Sequence[str], target: Path, *, sha256: str | None = None) -> None:
    """Fetch a file from the first address that has it.

    What has come so far lies beside the target under a name that ends in ``.part``; the same call
    goes on from there. The target appears complete, or not at all.

    Parameters
    ----------
    urls : sequence of str
        Addresses of the same file, http or https; ``archive.zip#member`` for one in an archive.
    target : Path
        Where the file goes; its folder is made.
    sha256 : str, optional
        The checksum that the file must have.

    Raises
    ------
    DownloadError
        With what went wrong at each address.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    failures = []
    for url in urls:
        try:
            _fetch_from(url, target, sha256)
        except DownloadError as error:
            failures.append(f"{url}: {error}")
        else:
            return
    raise DownloadError("; ".join(failures))


def _fetch_from(url: str, target: Path, sha256: str | None) -> None:
    address, _, member = url.partition("#")
    if urlsplit(address).scheme not in ("http", "https"):
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
    resumed = _size(part) > 0
    for attempt in range(_ATTEMPTS):
        before = _size(part)
        try:
            complete, reason = _receive(url, part), "it ended too early"
        except urllib.error.HTTPError as error:
            raise DownloadError(f"the server answers {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            complete, reason = False, _in_words(error)
        if complete:
            break
        if _size(part) == before or attempt == _ATTEMPTS - 1:
            kept = _size(part)
            more = f"; {kept:,} bytes are kept, the next call goes on from there" if kept else ""
            raise DownloadError(f"{reason}{more}")
        resumed = True
    if sha256 is not None and (found := checksum(part)) != sha256:
        part.unlink()
        if resumed:  # the first half may be of an older file
            _download(url, target, sha256)
            return
        raise DownloadError(f"the file has the checksum {found}, not {sha256}: it was removed")
    part.replace(target)


def _receive(url: str, part: Path) -> bool:
    """Append what is missing from a part; tell whether it is complete."""
    have = _size(part)
    headers = {"User-Agent": "ensemblage", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(url, headers=headers)
    try:
        answer = urllib.request.urlopen(request, timeout=_PATIENCE)
    except urllib.error.HTTPError as error:
        if error.code != _NOT_SATISFIABLE or not have:
            raise
        if error.headers.get("Content-Range") == f"bytes */{have}":
            return True
        part.unlink()  # longer than the file is now: not a part of it
        return _receive(url, part)
    with answer:
        goes_on = answer.status == _PARTIAL and _starts_at(answer, have)
        expected = answer.headers.get("Content-Length")
        have = have if goes_on else 0
        with part.open("ab" if goes_on else "wb") as file:
            shutil.copyfileobj(answer, file, _CHUNK)
    return expected is None or _size(part) == have + int(expected)


def _starts_at(answer: Any, have: int) -> bool:
    return str(answer.headers.get("Content-Range", "")).startswith(f"bytes {have}-")


def _extract(archive: Path, member: str, target: Path, sha256: str | None) -> None:
    """Copy one file out of an archive, whatever folder it has there."""
    try:
        with zipfile.ZipFile(archive) as content, finished(target) as file:
            names = [name for name in content.namelist() if PurePosixPath(name).name == member]
            if not names:
                raise DownloadError(f"the archive has no file {member}")
            with content.open(names[0]) as packed:
                shutil.copyfileobj(packed, file, _CHUNK)
            file.flush()
            if sha256 is not None and (found := checksum(Path(file.name))) != sha256:
                raise DownloadError(f"{member} has the checksum {found}, not {sha256}")
    except zipfile.BadZipFile as error:
        archive.unlink()
        raise DownloadError("what came is no zip archive, and was removed") from error


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _in_words(error: BaseException) -> str:
    reason = getattr(error, "reason", None) or error
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
