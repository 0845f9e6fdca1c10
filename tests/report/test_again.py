"""The Python code in a report makes the same model again."""

import html
import re

import numpy as np
import pytest
from report_inputs import HOSTILE, noisy_votes
from sklearn.cluster import KMeans

import ensemblage as en


def code_of(page):
    return html.unescape(re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)[-1])


def run_again(page, folder, monkeypatch, **data):
    """Run the code of a page where its report may be written, and return the model."""
    monkeypatch.chdir(folder)
    names = dict(data)
    exec(code_of(page), names)
    assert (folder / "report.html").is_file()
    return names["model"]


VOTES = noisy_votes(80, 9, 4, seed=4)[0]


@pytest.mark.parametrize(
    "model",
    [
        en.Consensus(random_state=3),
        en.Consensus(3, method="eac", method_params={"linkage": "complete"}, min_cluster_size=0.3),
        en.Consensus(4, min_cluster_size=7, random_state=np.int64(5)),
        en.LWEA(4, weights="normalized", theta=0.2, min_cluster_size="auto"),
        en.EAC(4, linkage="single", min_cluster_size=6),
        en.PTGP(4, n_neighbors=7, n_steps=3, random_state=11),
        en.CSPA(4, level="objects", random_state=2),
        en.Vote(4),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_code_gives_the_same_labels(model, tmp_path, monkeypatch):
    model.fit(VOTES)
    again = run_again(en.report.html(model), tmp_path, monkeypatch, votes=VOTES)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_weights_of_members_are_repeated(tmp_path, monkeypatch):
    weight = np.random.default_rng(0).random(9) * [1, 0, 1, 1, 1, 1, 1, 1, 3]
    model = en.EAC(4).fit(VOTES, member_weight=weight)
    again = run_again(en.report.html(model), tmp_path, monkeypatch, votes=VOTES)
    np.testing.assert_array_equal(again.member_weight_, model.member_weight_)
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.parametrize("title", ["Cells", HOSTILE[1], HOSTILE[8], "a 'quoted' \"one\" \\ \t"])
def test_everything_beside_the_votes_is_repeated(title, tmp_path, monkeypatch):
    data = {
        "features": VOTES * 1.5,
        "truth": VOTES[:, 0],
        "ids": np.arange(80) + 7,
        "names": [f"m{m}" for m in range(9)],
    }
    page = en.report.html(en.EAC(4).fit(VOTES), title=title, **data)
    run_again(page, tmp_path, monkeypatch, votes=VOTES, **data)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == f"{page}\n"


def test_features_are_clustered_again(tmp_path, monkeypatch):
    features = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([0, 4, 8], 20)[:, None]
    model = en.EnsembleClustering(
        n_clusters=3,
        n_members=6,
        consensus=en.EAC(3, linkage="complete"),
        method=KMeans(n_init=2),
        n_clusters_range=(3, 6),
        random_state=1,
    ).fit(features)
    page = en.report.html(model, features=features)
    assert "from sklearn.cluster import KMeans" in code_of(page)
    assert "<code>features</code> is the table of measurements" in page
    again = run_again(page, tmp_path, monkeypatch, features=features)
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.parametrize("state", [None, np.random.default_rng(0)])
def test_a_seed_that_was_drawn_is_not_made_up(state):
    code = code_of(en.report.html(en.PTGP(3, random_state=state).fit(VOTES)))
    assert "# The seed was drawn" in code
    assert "random_state=" not in code.replace("(random_state was", "")
    assert "# The seed" not in code_of(en.report.html(en.EAC(3).fit(VOTES)))
