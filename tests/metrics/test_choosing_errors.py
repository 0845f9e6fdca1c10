"""choose_k asked for what it cannot do."""

import pytest
from planted import noisy
from sklearn.exceptions import NotFittedError

import ensemblage as en
from ensemblage.metrics import choose_k
from ensemblage.metrics.choosing import CRITERIA


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"ks": [1, 2]}, "integers of at least 2.*Got 1 instead"),
        ({"ks": [2.5]}, "Got 2.5 instead"),
        ({"ks": []}, "at least one number of clusters"),
        ({"ks": 5}, "such as range"),
        ({"ks": [2, 900]}, r"must be at most \d+, the number of groups.* got 900"),
        ({"criterion": "gap"}, "'criterion' parameter of choose_k must be one of 'auto'"),
        ({"criteria": ["silhouette"]}, "'criteria' parameter of choose_k must be one of"),
        ({"n_refits": 1}, "'n_refits' parameter of choose_k must be a whole number from 2 up"),
        ({"random_state": -1}, "'random_state' parameter of choose_k"),
    ],
)
def test_wrong_arguments(arguments, words):
    est = en.EAC(2).fit(noisy([50] * 4, 12, 0.1)[0])
    with pytest.raises(ValueError, match=words):
        choose_k(est, **arguments)


def test_wrong_estimators():
    with pytest.raises(NotFittedError, match="choose_k needs a fitted"):
        choose_k(en.EAC(2))
    with pytest.raises(TypeError, match="choose_k needs a fitted"):
        choose_k(3)

    class Other:
        labels_ = n_clusters_ = microclusters_ = 0

    with pytest.raises(TypeError, match=r"a fitted consensus method of ensemblage, got Other"):
        choose_k(Other())


@pytest.mark.parametrize("criteria", [None, 5, ["pac", None]])
def test_criteria_that_are_no_names(criteria):
    est = en.EAC(n_clusters=2).fit([[0, 0], [0, 1], [1, 1]])
    with pytest.raises(ValueError, match="'criteria' parameter of choose_k must be one of"):
        en.metrics.choose_k(est, criteria=criteria)


def test_groups_of_criteria_among_names():
    est = en.EAC(n_clusters=2).fit([[0, 0], [0, 1], [1, 1]])
    found = en.metrics.choose_k(est, criteria=["cheap", "pac"], n_refits=2)
    assert list(found.scores) == [*CRITERIA[:6], "pac"]
    assert list(found.absent) == ["eigengap"]


def test_a_single_k_is_not_praised():
    choice = choose_k(en.EAC(2).fit(noisy([50] * 4, 12, 0.1)[0]), [4])
    assert choice.evidence == "moderate"
    assert choice.reasons[1] == "k = 4 is the only number that was compared."
