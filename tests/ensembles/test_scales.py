"""Warnings about features of different scales."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ensemblage as en
from ensemblage import datasets
from ensemblage.ensembles import generate, members

RNG = np.random.default_rng(0)
MIXED = RNG.normal(size=(80, 3)) * [1, 2, 5000]


def is_told(features, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        generate(features, 1, n_clusters_range=(2, 2), **options)
    return [w.category for w in caught] == [en.UnscaledFeaturesWarning]


def test_the_message_names_columns_and_the_remedy():
    frame = pd.DataFrame(MIXED, columns=["age", "size", "income"])
    words = (
        r"differ by a factor of \d,\d00: column 'income' has a standard deviation of .* and 99.9 % "
        r"of the total variance, column 'age' has .* Use scale='standard'"
    )
    for call in (en.EnsembleClustering(2, n_members=1).fit, lambda x: generate(x, 1)):
        with pytest.warns(en.UnscaledFeaturesWarning, match=words) as caught:
            call(frame)
        assert caught[0].filename == __file__
    with pytest.warns(en.UnscaledFeaturesWarning, match=r"column 2 \(counted from 0\) has a"):
        members(MIXED, 1)


def test_who_scales_is_not_warned():
    for scale in ("standard", "minmax"):
        assert not is_told(MIXED, scale=scale)
    pipe = make_pipeline(StandardScaler(), KMeans(n_init=1))
    assert not is_told(MIXED, method=pipe)
    assert is_told(MIXED, method=[pipe, "kmeans"])
    assert is_told(MIXED, method="RPCL")


@pytest.mark.parametrize("factor", [1e-130, 1e-3, 1.0, 1e130])
def test_units_of_all_features_do_not_matter(factor):
    assert is_told(MIXED * factor)
    assert not is_told(RNG.normal(size=(30, 3)) * factor)


def test_constant_columns_and_one_column_have_no_scale():
    assert not is_told(np.column_stack([MIXED[:, 2], np.ones(80)]))
    assert not is_told(MIXED[:, 2:])
    assert not is_told(np.ones((5, 2)))


def test_a_single_outlier_is_no_scale():
    features = RNG.normal(size=(50_000, 3))
    features[7, 1] = 5000.0
    assert not is_told(features)


def test_seldom_words_and_pixels_have_the_scale_of_the_others():
    seldom = (RNG.random((2000, 100)) < np.geomspace(1e-3, 0.5, 100)) * 255
    assert not is_told(seldom.astype(np.uint8))


SHIPPED = {
    "wine": (load_wine, True),
    "breast cancer": (load_breast_cancer, True),
    "iris": (load_iris, False),
    "digits": (load_digits, False),
    "diabetes": (load_diabetes, False),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_datasets_of_scikit_learn(name):
    load, told = SHIPPED[name]
    assert is_told(load().data) is told


def test_principal_components():
    assert not is_told(PCA(40).fit_transform(load_digits().data))


PAPER = dict.fromkeys(("MNIST", "ODR", "LS", "PD", "USPS"), False)
PAPER |= dict.fromkeys(("MF", "IS", "FC", "KDD99-10P"), True)


@pytest.mark.parametrize("name", PAPER)
def test_datasets_of_the_paper(name, data_folder):
    features = datasets.load(name, folder=data_folder).features
    assert is_told(features[:5000]) is PAPER[name]
