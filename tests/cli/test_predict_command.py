"""``ensemblage consensus --save`` and ``ensemblage predict``: a model in a file, and its labels."""

import numpy as np
import pytest
from typer.testing import CliRunner

import ensemblage as en
from ensemblage import tables
from ensemblage.cli import app

RNG = np.random.default_rng(0)
TRUTH = np.arange(60) % 3
VOTES = np.where(RNG.random((60, 5)) < 0.15, RNG.integers(0, 4, (60, 5)), TRUTH[:, None])
NEW = np.where(RNG.random((40, 5)) < 0.3, RNG.integers(0, 6, (40, 5)), (np.arange(40) % 3)[:, None])
IDS = np.array([f"cell{i}" for i in range(60)], dtype=object)
NAMES = [f"m{j}" for j in range(5)]


def columns(votes, names=NAMES):
    return {name: votes[:, j] for j, name in enumerate(names)}


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def done(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result


def failed(code, *arguments):
    result = run(*arguments)
    assert result.exit_code == code, result.output
    return " ".join(result.stderr.split())


def labels_of(path):
    return tables.read_labels(path).labels.tolist()


@pytest.fixture
def model(tmp_path):
    tables.write(tmp_path / "votes.csv", {"id": IDS, **columns(VOTES)})
    done("consensus", tmp_path / "votes.csv", "-k", 3, "-o", tmp_path / "labels.csv",
         "--save", tmp_path / "model.ensemblage")  # fmt: skip
    return tmp_path / "model.ensemblage"


@pytest.fixture
def new_csv(tmp_path):
    tables.write(tmp_path / "new.csv", {"id": IDS[:40], **columns(NEW)})
    return tmp_path / "new.csv"


EXPECTED = en.Consensus(3, random_state=0).fit(VOTES)


def test_the_objects_of_the_fit_get_their_labels(model, tmp_path):
    done("predict", model, tmp_path / "votes.csv", "-o", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "labels.csv").read_text()


def test_new_objects_get_the_labels_of_predict(model, new_csv):
    result = done("predict", model, new_csv)
    header, *rows = result.stdout.split()
    assert header == "id,label"
    assert [row.split(",")[0] for row in rows] == IDS[:40].tolist()
    assert [int(row.split(",")[1]) for row in rows] == EXPECTED.predict(NEW).tolist()
    assert "40 objects (ids from 'id'), 5 clusterings, k = 3, Consensus" in result.stderr


def test_confidence_of_new_objects(model, new_csv, tmp_path):
    _, expected = EXPECTED.predict(NEW, return_confidence=True)
    for engine in ("memory", "stream"):
        out = tmp_path / f"{engine}.csv"
        done("predict", model, new_csv, "-o", out, "--confidence", "--engine", engine)
        header, *rows = out.read_text().split()
        assert header == "id,label,confidence"
        found = [float(row.split(",")[2]) for row in rows]
        np.testing.assert_allclose(found, expected, atol=1e-6)
    text = failed(2, "predict", model, new_csv, "-o", tmp_path / "x.npy", "--confidence")
    assert "NPY" in text


def test_clusterings_are_found_by_name(model, tmp_path):
    shuffled = {"other": np.arange(40) % 7, **dict(reversed(columns(NEW).items()))}
    tables.write(tmp_path / "new.csv", {"id": IDS[:40], **shuffled})
    done("predict", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv")
    assert labels_of(tmp_path / "out.csv") == EXPECTED.predict(NEW).tolist()


def test_clusterings_without_names_are_taken_in_order(model, tmp_path):
    np.save(tmp_path / "new.npy", NEW)
    done("predict", model, tmp_path / "new.npy", "-o", tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), EXPECTED.predict(NEW))
    np.save(tmp_path / "few.npy", NEW[:, :4])
    text = failed(1, "predict", model, tmp_path / "few.npy")
    assert "fitted on 5 clusterings, but the votes have 4 ('c1', 'c2', 'c3', 'c4')" in text


def test_a_misspelt_column_is_pointed_at(model, tmp_path):
    renamed = columns(NEW, ["m0", "m1", "m2", "m_3", "m4"])
    tables.write(tmp_path / "new.csv", {"id": IDS[:40], **renamed})
    text = failed(1, "predict", model, tmp_path / "new.csv")
    assert "no column 'm3', which the model was fitted on. Should 'm_3' be 'm3'?" in text


def test_numbers_and_words_are_the_same_labels(tmp_path):
    """A column of Parquet may hold '1' where another holds 1: labels must not depend on that."""
    words = NEW.astype(object)
    words[0, 0], words[1, 1] = "x", "7b"
    pytest.importorskip("pyarrow")
    for name, votes in (
        ("votes", VOTES),
        ("words", words.astype(str).astype(object)),
        ("new", NEW),
    ):
        tables.write(tmp_path / f"{name}.parquet", {"id": IDS[: len(votes)], **columns(votes)})
    known = np.where(words == "x", 99, np.where(words == "7b", 98, words)).astype(int)
    for first, second, votes, new in (
        ("votes", "words", VOTES, known),
        ("words", "new", known, NEW),
    ):
        done("consensus", tmp_path / f"{first}.parquet", "-k", 3, "-o", tmp_path / "labels.csv",
             "--save", tmp_path / "model")  # fmt: skip
        done("predict", tmp_path / "model", tmp_path / f"{second}.parquet",
             "-o", tmp_path / "out.csv")  # fmt: skip
        expected = en.Consensus(3, random_state=0).fit(votes).predict(new)
        assert labels_of(tmp_path / "out.csv") == expected.tolist()


class TestSpellings:
    """What a cell means is decided by the labels of the fit, and not by the other rows."""

    ROWS = ("u,01,", "v,1,", "w,A,", "x,1.0,", "p,,02", "q,,2", "r,,x", "s,,y", "t,,z")

    @pytest.fixture
    def predicted(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        rows = ["A,0,0", "B,1,1"] * 3 + ["01,2,2", "1,3,3"] * 2
        cells = "".join(f"o{i},{row}\n" for i, row in enumerate(rows))
        (tmp_path / "fit.csv").write_text(f"id,a,b,c\n{cells}")
        done("consensus", "fit.csv", "-k", 4, "-m", "eac", "-q", "--save", "model")

        def labels(text, *options):
            (tmp_path / "new.csv").write_text(text)
            done("predict", "model", "new.csv", "-o", "out.csv", *options)
            return dict(row.split(",") for row in (tmp_path / "out.csv").read_text().split()[1:])

        return labels

    @pytest.mark.parametrize("engine", ["memory", "stream"])
    def test_labels_do_not_depend_on_the_other_rows(self, predicted, engine):
        def labels(*rows):
            text = "".join(f"{row},\n" for row in rows)
            return predicted(f"id,a,b,c\n{text}", "--engine", engine)

        together = labels(*self.ROWS)
        assert list(together.values())[:6] == ["2", "3", "0", "3", "2", "2"]
        for rows in (*((row,) for row in self.ROWS), self.ROWS[1:4], self.ROWS[:1]):
            assert labels(*rows) == {row[0]: together[row[0]] for row in rows}

    def test_in_every_layout(self, predicted, tmp_path):
        text = "id,member,label\nu,a,01\nv,a,1\nv,b,3\nv,c,3\n"
        assert predicted(text, "--layout", "long") == {"u": "2", "v": "3"}
        for name, cells in {"a": ("01", "1"), "b": ("", 3), "c": ("", 3)}.items():
            (tmp_path / f"{name}.csv").write_text("id,label\nu,{}\nv,{}\n".format(*cells))
        done("predict", "model", "a.csv", "b.csv", "c.csv", "--layout", "members", "-o", "out.csv")
        assert (tmp_path / "out.csv").read_text() == "id,label\nu,2\nv,3\n"

    def test_a_column_of_truth_is_none_of_the_fit(self, predicted, tmp_path):
        (tmp_path / "fit.csv").write_text("A,0,0\nB,1,1\nA,0,0\nB,1,1\n01,2,2\n1,3,3\n")
        done("consensus", "fit.csv", "-k", 4, "-m", "eac", "-q", "--save", "model")
        for others in ("", "A,2,,0\nB,,,1\n"):
            text = f"01,,,0\n{others}"
            assert predicted(text, "--truth", "c4", "--id-column", "none")["0"] == "2"


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_engines_agree(engine, model, new_csv, tmp_path):
    done("consensus", tmp_path / "votes.csv", "-k", 3, "-o", tmp_path / "labels2.csv",
         "--save", tmp_path / "streamed", "--engine", engine)  # fmt: skip
    done("predict", tmp_path / "streamed", new_csv, "-o", tmp_path / "out.csv", "--engine", engine)
    assert labels_of(tmp_path / "out.csv") == EXPECTED.predict(NEW).tolist()
    assert not list(tmp_path.glob("*.parts"))


def test_several_files_into_a_folder(model, new_csv, tmp_path):
    done("predict", model, new_csv, tmp_path / "votes.csv", "-o", f"{tmp_path}/out/")
    assert labels_of(tmp_path / "out" / "new.csv") == EXPECTED.predict(NEW).tolist()
    assert labels_of(tmp_path / "out" / "votes.csv") == EXPECTED.labels_.tolist()


def test_truth_is_compared_with(model, tmp_path):
    tables.write(tmp_path / "new.csv", {"id": IDS, **columns(VOTES), "gt": TRUTH})
    result = done("predict", model, tmp_path / "new.csv", "--truth", "gt")
    assert "NMI" in result.stderr


def test_a_model_keeps_no_objects(model):
    loaded = en.load(model)
    assert loaded.feature_names_in_.tolist() == NAMES
    assert len(loaded.labels_) == loaded.n_microclusters_ < 60


def test_wrong_calls(model, new_csv, tmp_path):
    votes = tmp_path / "votes.csv"
    assert "one consensus" in failed(
        2, "consensus", votes, "--k-range", "2:4", "--save", tmp_path / "m"
    )
    assert "is not text" in failed(2, "consensus", votes, "-k", 3, "--save", "-")
    assert "are the same file" in failed(
        2, "consensus", votes, "-k", 3, "-o", tmp_path / "a.csv", "--save", tmp_path / "a.csv"
    )
    assert "is the input" in failed(2, "consensus", votes, "-k", 3, "--save", votes)
    assert "there is no folder" in failed(
        1, "consensus", votes, "-k", 3, "--save", tmp_path / "no" / "m"
    )
    assert "not a saved model" in failed(1, "predict", votes, new_csv)
    assert "There is no file" in failed(1, "predict", tmp_path / "no", new_csv)
    assert "Known: auto, memory, stream." in failed(
        2, "predict", model, new_csv, "--engine", "dask"
    )
    assert "is the input" in failed(2, "predict", model, new_csv, "-o", new_csv)
    tables.write(tmp_path / "gap.csv", {"id": IDS[:2], **columns(-np.ones((2, 5), int)),
                                             "other": np.array([1, 1])})  # fmt: skip
    assert "2 object(s) have no vote in any clustering of the model" in failed(
        1, "predict", model, tmp_path / "gap.csv"
    )
    features = RNG.normal(size=(20, 2))
    en.EnsembleClustering(2, n_members=2, random_state=0).fit(features).save(tmp_path / "f")
    assert "a model of features" in failed(2, "predict", tmp_path / "f", new_csv)
