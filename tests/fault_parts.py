"""Streams that are killed at any moment and find their parts damaged: what they leave in the end.

Runs are forks of this process, so that there is time for many.
"""

import os
import random
import shutil
import signal
import time
import warnings
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import ensemblage as en
from ensemblage.scale import _checkpoint, _passes, stream

N_ROWS, PIECE_ROWS = 12_000, 400
DAMAGES = ("cut", "flip", "remove", "lengthen", "empty", "swap")
#: What a refusal says: it names what cannot be read, and what to do.
ADVICE = ("Delete the folder to start again", "Name a new or an empty folder", "has changed")


def prepare(folder, seed=0):
    """Write votes with ids to a file."""
    votes = np.random.default_rng(seed).integers(0, 3, (N_ROWS, 4))
    columns = {"id": [f"o{i}" for i in range(N_ROWS)]}
    columns |= {f"m{m}": column for m, column in enumerate(votes.T)}
    pq.write_table(pa.table(columns), folder / "v.parquet", row_group_size=700)


def rows_of(output):
    """Return the rows of an output as ids and labels, or None where there is none."""
    if not output.exists():
        return None
    if output.suffix == ".csv":
        return output.read_text(encoding="utf-8").splitlines()[1:]
    columns = pq.read_table(output).to_pydict().values()
    return [f"{one},{label}" for one, label in zip(*columns, strict=True)]


class Child:
    """A stream in a process of its own."""

    def __init__(self, folder, suffix, pause=0.0):
        self.told = folder / "told"
        self.told.unlink(missing_ok=True)
        self.process = os.fork()
        if self.process == 0:
            self._run(folder, suffix, pause)

    def _run(self, folder, suffix, pause):
        status = 3
        try:
            os.setsid()
            _passes.PIECE_ROWS = PIECE_ROWS
            real = _checkpoint.Folder.write_part

            def write_part(*given):
                time.sleep(pause)
                return real(*given)

            _checkpoint.Folder.write_part = write_part
            status, text = 0, ""
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                try:
                    stream.consensus(
                        folder / "v.parquet",
                        en.EAC(3, n_jobs=1),
                        folder / f"l.{suffix}",
                        id_column="id",
                        batch_rows=300,
                        n_jobs=1,
                    )
                except Exception as error:  # noqa: BLE001 - what it is, the parent judges
                    status, text = 1, f"{type(error).__name__}: {error}"
            lines = [text, *(str(one.message) for one in heard)]
            self.told.write_text("\n".join(lines), encoding="utf-8")
        finally:
            os._exit(status)

    def kill(self, parts, n_parts, pause):
        """Kill it as soon as so many parts are there, and a moment later; or once it has ended."""
        while os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if len(list(parts.glob("part-*"))) >= 2 * n_parts:  # each with its checksum
                break
            time.sleep(0.001)
        time.sleep(pause)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)

    def end(self):
        """Return the exit status, and what was said."""
        _, status = os.waitpid(self.process, 0)
        return os.waitstatus_to_exitcode(status), self.told.read_text(encoding="utf-8")


def damage(parts, how, chance):
    """Change one file in a folder of parts; return its name, or None where there is none."""
    files = sorted(path for path in parts.glob("[!.]*") if path.is_file())
    if not files:
        return None
    pieces = [path for path in files if path.name.startswith("part-")]
    path = chance.choice(pieces if pieces and chance.random() < 0.8 else files)
    content = bytearray(path.read_bytes())
    place = chance.randrange(len(content)) if content else 0
    if how == "cut":
        del content[place:]
    elif how == "flip" and content:
        content[place] ^= 1 << chance.randrange(8)
    elif how == "lengthen":
        content += content[:place] or b"x"
    elif how == "empty":
        content.clear()
    if how == "remove":
        path.unlink()
    elif how == "swap":  # as another part: whole, and in the wrong place
        path.write_bytes(chance.choice(files).read_bytes())
    else:
        path.write_bytes(content)
    return path.name


def kill_and_damage(folder, n_kills, seed):
    """Disturb streams until so many kills and damages were made; return what was counted.

    After each stop the output is not there or whole. In the end it is as undisturbed: all rows
    once, in order, with their labels; or a refusal has said what to do, and doing it gives that.
    """
    chance, counts = random.Random(seed), Counter()
    prepare(folder)
    expected = {}
    for suffix in ("csv", "parquet"):
        status, told = Child(folder, suffix, 0.002).end()
        assert status == 0, told
        expected[suffix] = rows_of(folder / f"l.{suffix}")
        assert [row.split(",")[0] for row in expected[suffix]] == [f"o{i}" for i in range(N_ROWS)]
    while counts["kills"] + counts["damages"] < n_kills:
        suffix = chance.choice(["csv", "parquet"])
        output, parts = folder / f"l.{suffix}", folder / f"l.{suffix}.parts"
        output.unlink(missing_ok=True)
        damaged = False
        for _ in range(chance.randrange(1, 4)):
            child = Child(folder, suffix, 0.002)
            child.kill(parts, chance.randrange(N_ROWS // PIECE_ROWS + 2), chance.random() / 50)
            counts["kills"] += 1
            assert rows_of(output) in (None, expected[suffix])
            if parts.is_dir() and chance.random() < 0.7:
                how = chance.choice(DAMAGES)
                if damage(parts, how, chance) is not None:
                    counts["damages"] += 1
                    counts[how] += 1
                    damaged = True
        status, told = Child(folder, suffix).end()
        if status != 0:
            assert damaged, told
            assert any(advice in told for advice in ADVICE), told
            assert output.exists() is False
            counts["refused"] += 1
            shutil.rmtree(parts)
            status, told = Child(folder, suffix).end()
        counts["parts written again"] += "written again" in told
        assert status == 0, told
        assert rows_of(output) == expected[suffix]
        assert not parts.exists()
        counts["rounds"] += 1
    return counts
