"""EAC and PTA on a similarity that was computed elsewhere."""

import numpy as np
import pandas as pd
import pytest
import twins
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import ensemblage as en
from ensemblage import flow
from ensemblage.testing.strategies import votes


def precomputed(name, n_clusters=2, **parameters):
    return en.METHODS[name](n_clusters, affinity="precomputed", **parameters)


@st.composite
def similarities(draw, max_objects=10):
    """Draw symmetric matrices of a few different numbers, so that some tie."""
    n = draw(st.integers(1, max_objects))
    numbers = draw(st.lists(st.sampled_from([0, 0.1, 0.25, 0.5, 0.7, 1]), min_size=n * n))
    matrix = np.resize(numbers or [0.5], (n, n))
    matrix = np.tril(matrix, -1)
    return matrix + matrix.T + np.eye(n)


@given(similarities(), st.integers(1, 6))
def test_elite_graph_of_a_similarity_is_its_definition(similarity, n_neighbors):
    before = similarity.copy()
    found = flow.elite_graph_of(similarity, n_neighbors).toarray()
    expected = twins.elite_graph(None, n_neighbors, similarity)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(similarity, before)


@pytest.mark.parametrize("name", ["eac", "pta"])
@settings(max_examples=50)
@given(matrix=votes(), share=st.floats(0, 1))
@example(matrix=np.array([[0, -1], [1, 0], [2, -1]]), share=0.0)
def test_co_association_of_different_rows_gives_what_the_votes_give(name, matrix, share):
    matrix = matrix[np.sort(np.unique(matrix, axis=0, return_index=True)[1])]
    k = 1 + round(share * (len(matrix) - 1))
    expected = en.METHODS[name](k).fit(matrix)
    similarity = twins.coassociation(en.microclusters(matrix).table)
    found = precomputed(name, k).fit(similarity)
    tree, same = found.linkage_matrix_, expected.linkage_matrix_
    np.testing.assert_array_equal(tree[:, 2], same[:, 2])
    # Groups that nothing links join by their votes, which a similarity does not show.
    n_linked = int((same[:, 2] < 1).sum())
    np.testing.assert_array_equal(tree[:n_linked], same[:n_linked])
    if k >= len(matrix) - n_linked:
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        np.testing.assert_allclose(found.confidence_, expected.confidence_, atol=1e-12)


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
@pytest.mark.parametrize("seed", range(5))
def test_eac_merges_the_closest(linkage, seed):
    rng = np.random.default_rng(seed)
    similarity = np.tril(rng.random((9, 9)), -1)
    similarity += similarity.T + np.eye(9)
    k = int(rng.integers(1, 10))
    found = precomputed("eac", k, linkage=linkage).fit(similarity)
    heights, _ = twins.merge_closest(1 - similarity, linkage)
    np.testing.assert_allclose(found.linkage_matrix_[:, 2], heights, atol=1e-12)
    assert found.n_clusters_ == k


def test_objects_with_equal_rows_may_part():
    similarity = np.array([[1, 0.5, 0.1], [0.5, 1, 0.1], [0.1, 0.1, 1]])
    est = precomputed("eac", 2).fit(similarity)
    assert est.labels_.tolist() == [0, 0, 1]
    assert est.cut(3).tolist() == [0, 1, 2]
    assert est.n_features_in_ == est.n_microclusters_ == 3


def test_a_frame_gives_a_series():
    names = ["a", "b", "c"]
    frame = pd.DataFrame([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]], index=names, columns=names)
    labels = precomputed("eac").fit_predict(frame)
    assert labels.to_dict() == {"a": 0, "b": 0, "c": 1}


def test_rounding_is_forgiven_and_the_matrix_left_alone():
    similarity = np.array([[1 + 1e-12, 0.3], [0.3 + 1e-12, 1 - 1e-12]])
    before = similarity.copy()
    est = precomputed("eac", 1).fit(similarity)
    np.testing.assert_array_equal(similarity, before)
    np.testing.assert_array_equal(est.similarity_, est.similarity_.T)
    np.testing.assert_array_equal(est.similarity_.diagonal(), [1, 1])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((3, 2)), r"a square matrix, got shape \(3, 2\)\. For votes, use"),
        (np.ones(3), r"got shape \(3,\)"),
        (np.empty((0, 0)), r"got shape \(0, 0\)"),
        ([["a", "b"], ["b", "a"]], "needs a matrix of numbers"),
        ([[1, 2], [2, 1]], r"be in \[0, 1\], but entry \(0, 1\), counted from 0, is 2\.0\. Divide"),
        ([[1, np.nan], [0, 1]], r"entry \(0, 1\), counted from 0, is nan"),
        ([[1, -0.1], [-0.1, 1]], r"is -0\.1"),
        ([[0, 0.4], [0.4, 0]], r"1 on the diagonal, .* is 0\.0\. These look like distances d"),
        ([[1, 0.4], [0.4, 0.9]], r"entry \(1, 1\), counted from 0, is 0\.9\.$"),
        ([[1, 0.4], [0.5, 1]], r"symmetric, but entry \(0, 1\) is 0\.4 and entry \(1, 0\) is 0\.5"),
    ],
)
@pytest.mark.parametrize("name", ["eac", "pta"])
def test_what_is_no_similarity(name, matrix, message):
    with pytest.raises(ValueError, match=message):
        precomputed(name, 1).fit(matrix)


def test_what_needs_votes_says_so(monkeypatch):
    est = precomputed("eac", 1).fit(np.eye(3))
    with pytest.raises(ValueError, match=r"fitted on a similarity .* Fit it on votes to predict"):
        est.predict([[1, 2, 3]])
    with pytest.raises(AttributeError, match="so it has no members"):
        est.member_agreement_  # noqa: B018
    with pytest.raises(TypeError, match="accepts member_weight only with votes"):
        precomputed("eac").fit(np.eye(3), member_weight=[1, 2, 3])
    with pytest.raises(TypeError, match=r"Pass X\.toarray\(\)"):
        precomputed("eac").fit(csr_array(np.eye(3)))
    with pytest.raises(ValueError, match="'affinity' parameter of PTA must be one of 'votes'"):
        en.PTA(2, affinity="rbf").fit(np.eye(3))
    with pytest.raises(ValueError, match="n_clusters=4"):
        precomputed("eac", 4).fit(np.eye(3))
    with pytest.raises(ValueError, match=r"integer of at least 1.* needs votes"):
        precomputed("eac", "auto").fit(np.eye(3))
    with pytest.raises(ValueError, match="must be 'auto' or a whole number"):
        precomputed("eac", 2.5).fit(np.eye(3))
    monkeypatch.setenv("ENSEMBLAGE_MEMORY", "1000")
    with pytest.raises(en.MemoryBudgetError, match="similarity of 100 objects"):
        precomputed("eac").fit(np.eye(100))


@pytest.mark.parametrize("name", ["eac", "pta"])
def test_it_can_be_saved(name, tmp_path):
    rng = np.random.default_rng(0)
    similarity = rng.random((12, 12))
    similarity = (similarity + similarity.T) / 2
    np.fill_diagonal(similarity, 1)
    est = precomputed(name, 3).fit(similarity)
    est.save(tmp_path / "model")
    found = en.load(tmp_path / "model")
    np.testing.assert_array_equal(found.labels_, est.labels_)
    np.testing.assert_array_equal(found.confidence_, est.confidence_)
    np.testing.assert_array_equal(found.cut(5), est.cut(5))
    with pytest.raises(AttributeError, match="saved without it"):
        found.similarity_  # noqa: B018
    with pytest.raises(ValueError, match="Fit it on votes"):
        found.predict(similarity)
    with pytest.raises(ValueError, match="Fit it on votes"):
        est.predict(similarity)


def test_votes_again_after_a_similarity():
    est = precomputed("eac").fit(np.eye(3))
    est.set_params(affinity="votes").fit([[0, 0], [0, 1], [1, 1]])
    assert est.predict([[0, 0]]).tolist() == [0]


TELL_OF_VOTES = {
    "metrics.clusters": en.metrics.clusters,
    "metrics.members": en.metrics.members,
    "choose_k": en.metrics.choose_k,
    "report": en.report.html,
    "plot.clusters": en.plot.clusters,
    "plot.graph": en.plot.graph,
    "plot.heatmap": lambda est: en.plot.heatmap(est, "coassociation"),
    "plot.members": en.plot.members,
}


@pytest.mark.parametrize("owner", TELL_OF_VOTES)
@pytest.mark.parametrize("name", ["eac", "pta"])
def test_a_fit_on_a_similarity_has_no_votes(owner, name):
    est = precomputed(name, 2).fit([[1, 0.9, 0.2], [0.9, 1, 0.1], [0.2, 0.1, 1]])
    with pytest.raises(ValueError, match=rf"{owner}.* needs votes, .* fitted on a similarity"):
        TELL_OF_VOTES[owner](est)


@pytest.mark.parametrize(
    ("name", "what"), [("eac", "similarity"), ("pta", "trajectory similarity")]
)
def test_pictures_show_the_similarity_or_say_that_it_is_gone(name, what, tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    est = precomputed(name, 2).fit([[1, 0.9, 0.2], [0.9, 1, 0.1], [0.2, 0.1, 1]])
    ax = en.plot.heatmap(est)
    assert ax.get_title(loc="left") == f"{what.capitalize()} of objects"
    assert sorted(ax.images[0].get_array().ravel()) == sorted(est.similarity_.ravel())
    assert en.plot.scatter(est).get_title(loc="left") == f"Microclusters by {what}"
    en.plot.dendrogram(est)
    est.save(tmp_path / "model")
    for draw in (en.plot.heatmap, en.plot.scatter):
        with pytest.raises(AttributeError, match="saved without it"):
            draw(en.load(tmp_path / "model"))
    plt.close("all")
