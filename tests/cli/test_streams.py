"""The command among shells: closed streams, pipes in place of files, an early Ctrl-C."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource")  # POSIX

ENSEMBLAGE = f"{sys.executable} -c 'from ensemblage.cli import main; main()'"
LABELS = "id,label\nx,0\ny,0\nz,1\nw,1\n"


@pytest.fixture
def shell(tmp_path):
    (tmp_path / "v.csv").write_text("id,a,b,c\nx,1,1,1\ny,1,1,2\nz,2,2,2\nw,2,2,1\n")
    (tmp_path / "t.csv").write_text("id,truth\nw,2\nz,2\ny,1\nx,1\n")

    def run(arguments, before=""):
        command = ["bash", "-c", f"{before}{ENSEMBLAGE} {arguments}"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


class TestClosedStreams:
    def test_standard_error_is_not_missed(self, shell, tmp_path):
        done = shell("consensus v.csv -k 2 2>&-")
        assert (done.returncode, done.stdout) == (0, LABELS)
        done = shell("consensus v.csv -k 2 -o l.csv 2>&- <&-")
        assert (done.returncode, (tmp_path / "l.csv").read_text()) == (0, LABELS)
        done = shell("consensus nowhere.csv -k 2 --debug 2>&-")
        assert (done.returncode, done.stdout) == (1, "")

    @pytest.mark.parametrize("verb", ["consensus v.csv -k 2", "compare v.csv -k 2", "demo"])
    def test_standard_output_is_told_to_be_closed(self, shell, verb):
        done = shell(f"{verb} >&-")
        assert done.returncode == 1
        assert done.stderr.startswith("error: Standard output is closed")

    def test_standard_input_is_told_to_be_closed(self, shell):
        done = shell("consensus - -k 2 <&-")
        assert done.returncode == 1
        assert done.stderr.startswith("error: Standard input is closed")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", ["--help", "--version", "consensus --help"])
def test_no_room_for_help_is_told_in_a_line(shell, words):
    done = shell(f"{words} > /dev/full")
    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


def test_a_folder_that_is_gone_leaves_no_traceback(shell):
    done = shell(
        "--version > /dev/null; mkdir x; cd x; rmdir ../x; " + f"{ENSEMBLAGE} predict m v.csv"
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr


def test_pipes_in_place_of_files(shell):
    done = shell("consensus <(cat v.csv) -k 2 --truth <(cat t.csv) -o >(cat) | cat")
    assert done.stdout == LABELS
    assert "label     1.0000  1.0000" in done.stderr


def test_an_interruption_while_the_command_is_still_imported():
    code = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "from ensemblage.cli import main\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


class TestOutputsThatAreOtherFiles:
    """What would replace an input or another output is refused, and both stay as they were."""

    @pytest.mark.parametrize(
        "arguments",
        [
            "v.csv -k 2 -o nofolder/../v.csv",
            "v.csv -k 2 -o l.csv --save nofolder/../v.csv",
            "- -k 2 -o v.csv < v.csv",
            "- -k 2 -o l.csv --save v.csv < v.csv",
            "v.csv -k 2 >> v.csv",
        ],
    )
    def test_an_input(self, shell, tmp_path, arguments):
        before = (tmp_path / "v.csv").read_text()
        done = shell(f"consensus {arguments}")
        assert done.returncode == 2
        assert "which it would replace. Name another output." in done.stderr
        assert (tmp_path / "v.csv").read_text() == before

    @pytest.mark.parametrize(
        "arguments",
        [
            "--member-table a.csv > a.csv",
            "--cluster-table x/../a.csv > a.csv",
            "--save a.csv > a.csv",
            "--engine stream -o out/ --save out/v.csv",
            "--engine stream -o out/ --save out/../out/v.csv",
        ],
    )
    def test_another_output(self, shell, tmp_path, arguments):
        (tmp_path / "out").mkdir()
        done = shell(f"consensus v.csv -k 2 {arguments}")
        assert done.returncode == 2
        assert " are the same file. Name another." in done.stderr
        assert list((tmp_path / "out").iterdir()) == []

    @pytest.mark.parametrize("save", ["new/sub", "./new"])
    def test_a_folder_that_is_made(self, shell, tmp_path, save):
        done = shell(f"consensus v.csv -k 2 -o new/sub/ --save {save}")
        assert (done.returncode, "are the same file" in done.stderr) == (2, True)
        assert not (tmp_path / "new").exists()

    def test_the_folder_of_finished_work(self, shell, tmp_path):
        (tmp_path / "l.csv.parts").mkdir()
        for option in ("--save x/../l.csv.parts/m", "--member-table l.csv.parts/m.csv"):
            done = shell(f"consensus v.csv -k 2 -o l.csv {option}")
            assert (done.returncode, "deleted after the run. Name another." in done.stderr) == (
                2,
                True,
            )
        assert list((tmp_path / "l.csv.parts").iterdir()) == []

    def test_a_device_that_takes_both(self, shell):
        assert shell("consensus v.csv -k 2 --member-table /dev/null > /dev/null").returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are links on Linux only")
class TestDescriptors:
    """What is open already is written to: what others have written stays."""

    @pytest.mark.parametrize(
        "output",
        [
            "-o /dev/fd/1 >> log",
            "-o /proc/self/fd/1 >> log",
            "-o /proc/thread-self/fd/1 >> log",
            "-o link >> log",
            "-o /dev/stderr 2>> log",
            "-o /dev/fd/7 7>> log",
            "-o /proc/$$/fd/8 8>> log",
        ],
    )
    def test_labels_follow_what_is_there(self, shell, tmp_path, output):
        (tmp_path / "log").write_text("precious\n")
        (tmp_path / "link").symlink_to("/dev/fd/1")
        done = shell(f"consensus v.csv -k 2 -q {output}; echo more >> log", "exec 8>> log; ")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "log").read_text() == f"precious\n{LABELS}more\n"

    def test_they_go_on_where_the_shell_stands(self, shell, tmp_path):
        shell("consensus v.csv -k 2 -q -o /dev/fd/7; echo b >&7", "exec 7> log; echo a >&7; ")
        assert (tmp_path / "log").read_text() == f"a\n{LABELS}b\n"

    def test_every_output(self, shell, tmp_path):
        (tmp_path / "log").write_text("precious\n")
        done = shell("report v.csv -k 2 -q -o /dev/fd/1 >> log")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "log").read_text().startswith("precious\n<!")
        done = shell("consensus v.csv -k 2 -q -o l.csv --save /dev/fd/7 7>> log")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "log").read_bytes().startswith(b"precious\n<!")
        assert b"model.json" in (tmp_path / "log").read_bytes()
        done = shell("generate v.csv -m 2 -k 2 -q -o /dev/fd/7 7> pool")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "pool").read_text().startswith("id,kmeans_001,kmeans_002\n")
        assert {path.name for path in tmp_path.iterdir()} <= {
            "v.csv", "t.csv", "log", "pool", "l.csv",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ("-o /dev/fd/9", "The output /dev/fd/9 is not open. Open it (9> FILE)"),
            ("-o /dev/fd/9 9< t.csv", "The output /dev/fd/9 is open for reading only."),
            ("-o /dev/fd/1 --json", "--json prints a summary on standard output"),
            ("-o log --json > log", "--json prints a summary on standard output"),
            ("-o /dev/fd/9 --member-table log 9>> log", "are the same file. Name another."),
            ("-o /dev/fd/9 9>> v.csv", "is the input v.csv, which it would replace."),
            ("-o /dev/fd/9 --engine stream 9>> log", "name one with -o"),
        ],
    )
    def test_what_cannot_be_written_to(self, shell, tmp_path, options, told):
        before = (tmp_path / "v.csv").read_text()
        done = shell(f"consensus v.csv -k 2 -q {options}")
        assert done.returncode in (1, 2)
        assert told in done.stderr
        assert (tmp_path / "v.csv").read_text() == before


def test_a_stream_is_not_written_to_a_device(shell):
    done = shell("consensus v.csv -k 2 --engine stream -o /dev/null")
    assert (done.returncode, "name one with -o" in done.stderr) == (2, True)
    assert not Path("/dev/null.parts").exists()


def test_a_refused_stream_leaves_no_folder(shell, tmp_path):
    done = shell("consensus v.csv -k 99 --engine stream -o new/sub/")
    assert done.returncode == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "v.csv"]


def test_true_labels_that_are_missing_can_be_left_out(shell, tmp_path):
    (tmp_path / "v.csv").write_text("id,a,b,t\nx,1,1,\ny,1,1,\nz,2,2,\n")
    done = shell("consensus v.csv -k 2 --engine stream --truth t --columns a,b -o l.csv")
    assert (done.returncode, "Leave --truth out" in done.stderr) == (1, True)
    assert shell("consensus v.csv -k 2 --engine stream --columns a,b -o l.csv").returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf8(shell, tmp_path):
    for suffix in ("csv", "parquet"):
        done = shell(f"consensus v.csv -k 2 --engine stream -o $'l\\xe9.{suffix}'")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / os.fsdecode(f"l\xe9.{suffix}".encode("latin-1"))).exists()
