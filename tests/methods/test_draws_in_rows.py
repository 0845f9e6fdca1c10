"""Median of draws in rows: the same as of columns, after loading too, for every type of votes."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ensemblage as en

V = np.array(
    [[1, 1, 1], [1, 1, 1], [1, 1, 2], [1, 2, 2], [2, 2, 3], [2, 2, 3], [2, 3, 3], [2, 3, 1]]
)
NAMES = list("stuvwxyz")
BY_COLUMN = [0, 0, 0, 0, 1, 1, 1, 1]


def rows(**options):
    return en.Median(draws="rows", random_state=0, **options)


@pytest.fixture(params=[True, False], ids=["fitted", "loaded"])
def model(request, tmp_path):
    model = rows().fit(V.T)
    if request.param:
        return model
    model.save(tmp_path / "m.ensemblage")
    return en.load(tmp_path / "m.ensemblage")


def test_a_model_is_used_as_one_of_columns(model):
    expected = en.Median(random_state=0).fit(V)
    assert model.cut(3).tolist() == expected.cut(3).tolist()
    assert en.metrics.choose_k(model).k == en.metrics.choose_k(expected).k
    assert str(en.metrics.seed_spread(model)) == str(en.metrics.seed_spread(expected))
    assert model.predict(V.T).tolist() == model.predict(en.Ensemble(V)).tolist()
    assert "<html" in en.report.html(model)
    repeated = np.repeat(V, 3, axis=0)
    assert en.metrics.drift(model, repeated.T).n_objects == 24


def test_report_on_the_votes_of_a_model_without_objects(tmp_path):
    rows().fit(V.T).save(tmp_path / "m.ensemblage", objects=False)
    page = en.report.html(en.load(tmp_path / "m.ensemblage"), votes=V.T, ids=NAMES)
    assert "named by their microclusters" not in page


def test_series_are_matched_by_index():
    draws = [pd.Series(draw, index=NAMES) for draw in V.T]
    assert rows().fit_predict(draws).to_dict() == dict(zip(NAMES, BY_COLUMN, strict=True))
    shuffled = [draw.sample(frac=1, random_state=i) for i, draw in enumerate(draws)]
    labels = rows().fit_predict(shuffled)
    expected = en.Median(random_state=0).fit_predict(shuffled)
    pd.testing.assert_series_equal(labels, expected)
    assert en.metrics.ari(labels[NAMES].to_numpy(), BY_COLUMN) == 1


def test_tables_of_every_library():
    for X in (pa.table(dict(zip(NAMES, V, strict=True))), list(V.T), V.T.tolist()):
        assert list(rows().fit_predict(X)) == BY_COLUMN
    big = pd.DataFrame({0: [2**60 + 1, 5], 1: [2**60 + 2, 5], 2: [np.nan, 5.0]})
    assert rows().fit(big).microclusters_.table.tolist() == [[0, 0], [1, 0], [-1, 0]]


@pytest.mark.parametrize("labels", [V, np.array(["", "a", "b", "c"])[V]])
def test_a_table_that_was_read(labels, tmp_path):
    pd.DataFrame(labels.T, columns=NAMES).to_csv(tmp_path / "d.csv", index=False)
    read = en.tables.read(tmp_path / "d.csv")
    assert rows().fit_predict(read).tolist() == BY_COLUMN


def test_texts_of_a_table_are_compared_as_in_the_file(tmp_path):
    (tmp_path / "d.csv").write_text("s,t\n1,1\n2,a\n3,b\n")
    table = rows().fit(en.tables.read(tmp_path / "d.csv")).microclusters_.table
    assert table.tolist() == [[0, 0, 0], [0, 1, 1]]


def test_what_cannot_be_turned():
    with pytest.raises(en.ParameterError, match="'columns' for a dict"):
        rows().fit({"d1": [1, 1, 2], "d2": [1, 2, 2]})
    with pytest.raises(TypeError, match=r"Read the file: fit\(ensemblage.tables.read\('d.csv'\)\)"):
        rows().fit("d.csv")
    with pytest.raises(en.ParameterError, match=r"'draws'.*'columns' in Consensus"):
        en.Consensus(method="median", method_params={"draws": "rows"}).fit(V.T)
    with pytest.raises(en.ParameterError, match="rows of a stream are objects"):
        en.scale.stream.consensus("d.csv", rows(), "out.csv")


def test_of_features_the_members_are_columns():
    features = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0], [9]], 20, axis=0)
    model = en.EnsembleClustering(2, consensus=rows(), n_members=5, random_state=0).fit(features)
    assert (model.predict(features) == model.labels_).all()
