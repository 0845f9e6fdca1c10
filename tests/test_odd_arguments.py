"""Arguments of odd types and sizes: accepted as what they mean, or an error that names them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ensemblage as en

V = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 2], [2, 2, 2], [2, 2, 3], [2, 3, 3]])
FEATURES = np.random.default_rng(0).normal(size=(30, 2))
HUGE = 10**30


@pytest.mark.parametrize(
    "seed", [np.asarray(V).view(np.matrix), [1, 2], np.array(3.0), np.bool_(True), 1.0, -1, "a"]
)
def test_seeds_are_integers_or_generators(seed):
    with pytest.raises(en.ParameterError, match="'random_state' parameter of PTGP"):
        en.PTGP(2, random_state=seed).fit(V)


@pytest.mark.parametrize("seed", [0, np.int32(5), np.uint64(2**64 - 1), 2**70, None])
def test_integers_of_any_size_are_seeds(seed):
    assert en.PTGP(2, random_state=seed).fit(V).n_clusters_ == 2


def test_features_of_the_same_name():
    twice = pd.DataFrame(FEATURES, columns=["a", "a"])
    model = en.EnsembleClustering(2, n_members=2, random_state=0)
    with pytest.raises(ValueError, match="Features have several columns called 'a'"):
        model.fit(twice)
    model.fit(twice.set_axis(["a", "b"], axis=1))
    with pytest.raises(ValueError, match="Features have several columns called 'a'"):
        model.predict(twice)


def test_more_members_than_memory_holds():
    with pytest.raises(MemoryError, match=f"Votes of {HUGE} members"):
        en.EnsembleClustering(2, n_members=HUGE).fit(FEATURES)
    with pytest.raises(MemoryError, match=f"A list of {HUGE} members"):
        en.ensembles.members(FEATURES, HUGE)


@pytest.mark.parametrize("bounds", [[[1, 2], [1]], [[1], [2]], {2: 3, 3: 4}, 3, "23", np.array(2)])
def test_a_range_that_is_none(bounds):
    with pytest.raises(en.ParameterError, match="'n_clusters_range' parameter of generate"):
        en.ensembles.generate(FEATURES, 2, n_clusters_range=bounds)


@pytest.mark.parametrize("checkpoint", [True, 5, b"a"])
def test_a_checkpoint_is_a_path(checkpoint):
    with pytest.raises(en.ParameterError, match=r"'checkpoint'.*path of a folder"):
        en.ensembles.generate(FEATURES, 2, checkpoint=checkpoint)


def test_records_are_no_table():
    records = pd.DataFrame(V, columns=list("abc")).to_records(index=False)
    for X in (records, records.reshape(-1, 1)):
        with pytest.raises(TypeError, match=r"fields 'a', 'b', 'c', .* pandas\.DataFrame\(X\)"):
            en.EAC(2).fit(X)
    assert en.EAC(2).fit(pd.DataFrame(records)).n_features_in_ == 3


def test_weights_of_edges_are_real():
    matrix = np.array([[0, 1 + 1j, 0], [1 + 1j, 0, 1], [0, 1, 0]])
    with pytest.raises(ValueError, match=r"weights of the edges .*complex"):
        en.graph.consensus(sparse.csr_array(matrix), n_members=2)


@pytest.mark.parametrize(
    ("labels", "sizes", "words"),
    [
        ([0, 0, 5], [1, 1, 1], "'labels'.*3 integers from 0 to 1"),
        ([0, 1, 2], [1, 1, 1], "'labels'"),
        ([0, 0, -1], [1, 1, 1], "'labels'"),
        ([0, 0], [1, 1, 1], "'labels'"),
        ([0.0, 0.0, 1.0], [1, 1, 1], "'labels'"),
        ([0, 0, 1], [1, -1, 1], "'sizes'.*3 numbers from 0 up"),
        ([0, 0, 1], ["a", "b", "c"], "'sizes'"),
    ],
)
def test_confidence_of_what_does_not_fit(labels, sizes, words):
    sums = [[1.8, 0.2], [1.8, 0.4], [0.6, 1.0]]
    assert en.metrics.confidence(sums, [0, 0, 1], [1, 1, 1]).tolist() == pytest.approx(
        [0.75, 0.5, 0]
    )
    with pytest.raises(en.ParameterError, match=words):
        en.metrics.confidence(sums, labels, sizes)
    for odd in ([1, 2], [["a", "b"]], [[1, 2], [1]], [[np.nan, 1], [0, 1]]):
        with pytest.raises(en.ParameterError, match="'sums'"):
            en.metrics.confidence(odd, [0, 0], [1, 1])
    for name, odd in (("to_itself", "x"), ("to_itself", [1, 2]), ("objects", [1]), ("objects", -1)):
        with pytest.raises(en.ParameterError, match=f"'{name}'"):
            en.metrics.confidence(sums, [0, 0, 1], [1, 1, 1], **{name: odd})
