"""Files that the command refuses as votes, each with its exact message."""

from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

#: Files that ``ensemblage consensus FILE -k 2`` refuses.
CONTENTS = {
    "empty.csv": (
        "",
        "empty.csv is empty. A table of votes has a row for each object.",
    ),
    "h.csv": (
        "a,b\n",
        "h.csv has a header and no rows. If its only row holds votes, use --no-header.",
    ),
    "r.csv": (
        "a,b\n1,2\n1\n",
        (
            "r.csv, row 3 has 1 cell, but the first row has 2 cells. Every row needs as many "
            "cells as there are columns; a missing vote is an empty cell between two "
            "separators."
        ),
    ),
    "rownames.csv": (  # as write.table of R writes it
        '"a","b"\n"x",1,2\n"y",1,1\n',
        (
            "rownames.csv, row 2 has 3 cells, but the first row has 2 cells. Every row needs as "
            "many cells as there are columns; a missing vote is an empty cell between two "
            "separators. If the first column holds row names that R wrote without a header, write "
            "the file with col.names = NA."
        ),
    ),
    "b.csv": (
        "a,b\n1,2\n\n1,1\n",
        (
            "b.csv, row 3 is blank, but the first row has 2 cells. Every row needs as many "
            "cells as there are columns; a missing vote is an empty cell between two "
            "separators."
        ),
    ),
    "l.csv": (
        "\n\na,b\n1,2\n1,1\n",
        (
            "l.csv begins with a blank line. Remove it: the first row has the names of the "
            "columns, or is an object."
        ),
    ),
    "q.csv": (
        'a,b\n"1,2\n1,1\n',
        (
            "q.csv, line 3: unexpected end of data. Look for a quotation mark that is not "
            "closed. Cells are separated by commas, semicolons or tabs."
        ),
    ),
    "bars.csv": (
        "1|2\n1|3\n",
        (
            "bars.csv was read as one column, but bars (|) part its rows into equally many "
            "values. Cells are separated by commas, semicolons or tabs: save the file with one "
            "of these."
        ),
    ),
    "latin.csv": (
        b"a,b\nr\xf6t,1\n",
        "latin.csv is not UTF-8 text: byte 0xf6 occurs in it. Save it again as UTF-8.",
    ),
    "bin.csv": (
        b"\x00\x01\x02",
        (
            "bin.csv cannot be read as CSV: it is binary, or text in UTF-16. Give the format it "
            "is in, or save it as UTF-8 text."
        ),
    ),
    "two.csv": (
        "a,a\n1,2\n1,1\n",
        (
            "two.csv has several columns called 'a' (columns 1, 2). Give each column a name of "
            "its own; if the first row holds votes, use --no-header."
        ),
    ),
    "f.csv": (
        "a,b\n0.5,1.5\n0.7,2.5\n",
        (
            "f.csv, row 2, column 'a': 0.5 is not a cluster label, and 2 of 2 values in this "
            "column are not whole numbers. Numbers with a fraction are measurements, not cluster "
            "labels: features belong to the command ensemblage generate, or to "
            "ensemblage.EnsembleClustering, which make the votes."
        ),
    ),
    "word.csv": (
        "a,b\n1,1\nx,1\n2,2\n1,2\n",
        (
            "word.csv, row 3, column 'a': 'x' is not a whole number, but 3 of 4 labels in this "
            "column are. Correct the cell, or leave it empty if the vote is missing."
        ),
    ),
    "n.csv": (
        "a,b\n1,1\n99999999999999999999,1\n2,2\n1,2\n",
        (
            "n.csv, row 3, column 'a': 99999999999999999999 is too large for a label: numbers "
            "go up to 9223372036854775807 (64 bits). Number the clusters from 0, or give them "
            "names."
        ),
    ),
    "i.csv": (
        "id,a\n1,0.5\n2,\n3,1\n",
        (
            "i.csv, row 2, column 'a': '0.5' is not a whole number, but 1 of 2 labels in this "
            "column are. Correct the cell, or leave it empty if the vote is missing."
        ),
    ),
    "s.csv": (
        "id,a,b\nx,1,1\ny,,\n",
        (
            "1 object(s) have no vote in any clustering: 'y' (s.csv, row 3). Nothing can be "
            "said about them; leave these rows out."
        ),
    ),
    "sheet.zip": (
        b"PK\x03\x04 and more",
        (
            "sheet.zip is a zip archive, and its name does not give the format. If it is a "
            "spreadsheet, rename it to end in .xlsx; if it holds arrays, use --format npz; "
            "else unpack it."
        ),
    ),
    "z.csv.gz": (
        b"\x1f\x8b\x08 and more",
        "z.csv.gz is a damaged or truncated gzip file (...). Make or fetch it again.",
    ),
    "d.npy": (
        b"\x93NUMPY and more",
        (
            "d.npy cannot be read as NPY: it is damaged, truncated, in another format, or holds "
            "Python objects (a header of version (32, 97), which plain arrays do not have). "
            "Make or fetch it again."
        ),
    ),
    "d.npz": (
        b"PK\x03\x04 and more",
        (
            "d.npz cannot be read as NPZ: it is damaged, truncated, in another format, or holds "
            "Python objects (...). Make or fetch it again."
        ),
    ),
    "d.parquet": (
        b"PAR1 and more",
        (
            "d.parquet cannot be read as Parquet: it is damaged, truncated or in another format "
            "(...). Make or fetch the file again."
        ),
    ),
    "d.mat": (
        b"MATLAB and more",
        (
            "d.mat cannot be read as MAT: it is damaged, truncated, in another format, or holds "
            "Python objects (...). Make or fetch it again."
        ),
    ),
}


#: Numbers in a column of floats that are invalid as labels.
NUMBERS = {
    np.inf: "inf is not a cluster label. An empty cell or NaN means no vote.",
    2.0**60: (
        "1.15292e+18 is not a cluster label. Floats beyond 2**53 do not tell neighbours apart: "
        "save these as integers."
    ),
    0.5: (
        "0.5 is not a cluster label. Numbers with a fraction are measurements, not cluster labels: "
        "features belong to the command ensemblage generate, or to "
        "ensemblage.EnsembleClustering, which make the votes."
    ),
}


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers(number, assert_refused):
    table = {"a": pa.array([1.0, number, 2.0]), "b": pa.array([1, 1, 2])}
    pq.write_table(pa.table(table), "n.parquet")
    message = f"n.parquet, column 'a', row 2: {NUMBERS[number]}"
    assert_refused("consensus n.parquet -k 2", 1, message)


@pytest.mark.parametrize("name", CONTENTS)
def test_files(name, assert_refused):
    content, message = CONTENTS[name]
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert_refused(f"consensus {name} -k 2", 1, message)
