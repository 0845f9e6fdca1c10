"""Text files by pyarrow beside a slow twin that reads them with the csv module alone."""

import csv
import io
from collections import Counter

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ensemblage import tables
from ensemblage.tables import FileFormatError, parse
from ensemblage.tables.labels import Kind, understand


def twin(text, delimiter=","):
    """Return the columns of votes as lists; None where the text is not a table of votes."""
    try:
        rows = list(
            csv.reader(
                io.StringIO(text, newline=""),
                delimiter=delimiter,
                skipinitialspace=True,
                strict=True,
            )
        )
    except csv.Error:
        return None
    while rows and not rows[-1]:
        rows.pop()
    width = len(rows[0]) if rows else 0
    rows = [[""] if not row and width == 1 else row for row in rows]
    if not width or {len(row) for row in rows} != {width}:
        return None
    columns = []
    for cells in zip(*rows, strict=True):
        known = [understand(cell) for cell in cells]
        kinds = Counter(cell.kind for cell in known)
        if kinds[Kind.NAME] > kinds[Kind.WHOLE] + kinds[Kind.FRACTION]:
            columns.append(
                [
                    None if cell.kind is Kind.MISSING else text.strip()
                    for cell, text in zip(known, cells, strict=True)
                ]
            )
        elif kinds[Kind.NAME] or kinds[Kind.FRACTION]:
            return None
        else:
            columns.append([cell.value for cell in known])
    return columns


def read(path):
    table = tables.read(path, header=False, id_column=None)
    columns = table.columns if table.matrix is None else table.matrix.T
    return [column.tolist() for column in columns]


ODD = ["", "NA", "nan", "-1", "1", "2", "01", "1.0", " 3", "+4", "1e2", "0x1f", "2.5", "9" * 20]
WORDS = ["T cell", "B", 'q"r', "x|y", "é", " sp ", "a:b", "NaN", "1"]
QUOTED = ['"a,b"', '"say ""x"""', '"two\nlines"', '"  "', '"1"', '""', ' "late"', '"end']
cells = st.one_of(st.sampled_from(ODD), st.sampled_from(WORDS), st.sampled_from(QUOTED))
numbers = st.sampled_from(["0", "1", "2", "17", "", "NA"])
texts = st.tuples(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.one_of(
                st.lists(numbers, min_size=width, max_size=width),
                st.lists(numbers, min_size=width, max_size=width),
                st.lists(cells, min_size=width, max_size=width),
                st.lists(cells, max_size=4),
            ),
            min_size=1,
            max_size=8,
        )
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\n\n\n"]),
).map(lambda drawn: drawn[1].join(",".join(row) for row in drawn[0]) + drawn[2])
SETTINGS = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.filterwarnings("ignore::UserWarning")
@SETTINGS
@given(text=texts, block=st.sampled_from([1 << 20, 1]))
@example(text="1,2\n\n3,4\n", block=1 << 20)
@example(text='1,"a\n\nb"\n2,c\n', block=1 << 20)
@example(text="1,2\n3,0x10\n", block=1 << 20)
@example(text='1, "x,y"\n2, z\n', block=1 << 20)
@example(text='a"b,1\nc,2\n', block=1)
def test_tables_are_those_of_the_twin(text, block, tmp_path):
    (tmp_path / "v.csv").write_text(text, newline="")
    expected = twin(text, ",") if "," in text or ";" not in text else None
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parse, "_HEAD", max(block, 64))
        try:
            found = read(tmp_path / "v.csv")
        except FileFormatError as error:
            message = str(error)
            alone = "one column" in message or "line" in message or "empty" in message
            assert expected is None or alone, message
            return
    if expected is not None:
        assert found == expected
    else:
        # pyarrow takes what follows a closed quotation mark as a part of the cell.
        assert '"' in text


def test_labels_far_below_the_first_rows(tmp_path):
    """The first rows do not show other spellings, quotes, names, and errors with their row."""
    start = "1,2\n" * 300_000
    for end in ["3.0, NA\n", '"4",+5\n', ' 7,"8"\n']:
        (tmp_path / "v.csv").write_text(start + end)
        assert read(tmp_path / "v.csv") == twin(start + end)
    for end, words in [
        ("x,2\n", "row 300001, column 'c1': 'x' is not a whole number"),
        ("1,0x10\n", "row 300001, column 'c2': '0x10' is not"),
        ("1\n1,2\n", "row 300001 has 1 cell"),
        ("\n1,2\n", "row 300001 is blank"),
        ('1,"2\n', "line 300001: unexpected end of data"),
        ("1,2.5\n", "row 300001, column 'c2': '2.5'"),
    ]:
        (tmp_path / "v.csv").write_text(start + end)
        with pytest.raises(FileFormatError, match=words):
            tables.read(tmp_path / "v.csv", header=False)
    (tmp_path / "v.csv").write_bytes(start.encode() + b"1,\xff\n")
    with pytest.raises(FileFormatError, match="byte 0xff"):
        tables.read(tmp_path / "v.csv", header=False)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators(separator, tmp_path):
    text = separator.join(["1", "T cell", '"a b"']) + "\n" + separator.join(["2", "", "x"]) + "\n"
    (tmp_path / "v.csv").write_text(text)
    assert read(tmp_path / "v.csv") == twin(text, separator)
