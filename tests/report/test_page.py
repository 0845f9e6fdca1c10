"""The page as text: what it holds, and that names of any kind stay names."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import names
import numpy as np
import pytest
from report_inputs import HOSTILE, noisy_votes

import ensemblage as en
from ensemblage._colours import cluster_codes
from ensemblage.report._text import visible

VOID = {"meta", "link", "img", "br", "input"}


class Elements(HTMLParser):
    """All elements of a page with their attributes and text, and whether tags are balanced."""

    def __init__(self, page):
        super().__init__()
        self.found, self.open = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes), []))
        if tag not in VOID:
            self.open.append(len(self.found) - 1)

    def handle_endtag(self, tag):
        assert self.found[self.open.pop()][0] == tag

    def handle_data(self, data):
        if self.open:
            self.found[self.open[-1]][2].append(data)

    def named(self, tag):
        return [(attributes, "".join(text)) for name, attributes, text in self.found if name == tag]


def data_of(page):
    scripts = Elements(page).named("script")
    (text,) = [text for attributes, text in scripts if attributes.get("id") == "data"]
    return json.loads(text)


def text_of(page):
    return " ".join(re.sub(r"<[^>]*>", " ", page.split("<script")[0]).split())


@pytest.fixture(scope="module")
def page():
    votes, truth = noisy_votes(40, 6, 3)
    model = en.PTA(3).fit(votes)
    return en.report.html(model, truth=truth, features=votes.astype(float), title="Forty")


def test_sections_and_their_explanations(page):
    elements = Elements(page)
    assert elements.open == []
    sections = [attributes["id"] for attributes, _ in elements.named("section")]
    plots = ["clusters", "heatmap", "map", "tree", "truth", "members", "k"]
    assert sections == ["summary", *plots, "objects", "again", "glossary"]
    links = [attributes["href"] for attributes, _ in elements.named("a")]
    assert links == [f"#{section}" for section in sections]
    assert len(elements.named("summary")) == len(plots)
    assert elements.named("h1")[0][0] == {}
    assert "Forty" in text_of(page)


def test_the_summary_says_what_was_found(page):
    text = text_of(page)
    assert "40 objects were clustered 6 times." in text
    assert "PTA merged them into 3 clusters." in text
    assert "model = en.PTA(n_clusters=3).fit(votes)" in text
    assert "features=features, truth=truth, title=&#39;Forty&#39;" in text
    assert "features as given" not in text
    assert "truth as passed to this report" in text
    assert re.search(r"NMI \d\.\d{3} and ARI \d\.\d{3} with 3 true classes", text)


def test_nothing_is_fetched_and_only_our_script_may_run(page, hostile_page):
    for text in (page, hostile_page):
        elements = Elements(text)
        (policy,) = [
            attributes["content"]
            for attributes, _ in elements.named("meta")
            if attributes.get("http-equiv") == "Content-Security-Policy"
        ]
        assert policy.startswith("default-src 'none'; ")
        ((_, style),) = elements.named("style")
        (script,) = [body for attributes, body in elements.named("script") if not attributes]
        for kind, body in (("script-src", script), ("style-src", style)):
            digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
            assert f"{kind} 'sha256-{digest}'" in policy
        for tag, attributes, _ in elements.found:
            assert tag not in {"img", "iframe", "object", "embed", "form", "base", "svg"}
            assert not {name for name in attributes if name.startswith("on") or name == "style"}
            assert "src" not in attributes
            assert attributes.get("href", "#").startswith(("#", "data:,"))


def test_scripts_put_text_in_as_text():
    for asset in files("ensemblage.report").joinpath("assets").iterdir():
        if asset.name.endswith(".js"):
            code = asset.read_text(encoding="utf-8")
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function"
                r"|fetch\(|XMLHttpRequest|WebSocket|https?://(?!www\.w3\.org/2000/svg)",
                code,
            ), asset.name


def test_hostile_names_stay_names(hostile_page):
    scripts = Elements(hostile_page).named("script")
    assert len(scripts) == 2
    data = data_of(hostile_page)
    assert data["objects"]["id"] == [visible(HOSTILE[i % 16] + str(i)) for i in range(90)]
    assert data["members"]["name"] == [visible(HOSTILE[m % 16] + str(m)) for m in range(60)]
    assert sorted(data["truth"]["name"]) == sorted(map(visible, HOSTILE[:3]))
    # Whole names are there, 10,000 signs of them, and nothing that turns the text around them.
    assert max(map(len, data["members"]["name"])) > 10_000
    assert not re.search("[\x00-\x09\x0b-\x1f\u2028\u2029\u202a-\u202e\ud800-\udfff]", hostile_page)
    hostile_page.encode("utf-8")


def test_clusters_have_the_colours_of_the_plots(page):
    assert data_of(page)["colours"] == cluster_codes(3)
    votes = np.arange(130)[:, None]
    data = data_of(en.report.html(en.EAC(2).fit(votes // 65), truth=np.arange(130)))
    assert data["colours"] == cluster_codes(120)  # classes have colours too; then they repeat


def test_equal_input_gives_an_equal_page():
    votes, _ = noisy_votes(60, 5, 3)
    pages = [en.report.html(en.PTGP(3, random_state=0).fit(votes)) for _ in range(2)]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("method", names.METHODS)
def test_every_method_has_a_report(method):
    votes, _ = noisy_votes(40, 6, 3)
    estimator = en.METHODS[method](3)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    estimator.fit(votes)
    data = data_of(en.report.html(estimator))
    assert sum(data["clusters"]["size"]) == 40
    assert data["objects"]["cluster"] == estimator.labels_.tolist()
    assert (data["tree"] is not None) == hasattr(estimator, "linkage_matrix_")


@pytest.mark.parametrize(
    ("votes", "k"),
    [
        ([[1]], 1),
        ([[1], [1], [1]], 1),
        ([[1], [2]], 2),
        ([[1, 1], [1, None], [2, 2], [None, 2], [2, 3], [1, 1], [3, 3], [3, 1]], 3),
    ],
)
def test_small_ensembles(votes, k):
    page = en.report.html(en.EAC(k).fit(votes))
    data = data_of(page)
    assert len(data["clusters"]["size"]) == k
    assert len(data["members"]["name"]) == len(votes[0])
    if k == 1:
        assert "There is a single cluster" in page


def test_names_come_from_the_table_and_may_be_given():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"leiden": [0, 0, 1, 1], "kmeans": [0, 0, 1, 1]}, index=["c1", "c2", "c3", "c4"]
    )
    data = data_of(en.report.html(en.EAC(2).fit(frame)))
    assert data["objects"]["id"] == ["c1", "c2", "c3", "c4"]
    assert data["members"]["name"] == ["leiden", "kmeans"]
    assert data["members"]["reason"] == ["", "same partition as leiden"]
    model = en.EAC(2).fit(frame.to_numpy())
    data = data_of(en.report.html(model, ids=range(7, 11), names=["a", "b"]))
    assert data["objects"]["id"] == ["7", "8", "9", "10"]
    assert data["members"]["reason"] == ["", "same partition as a"]
    data = data_of(en.report.html(model))
    assert data["objects"]["id"] is None
    assert data["members"]["reason"] == ["", "same partition as clustering 1"]


def test_it_says_what_chance_decides():
    rng = np.random.default_rng(0)
    votes = rng.integers(0, 4, (120, 5))  # no structure: seeds matter
    page = en.report.html(en.PTGP(6, random_state=0).fit(votes))
    spread = en.metrics.seed_spread(en.PTGP(6, random_state=0).fit(votes))
    moved = int((spread.agreement < 1).sum())
    assert moved > 10
    assert f"With 5 other seeds, {moved} objects change cluster at least once." in page
    assert data_of(page)["objects"]["seeds"] == pytest.approx(spread.agreement, abs=1e-4)
    page = en.report.html(en.PTA(6).fit(votes))
    assert "PTA is deterministic" in page
    assert data_of(page)["objects"]["seeds"] is None
    votes, _ = noisy_votes(60, 20, 2)
    page = en.report.html(en.PTGP(2, random_state=0).fit(votes))
    assert "PTGP gives the same clusters with 5 other seeds" in page


def test_votes_alone_choose_their_number_of_clusters():
    votes, _ = noisy_votes(60, 8, 3)
    page = en.report.html(votes)
    assert "Consensus(n_clusters=&#39;auto&#39;, random_state=0)" in page
    assert data_of(page)["k"]["best"] == len(data_of(page)["clusters"]["size"]) == 3


def test_features_in_report_out():
    features = np.random.default_rng(0).normal(size=(50, 3))
    model = en.EnsembleClustering(n_clusters=2, n_members=5, random_state=0).fit(features)
    data = data_of(en.report.html(model, features=features))
    assert [one["title"] for one in data["maps"]] == ["By votes", "By features"]


def test_many_objects_are_sampled_and_the_page_says_so():
    votes, truth = noisy_votes(20_000, 5, 4)
    model = en.PTGP(4, random_state=0).fit(votes)
    page = en.report.html(model, truth=truth, ids=[f"object {i}" for i in range(20_000)])
    data = data_of(page)
    shown = data["objects"]["row"]
    assert 2000 < len(shown) <= 3010
    assert len(set(shown)) == len(shown)
    assert f"This report shows {len(shown):,} of 20,000 objects" in page
    assert data["objects"]["id"][5] == f"object {shown[5]}"
    assert data["objects"]["cluster"] == model.labels_[shown].tolist()
    # The thousand that the consensus is least sure of are among them; figures are over all.
    worst = np.sort(model.confidence_)[:1000]
    assert np.sort(model.confidence_[shown])[:1000] == pytest.approx(worst)
    assert sum(data["clusters"]["size"]) == 20_000
    assert sum(map(sum, data["truth"]["counts"])) == 20_000
    assert len(page) < 1_500_000


def test_very_many_long_names_do_not_make_a_very_long_page():
    votes, _ = noisy_votes(2000, 3, 2)
    ids = [f"{i} {'x' * 10_000}" for i in range(2000)]
    page = en.report.html(en.EAC(2).fit(votes), ids=ids)
    assert len(page) < 4_000_000
    assert re.search(r"1,\d{3} very long names are shortened", page)


# -- refusals --------------------------------------------------------------------------------------


def test_what_does_not_fit_the_votes_is_refused():
    model = en.EAC(2).fit([[0, 0], [0, 0], [1, 1]])
    with pytest.raises(
        ValueError, match=r"report needs truth for each of the 3 objects, but got 2"
    ):
        en.report.html(model, truth=[0, 1])
    with pytest.raises(ValueError, match=r"report needs ids for each of the 3 objects, but got 4"):
        en.report.html(model, ids=list("abcd"))
    with pytest.raises(
        ValueError, match=r"names for each of the 2 clusterings, but got 1.*columns"
    ):
        en.report.html(model, names=["a"])
    with pytest.raises(ValueError, match=r"report needs features for each of the 3 objects"):
        en.report.html(model, features=np.zeros((4, 2)))
    with pytest.raises(
        ValueError, match=r"truth for each of the 3 objects, but got a single value"
    ):
        en.report.html(model, truth=1)
    for beside in ("truth", "ids"):
        with pytest.raises(
            ValueError, match=rf"{beside} for each .* shape \(3, 2\).* single column"
        ):
            en.report.html(model, **{beside: np.zeros((3, 2))})


def test_models_that_are_not_ready_are_refused():
    with pytest.raises(ValueError, match=r"report needs a fitted consensus method"):
        en.report.html(en.PTGP(2))


def test_without_jinja_it_says_what_to_install(monkeypatch):
    from ensemblage.report import _report

    monkeypatch.setattr(_report.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"need jinja2.*pip install 'ensemblage\[report\]'"):
        en.report.html([[0, 0], [1, 1]])


def test_an_existing_file_is_replaced_whole_or_left_alone(tmp_path, e2):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    model = en.EAC(2).fit(e2)
    with pytest.raises(ValueError, match="truth"):
        en.report.write(model, path, truth=[1])
    assert path.read_text(encoding="utf-8") == "old"
    en.report.write(model, path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        en.report.write(model, tmp_path / "no" / "report.html")


def test_only_names_of_pages_are_written(tmp_path, e2):
    model = en.EAC(2).fit(e2)
    message = r"must end with \.html or \.htm, got 'rep\.pdf'\. Use 'rep\.html'\."
    with pytest.raises(ValueError, match=message):
        en.report.write(model, tmp_path / "rep.pdf")
    assert list(tmp_path.iterdir()) == []
    pages = ["PAGE.HTML", "a.b.htm", "page"]
    for name in pages:
        en.report.write(model, str(tmp_path / name))
    assert sorted(path.name for path in tmp_path.iterdir()) == pages
