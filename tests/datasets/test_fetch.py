"""Fetching files, from a server on this machine that can break off, refuse and lie."""

import hashlib
import io
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from fetch_server import CONTENT, SHA

from ensemblage import datasets
from ensemblage.datasets import DownloadError, _catalogue, _fetch
from ensemblage.datasets._fetch import fetch


def part_of(folder):
    return next(folder.glob("file.*.part"))


def test_a_file_comes_whole(server, tmp_path):
    target = tmp_path / "new" / "file"
    fetch([f"{server.address}/file"], target, sha256=SHA)
    assert target.read_bytes() == CONTENT
    assert [path.name for path in target.parent.iterdir()] == ["file"]


class TestBrokenOff:
    def test_goes_on_at_once(self, server, tmp_path):
        server.breaks = [1000, 2000]
        fetch([f"{server.address}/file"], tmp_path / "file", sha256=SHA)
        assert (tmp_path / "file").read_bytes() == CONTENT
        assert [asked for _, asked in server.asked] == [None, "bytes=1000-", "bytes=3000-"]

    def test_goes_on_in_the_next_call(self, server, tmp_path):
        server.breaks = [1000, 0]
        with pytest.raises(DownloadError, match="1,000 bytes are kept, the next call resumes"):
            fetch([f"{server.address}/file"], tmp_path / "file", sha256=SHA)
        assert not (tmp_path / "file").exists()
        assert part_of(tmp_path).stat().st_size == 1000
        fetch([f"{server.address}/file"], tmp_path / "file", sha256=SHA)
        assert (tmp_path / "file").read_bytes() == CONTENT
        assert server.asked[-1] == ("/file", "bytes=1000-")

    def test_begins_again_where_the_server_cannot_go_on(self, server, tmp_path):
        server.breaks, server.ranges = [1000], False
        fetch([f"{server.address}/file"], tmp_path / "file", sha256=SHA)
        assert (tmp_path / "file").read_bytes() == CONTENT

    @pytest.mark.parametrize(
        "begun", [b"x" * 1000, b"x" * (len(CONTENT) + 1), b"x" * len(CONTENT), CONTENT]
    )
    def test_a_part_may_be_of_another_file_or_complete(self, server, tmp_path, begun):
        server.breaks = [10, 0]
        with pytest.raises(DownloadError):
            fetch([f"{server.address}/file"], tmp_path / "file", sha256=SHA)
        part_of(tmp_path).write_bytes(begun)
        fetch([f"{server.address}/file"], tmp_path / "file", sha256=SHA)
        assert (tmp_path / "file").read_bytes() == CONTENT


class TestRefused:
    def test_a_wrong_checksum(self, server, tmp_path):
        with pytest.raises(DownloadError, match=r"has the checksum .*, not 0000"):
            fetch([f"{server.address}/file"], tmp_path / "file", sha256="0" * 64)
        assert not list(tmp_path.iterdir())
        assert len(server.asked) == 1  # what came at once is not of two files

    def test_a_file_that_is_not_there(self, server, tmp_path):
        with pytest.raises(DownloadError, match="/none: the server answers 404"):
            fetch([f"{server.address}/none"], tmp_path / "file")

    def test_a_server_that_is_not_there(self, tmp_path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/file"
        with pytest.raises(DownloadError, match=r"/file: Connection refused$"):
            fetch([url], tmp_path / "file")

    def test_an_address_of_another_kind(self, tmp_path):
        with pytest.raises(DownloadError, match="not an address of http or https"):
            fetch([(tmp_path / "x").as_uri()], tmp_path / "file")

    def test_and_the_next_address_is_tried(self, server, tmp_path):
        urls = [f"{server.address}/none", f"{server.address}/file"]
        fetch(urls, tmp_path / "file", sha256=SHA)
        assert (tmp_path / "file").read_bytes() == CONTENT


class TestHostileServers:
    @pytest.mark.parametrize("length", ["many", "-1", "\N{SUPERSCRIPT TWO}", ""])
    def test_a_length_that_is_no_number(self, server, tmp_path, length):
        server.headers = {"Content-Length": length}
        with pytest.raises(DownloadError, match=f"sent the invalid length {length!r}"):
            fetch([f"{server.address}/file"], tmp_path / "file")

    @pytest.mark.parametrize("most", [300_000, len(CONTENT) - 1])
    @pytest.mark.parametrize("announced", [True, False])
    def test_a_file_without_end(self, server, tmp_path, monkeypatch, announced, most):
        monkeypatch.setattr(_fetch, "_MOST_BYTES", most)
        if announced:
            monkeypatch.delattr(_fetch, "_copy")  # nothing of it is received
        else:
            server.headers = {"Content-Length": None}
        with pytest.raises(DownloadError, match=f"more than {most:,} bytes"):
            fetch([f"{server.address}/file"], tmp_path / "file")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        "address", ["ftp://127.0.0.1/file", "file:///etc/passwd", "data:,x", "gopher://a/b"]
    )
    def test_a_redirect_to_another_kind_of_address(self, server, tmp_path, address):
        server.redirects["/here"] = address
        with pytest.raises(DownloadError, match=r"redirects from http to ftp|is not allowed"):
            fetch([f"{server.address}/here"], tmp_path / "file")
        assert not list(tmp_path.iterdir())

    def test_a_redirect_from_https_to_http(self):
        request = urllib.request.Request("https://example.org/file")
        with pytest.raises(DownloadError, match=r"redirects from https to http$"):
            _fetch._Redirects().redirect_request(
                request, None, 302, "", {}, "http://example.org/file"
            )

    def test_redirects_in_a_circle(self, server, tmp_path):
        server.redirects["/here"] = "/here"
        with pytest.raises(DownloadError, match="redirect"):
            fetch([f"{server.address}/here"], tmp_path / "file")
        assert len(server.asked) <= 12

    def test_a_long_way_of_redirects(self, server, tmp_path):
        server.redirects |= {f"/{step}": f"/{step + 1}" for step in range(20)}
        with pytest.raises(DownloadError, match="redirect"):
            fetch([f"{server.address}/0"], tmp_path / "file")
        assert len(server.asked) == 6

    def test_a_redirect_is_followed(self, server, tmp_path):
        server.redirects["/here"] = "/file"
        fetch([f"{server.address}/here"], tmp_path / "file", sha256=SHA)

    def test_a_wrong_file_that_breaks_off_is_not_asked_for_without_end(self, server, tmp_path):
        server.breaks = [1000] * 100
        with pytest.raises(DownloadError):
            fetch([f"{server.address}/file"], tmp_path / "file", sha256="0" * 64)
        for _ in range(200):
            server.breaks = [len(CONTENT) // 2, None] * 2
            try:
                fetch([f"{server.address}/file"], tmp_path / "file", sha256="0" * 64)
            except DownloadError as error:
                if "checksum" in str(error):
                    break
        else:
            pytest.fail("the checksum was never compared")
        assert len(server.asked) < 40
        assert not list(tmp_path.iterdir())

    def test_another_part_than_was_asked_for(self, server, tmp_path):
        server.breaks = [1000, 0]
        with pytest.raises(DownloadError):
            fetch([f"{server.address}/file"], tmp_path / "file")
        server.headers = {"Content-Range": f"bytes 0-{len(CONTENT) - 1}/{len(CONTENT)}"}
        with pytest.raises(DownloadError, match="another part than requested"):
            fetch([f"{server.address}/file"], tmp_path / "file")
        server.headers = {}
        fetch([f"{server.address}/file"], tmp_path / "file", sha256=SHA)

    def test_no_end_in_time(self, server, tmp_path, monkeypatch):
        monkeypatch.setattr(_fetch, "_LONGEST", -1.0)
        monkeypatch.setattr(_fetch, "_CHUNK", 1000)
        with pytest.raises(DownloadError, match="not complete after"):
            fetch([f"{server.address}/file"], tmp_path / "file")

    def test_a_part_that_nobody_asked_for(self, server, tmp_path):
        server.status, server.headers = 206, {"Content-Range": "bytes 0-511999/600000"}
        with pytest.raises(DownloadError, match="another part than requested"):
            fetch([f"{server.address}/file"], tmp_path / "file")
        assert not list(tmp_path.iterdir())

    def test_a_shorter_part_than_was_asked_for(self, server, tmp_path):
        server.breaks = [1000, 0]
        with pytest.raises(DownloadError):
            fetch([f"{server.address}/file"], tmp_path / "file")
        server.breaks = [500]
        server.headers = {"Content-Length": "500", "Content-Range": "bytes 1000-1499/512000"}
        with pytest.raises(DownloadError):
            fetch([f"{server.address}/file"], tmp_path / "file")
        assert not (tmp_path / "file").exists()

    @pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\n\r\n"])
    def test_bytes_that_come_one_by_one(self, sent, tmp_path, monkeypatch):
        """Each in time, the whole never: in the headers or in the body."""
        monkeypatch.setattr(_fetch, "_ANSWERED", 0.3)
        monkeypatch.setattr(_fetch, "_LONGEST", 0.3)
        done = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def drip():
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    connection.sendall(sent)
                    while not done.wait(0.05):
                        connection.sendall(b"x")

            thread = threading.Thread(target=drip)
            thread.start()
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/file"
            with pytest.raises(DownloadError, match=r"did not answer within|not complete after"):
                fetch([url], tmp_path / "file")
            done.set()
            thread.join()

    def test_nothing_goes_on_after_a_request_is_given_up(self, tmp_path, monkeypatch):
        """A server may send intermediate answers without end."""
        monkeypatch.setattr(_fetch, "_ANSWERED", 0.3)
        before, done = set(threading.enumerate()), threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def go_on():
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    while not done.is_set():
                        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")

            server = threading.Thread(target=go_on)
            server.start()
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/file"
            with pytest.raises(DownloadError, match="did not answer within"):
                fetch([url], tmp_path / "file")
            asking = set(threading.enumerate()) - before - {server}
            for thread in asking:
                thread.join(10)
            going_on = [thread for thread in asking if thread.is_alive()]
            done.set()
            server.join()
        assert not going_on

    def test_nor_does_a_connection_that_is_made_later(self, server):
        connections = _fetch.Connections()
        connections.end()
        with pytest.raises(urllib.error.URLError, match="given up"):
            _fetch._opener(connections).open(f"{server.address}/file", timeout=5)

    def test_words_of_servers_are_printable(self, server, tmp_path):
        server.headers = {"Content-Length": "\x1b[2J"}
        with pytest.raises(DownloadError) as raised:
            fetch([f"{server.address}/file\x1b]0;x\x07"], tmp_path / "file")
        assert "\x1b" not in str(raised.value)

    @pytest.mark.parametrize("url", ["http://[::1/file", "http://127.0.0.1:x/file", "http:///"])
    def test_addresses_that_are_none(self, tmp_path, url):
        with pytest.raises(DownloadError):
            fetch([url], tmp_path / "file")

    def test_a_folder_that_cannot_be_made(self, server, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(DownloadError):
            fetch([f"{server.address}/file"], tmp_path / "file" / "inside")


class TestArchives:
    @pytest.fixture
    def url(self, server):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("folder/file", CONTENT)
        server.files["/a.zip"] = packed.getvalue()
        return f"{server.address}/a.zip"

    def test_a_member_is_taken_out(self, url, tmp_path):
        fetch([f"{url}#file"], tmp_path / "file", sha256=SHA)
        assert (tmp_path / "file").read_bytes() == CONTENT

    def test_one_archive_is_fetched_once(self, server, url, tmp_path):
        fetch([f"{url}#file"], tmp_path / "one")
        fetch([f"{url}#file"], tmp_path / "two")
        assert len(server.asked) == 1

    def test_what_is_wrong_with_it(self, server, url, tmp_path):
        with pytest.raises(DownloadError, match="the archive has no file other"):
            fetch([f"{url}#other"], tmp_path / "file")
        with pytest.raises(DownloadError, match="file has the checksum"):
            fetch([f"{url}#file"], tmp_path / "file", sha256="0" * 64)
        server.files["/b.zip"] = b"<html>"
        with pytest.raises(DownloadError, match="not a complete zip archive"):
            fetch([f"{server.address}/b.zip#file"], tmp_path / "file")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("place", range(0, 900, 37))
    def test_a_damaged_one_is_removed_and_fetched_again(self, server, url, tmp_path, place):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("file", CONTENT[:3000] + np.random.default_rng(0).bytes(500))
        whole = packed.getvalue()
        damaged = bytearray(whole)
        damaged[place % len(whole)] ^= 0xFF
        server.files["/a.zip"] = bytes(damaged)
        wanted = hashlib.sha256(zipfile.ZipFile(packed).read("file")).hexdigest()
        try:
            fetch([f"{url}#file"], tmp_path / "file", sha256=wanted)
        except DownloadError:
            assert not list(tmp_path.iterdir())
        server.files["/a.zip"] = whole
        fetch([f"{url}#file"], tmp_path / "file", sha256=wanted)

    @pytest.mark.parametrize("kind", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
    def test_whatever_is_raised_it_is_removed(self, server, url, tmp_path, kind):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", kind) as archive:
            archive.writestr("file", np.random.default_rng(0).bytes(500))
        server.files["/a.zip"] = packed.getvalue().replace(packed.getvalue()[40:80], b"\xff" * 40)
        with pytest.raises(DownloadError, match="and was removed"):
            fetch([f"{url}#file"], tmp_path / "file")
        assert not list(tmp_path.iterdir())

    def test_what_a_killed_run_left_is_removed(self, server, tmp_path):
        code = (
            "import os, sys\nfrom pathlib import Path\nfrom ensemblage import tables\n"
            "with tables.finished(Path(sys.argv[1])) as file: os._exit(9)"
        )
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "file")], check=False)
        assert len(list(tmp_path.iterdir())) == 1
        fetch([f"{server.address}/file"], tmp_path / "file", sha256=SHA)
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    def test_a_bomb_is_cut_off(self, server, url, tmp_path, monkeypatch):
        monkeypatch.setattr(_fetch, "_MOST_BYTES", 100_000)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("file", bytes(1_000_000))
        server.files["/a.zip"] = packed.getvalue()
        with pytest.raises(DownloadError, match="more than 100,000 bytes"):
            fetch([f"{url}#file"], tmp_path / "file")
        assert not list(tmp_path.iterdir())


def test_a_dataset_all_the_way(server, data_folder, tmp_path, monkeypatch):
    """From the network to the cache: one file from its folder, after a break, one by archive."""
    kept = datasets.load("PD", folder=data_folder)
    table = np.column_stack([kept.features, kept.truth]).astype(int).tolist()
    lines = ["".join(f"{number:3d}," for number in row)[:-1] + "\n" for row in table]
    tes, tra = ("".join(part).encode() for part in (lines[:3498], lines[3498:]))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pendigits.tra", tra)
    server.files = {"/pendigits.tes": tes, "/pd.zip": packed.getvalue()}
    server.breaks = [1000]
    raw = (
        _catalogue.RawFile(
            "pendigits.tes",
            (f"{server.address}/pendigits.tes",),
            hashlib.sha256(tes).hexdigest(),
        ),
        _catalogue.RawFile(
            "pendigits.tra",
            (f"{server.address}/pendigits.tra", f"{server.address}/pd.zip#pendigits.tra"),
            hashlib.sha256(tra).hexdigest(),
        ),
    )
    entry = _catalogue.find("PD")._replace(raw=raw)
    monkeypatch.setitem(_catalogue._BY_NAME, "pd", entry)
    monkeypatch.setenv("ENSEMBLAGE_CACHE", str(tmp_path / "cache"))
    found = datasets.load("PD", folder=tmp_path)
    assert np.array_equal(found.features, kept.features)
    assert np.array_equal(found.truth, kept.truth)
    assert [path for path, _ in server.asked] == [
        "/pendigits.tes",
        "/pendigits.tes",
        "/pendigits.tra",
        "/pd.zip",
    ]
    datasets.load("PD", folder=tmp_path)
    assert len(server.asked) == 4
    assert [path.name for path in (tmp_path / "cache").rglob("*.*")] == ["PD.npz"]
