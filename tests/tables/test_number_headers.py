"""Headers of numbers: pandas and R write them, and objects without an id look like them."""

import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app
from ensemblage.scale import stream
from ensemblage.tables import FileFormatError

IDS = [f"o{i}" for i in range(8)]
LABELS = np.array([[1, 1, 1, 2, 2, 2, 1, 2], [1, 1, 2, 2, 3, 3, 1, 3], [1, 4, 2, 2, 3, 3, 1, 4]]).T


def table(header, ids=IDS, values=LABELS):
    rows = (",".join(map(str, [name, *row])) for name, row in zip(ids, values, strict=True))
    return "\n".join([header, *rows]) + "\n"


@pytest.fixture
def read(tmp_path):
    def write_and_read(text, reader=tables.read, **options):
        path = tmp_path / "votes.csv"
        path.write_text(text)
        return reader(path, **options)

    return write_and_read


HEADERS = [
    ",2,3,4",  # labels from 1 on, as R numbers them, occur below
    '"","2","3","4"',
    '"","0.2","0.4","0.8"',
    ",0.8,0.4,0.2",
    ",7,5,9",  # in no order, but not met below
]


class TestNamesAfterAnEmptyCell:
    @pytest.mark.parametrize("header", HEADERS)
    def test_are_a_header(self, read, header):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            votes = read(table(header))
        assert votes.names == header.replace('"', "").split(",")[1:]
        assert votes.ids.tolist() == IDS

    @pytest.mark.parametrize("header", [",2,3,4", '"","0.2","0.4","0.8"'])
    def test_are_one_in_a_stream(self, tmp_path, header):
        (tmp_path / "votes.csv").write_text(table(header))
        votes, labels = tmp_path / "votes.csv", tmp_path / "labels.csv"
        result = stream.consensus(votes, en.EAC(2), labels, id_column="auto")
        assert (result.n_objects, result.id_name) == (8, "")

    def test_are_one_where_an_id_occurs_twice(self, read):
        with pytest.raises(FileFormatError, match="'o0' is in rows 2 and 9"):
            read(table(",2,3,4", [*IDS[:-1], IDS[0]]))

    def test_are_one_above_measurements(self, read):
        values = np.arange(24).reshape(8, 3) / 7
        for header in (",400,401,402", ",400.5,399.5,398.5", ",1017,7157,672"):
            features = read(table(header, values=values), tables.read_features)
            assert len(features.ids) == 8

    @pytest.mark.parametrize("name", ["0", "7"])
    def test_may_be_a_single_one(self, read, name):
        assert read(table(f",{name}", values=LABELS[:, :1] - 1)).names == [name]


class TestAnObjectWithoutAnId:
    @pytest.mark.parametrize(
        "text",
        [
            table(",1,3,2"),  # in no order, and met below
            table(",2", values=LABELS[:, :1]),
            table(",1,2,4", [0, 1, 1, 0, 0, 1, 1, 0]),  # a first vote that is missing, and no ids
            table(",0,1,2", [0, 1, 1, 0, 0, 1, 1, 0]),
        ],
    )
    def test_is_one_with_a_warning(self, read, text):
        with pytest.warns(UserWarning, match='reads "".*taken for an object.* use header=True'):
            votes = read(text, id_column=0)
        assert tables.n_objects(votes) == 9
        assert tables.n_objects(read(text, header=True, id_column=0)) == 8

    @pytest.mark.parametrize("row", [",1,1,2", ",1,2,", ",,1,2"])
    def test_is_one_if_its_votes_are_equal_or_missing(self, read, row):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert tables.n_objects(read(table(row), id_column=0)) == 9

    def test_is_one_among_measurements(self, read):
        values = np.arange(24).reshape(8, 3) / 7
        text = table(",5.1,1.4,3.5", values=values)
        with pytest.warns(UserWarning, match="taken for an object"):
            assert len(read(text, tables.read_features, id_column=0).ids) == 9


class TestNumbersAfterAName:
    """A first cell that is not known for ids may be an id."""

    @pytest.mark.parametrize("header", ["gene,2,3,4", "X,5,10,15", "k,10,20,30"])
    def test_by_equal_steps_draw_a_warning(self, read, header):
        first = ", ".join(header.split(",")[:3])
        with pytest.warns(UserWarning, match=f"reads {first}, .*: it was taken for an object"):
            assert tables.n_objects(read(table(header))) == 9

    @pytest.mark.parametrize("header", ["gene,5,10", "gene,9,6"])
    def test_that_are_not_met_below_draw_a_warning(self, read, header):
        text = table(header, range(16), np.tile(LABELS[:, :2], (2, 1)))
        with pytest.warns(UserWarning, match="taken for an object"):
            assert tables.n_objects(read(text)) == 17
        assert read(text, header=True).names == header.split(",")[1:]

    @pytest.mark.parametrize(
        "header", ["o9,2,3,1", "o9,1,1,1", "o9,1,3,4", "o9,5,7,8", "o9,1,2,", "o1,1,2,3"]
    )
    def test_others_do_not(self, read, header):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert tables.n_objects(read(table(header), id_column=0)) == 9


class TestWithoutIds:
    @pytest.mark.parametrize("header", ["2,3,4", "0,1,2", "10,20,30"])
    def test_numbers_by_equal_steps_draw_a_warning(self, read, header):
        text = "\n".join([header, *(",".join(map(str, row)) for row in LABELS)]) + "\n"
        first = ", ".join(header.split(","))
        with pytest.warns(UserWarning, match=f"reads {first}, .*: it was taken for an object"):
            assert tables.n_objects(read(text)) == 9

    @pytest.mark.parametrize("header", ["2,3", "2,3,5", "4,3,2", "2,2,2", "-1,0,1"])
    def test_others_do_not(self, read, header):
        n = len(header.split(","))
        text = "\n".join([header, *(",".join(map(str, row[:n])) for row in LABELS)]) + "\n"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert tables.n_objects(read(text)) == 9

    def test_a_row_alone_draws_none(self, read):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert tables.n_objects(read("2,3,4\n")) == 1


class TestErrorsAboutTheFirstRow:
    def test_of_votes_name_the_option(self, read):
        text = "0.2,0.4,0.8\n1,1,2\n1,2,2\n2,2,1\n"
        with pytest.raises(FileFormatError, match=r"row 1, .*'0.2' is not .* use header=True"):
            read(text)
        with pytest.raises(FileFormatError) as error:
            read("1,0.5\n1,1\n0.5,1\n1,1\n", columns=["c1"])
        assert "header" not in str(error.value)
        with pytest.raises(FileFormatError) as error:
            read(text, header=False)
        assert "header" not in str(error.value)

    def test_of_the_commands_name_the_option(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "v.csv").write_text("0.2,0.4,0.8\n1,1,2\n1,2,2\n2,2,1\n")
        (tmp_path / "f.csv").write_text(",2,2,3\n1,1.5,2,3\n2,2,3,2\n1,3,3,3\n")
        for call in ("consensus v.csv -k 2", "generate f.csv -k 2 -m 2 -o o.csv"):
            result = CliRunner().invoke(app, call.split())
            assert result.exit_code == 1
            assert "names of the columns, use --header." in " ".join(result.stderr.split())
