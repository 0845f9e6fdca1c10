"""Every picture for votes of every shape: drawn, without a warning, and showing what it says."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

import ensemblage as en
from ensemblage import plot
from ensemblage.plot import canvas

mpl.use("agg")
OF_ESTIMATORS = [plot.heatmap, plot.graph, plot.members, plot.clusters, plot.scatter]
E2 = np.array([[1, 1], [1, 1], [1, 1], [1, 2], [2, 2], [2, 2], [2, 3], [2, 3]])


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def rendered(ax):
    ax.figure.canvas.draw()  # warnings about letters and layout come from here
    return ax


def title(ax):
    return ax.get_title(loc="left")


def noisy(n_clusters, n_each, n_members, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_clusters), n_each)
    votes = np.repeat(truth[:, None], n_members, axis=1)
    wrong = rng.random(votes.shape) < 0.15
    votes[wrong] = rng.integers(0, n_clusters, wrong.sum())
    return votes


def groups():
    whole = en.Ensemble(noisy(4, 30, 5))
    found = whole.microclusters
    return en.Ensemble.of_groups(found.table, found.sizes, whole.labels)


GAPS = np.where(np.random.default_rng(1).random((60, 6)) < 0.2, -1, noisy(3, 20, 6))
GAPS[:, 0] = np.abs(GAPS[:, 0])
CASES = {
    "eight objects": lambda: en.PTA(2).fit(E2),
    "one cluster": lambda: en.PTGP(1).fit(E2),
    "one member": lambda: en.EAC(2).fit(E2[:, :1]),
    "one microcluster": lambda: en.EAC(1).fit([[1], [1]]),
    "one object": lambda: en.PTGP(1).fit(np.array([[1, 2, 3]])),
    "missing votes": lambda: en.LWEA(3).fit(GAPS),
    "many clusters": lambda: en.PTGP(60, random_state=0).fit(noisy(60, 6, 8)),
    "objects one by one": lambda: en.CSPA(3, level="objects", random_state=0).fit(noisy(3, 20, 4)),
    "groups alone": lambda: en.PTGP(4, random_state=0).fit(groups()),
    "features": lambda: en.EnsembleClustering(3, n_members=5, random_state=0).fit(
        np.random.default_rng(0).normal(size=(60, 3))
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_all_pictures_of_all_shapes(case):
    est = CASES[case]()
    for draw in OF_ESTIMATORS:
        assert title(rendered(draw(est)))


@pytest.mark.parametrize("draw", OF_ESTIMATORS)
def test_the_axes_given_are_used(draw):
    _, ax = plt.subplots()
    assert draw(en.PTA(2).fit(E2), ax=ax) is ax
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("draw", OF_ESTIMATORS)
@pytest.mark.parametrize(
    "wrong",
    [
        lambda: plt.subplots(2)[1],
        plt.figure,
        lambda: plt.subplot(projection="polar"),
        lambda: plt.subplot(projection="3d"),
        lambda: 3,
    ],
)
def test_other_axes_are_refused(draw, wrong):
    with pytest.raises(en.ParameterError, match="'ax' parameter of the plot must be"):
        draw(en.PTA(2).fit(E2), ax=wrong())


@pytest.mark.parametrize("draw", [*OF_ESTIMATORS, plot.dendrogram])
def test_only_fitted_methods(draw):
    with pytest.raises(ValueError, match=rf"plot\.{draw.__name__} needs a fitted consensus"):
        draw(en.PTA(2))


class TestHeatmap:
    def test_shows_similarity_in_the_order_of_clusters(self):
        est = en.EAC(2).fit(E2[::-1])
        ax = plot.heatmap(est)
        pixels = ax.images[0].get_array()
        objects = (
            en.EAC(2)
            .fit(E2[::-1])
            .similarity_[np.ix_(est.microclusters_.of_object, est.microclusters_.of_object)]
        )
        assert pixels.shape == (8, 8)
        assert sorted(pixels.ravel().tolist()) == sorted(objects.ravel().tolist())
        first = int((est.labels_ == 0).sum())
        inside = objects[np.ix_(est.labels_ == 0, est.labels_ == 0)].sum()
        assert pixels[:first, :first].sum() == pytest.approx(inside)
        assert [t.get_text() for t in ax.get_yticklabels()] == ["0 (4)", "1 (4)"]

    def test_the_trajectories_of_ptgp_need_no_matrix_of_all_pairs(self):
        votes = noisy(4, 30, 6)
        est = en.PTGP(4, random_state=0).fit(votes)
        shown = np.sort(plot.heatmap(est).images[0].get_array().ravel())
        assert est._similarity is None
        of_object = est.microclusters_.of_object
        expected = np.sort(est.similarity_[np.ix_(of_object, of_object)].ravel())
        np.testing.assert_allclose(shown, expected, atol=1e-9)

    def test_a_part_keeps_the_shares_of_clusters_and_says_so(self):
        votes = np.repeat([[0, 0], [1, 1], [1, 2]], [600, 300, 100], axis=0)
        ax = plot.heatmap(en.EAC(2).fit(votes), max_rows=100)
        assert title(ax).endswith("\n100 of 1,000 objects, evenly spaced")
        pixels = ax.images[0].get_array()
        assert pixels.shape == (100, 100)
        assert (pixels[0] == 1).sum() == 60

    def test_the_other_kind(self):
        est = en.PTA(2).fit(E2)
        assert title(plot.heatmap(est, "coassociation")) == "Co-association of objects"
        with pytest.raises(ValueError, match=r"'kind' parameter of plot\.heatmap must be one of"):
            plot.heatmap(est, "distance")


class TestDendrogram:
    @pytest.mark.parametrize("k", [1, 2, 3, 4])
    def test_the_line_cuts_as_many_legs_as_there_are_clusters(self, k):
        est = en.PTA(2).fit(E2)
        ax = rendered(plot.dendrogram(est, k))
        (line,) = [line for line in ax.lines if line.get_linestyle() == "--"]
        height = line.get_ydata()[0]
        assert (est.linkage_matrix_[:, 2] > height).sum() == k - 1

    def test_many_leaves_are_merged_and_it_says_so(self):
        est = en.EAC(5).fit(noisy(5, 40, 8))
        ax = rendered(plot.dendrogram(est, max_leaves=10))
        assert f"10 of {est.n_microclusters_} branches" in title(ax)
        sizes = [int(t.get_text().replace(",", "")) for t in ax.get_xticklabels()]
        assert len(sizes) == 10
        assert sum(sizes) == 200

    def test_at_least_one_branch_for_each_cluster(self):
        est = en.EAC(30).fit(noisy(30, 5, 8))
        assert len(plot.dendrogram(est, max_leaves=10).get_xticklabels()) == 30

    def test_ties_are_told(self):
        est = en.EAC(2).fit([[0], [1], [2]])
        assert "heights tie at the cut" in title(rendered(plot.dendrogram(est)))

    def test_there_is_no_line_where_small_branches_joined_larger_clusters(self):
        votes = [*[[0, 0, 0]] * 9, *[[0, 0, 1]] * 2, *[[1, 1, 1]] * 9, *[[1, 1, 2]] * 2, [2, 2, 3]]
        plain, least = (en.EAC(2, min_cluster_size=size).fit(votes) for size in (1, 5))
        assert np.bincount(plain.labels_).tolist() != np.bincount(least.labels_).tolist()
        lines = [
            sum(line.get_linestyle() == "--" for line in rendered(plot.dendrogram(est)).lines)
            for est in (plain, least)
        ]
        assert lines == [1, 0]
        assert "no cut at one height" in title(plot.dendrogram(least))

    def test_the_axis_begins_near_the_merges_that_are_drawn(self):
        est = en.EAC(2).fit(noisy(2, 40, 8))
        est.linkage_matrix_[:, 2] = np.linspace(0.97, 1.0, len(est.linkage_matrix_))
        ax = rendered(plot.dendrogram(est))
        assert 0.95 < ax.get_ylim()[0] < 0.995
        assert ax.get_ylim()[1] > 1.0

    def test_a_similarity_just_above_one(self):
        est = en.EAC(2).fit([[0], [1], [2]])
        est.linkage_matrix_[0, 2] = -1e-7  # as ECMC's completed similarity may have it
        assert rendered(plot.dendrogram(est)).get_ylim()[0] == 0
        assert est.linkage_matrix_[0, 2] == -1e-7

    def test_trees_of_objects_and_of_nothing(self):
        rendered(plot.dendrogram(en.LWEA(2, level="objects").fit(noisy(2, 10, 4))))
        assert "nothing to merge" in title(plot.dendrogram(en.EAC(1).fit([[1], [1]])))

    def test_methods_without_a_tree(self):
        with pytest.raises(ValueError, match="PTGP has none: it does not merge step by step"):
            plot.dendrogram(en.PTGP(2, random_state=0).fit(E2))


class TestGraph:
    def test_links_are_those_of_the_walk(self):
        est = en.PTGP(3, random_state=0, n_neighbors=2).fit(noisy(3, 10, 4))
        ax = plot.graph(est)
        assert len(ax.collections[0].get_paths()) == est._walk.nnz // 2
        assert len(ax.collections[1].get_offsets()) == est.n_microclusters_

    def test_a_part_says_so(self):
        est = en.PTGP(5, random_state=0).fit(noisy(5, 40, 8))
        ax = plot.graph(est, max_nodes=50)
        assert f"50 of {est.n_microclusters_} microclusters" in title(ax)
        assert len(ax.collections[1].get_offsets()) == 50

    def test_linked_nodes_are_near(self):
        from ensemblage.plot.graph import layout

        weights = np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10)
        places = layout(weights)
        distance = np.linalg.norm(places[:, None] - places[None], axis=2)
        assert distance[:5, :5].max() < distance[:5, 5:].min()


class TestMembers:
    def test_order_and_marks(self):
        votes = noisy(4, 30, 6)
        names = ["same", "b", "c", "d", "e", "f", "copy"]
        est = en.EAC(4).fit(np.column_stack([votes, votes[:, 0]]))
        ax = rendered(plot.members(est, names=names))
        shown = [t.get_text() for t in ax.get_yticklabels()]
        assert sorted(shown) == sorted(names)
        assert abs(shown.index("same") - shown.index("copy")) == 1
        red = [t.get_text() for t in ax.get_yticklabels() if t.get_color() != "black"]
        assert red == ["copy"]
        order = [names.index(name) for name in shown]
        np.testing.assert_allclose(
            ax.images[1].get_array()[:, 0], en.metrics.members(est).agreement[order]
        )

    def test_hostile_names(self):
        names = [
            "<script>" * 2000,
            "שלום עולם " * 9,
            "$x^2",
            r"$\frac{$",
            "漢字",
            "a\nb",
            "\u202eab",
        ]
        table = pd.DataFrame(noisy(3, 20, 7), columns=names)
        ax = rendered(plot.members(en.EAC(3).fit(table)))
        assert max(len(t.get_text()) for t in ax.get_yticklabels()) <= 26

    def test_a_hundred_members(self):
        ax = rendered(plot.members(en.EAC(3).fit(noisy(3, 10, 100))))
        assert ax.get_ylabel() == "100 members"

    def test_a_sample_of_very_many(self, monkeypatch):
        monkeypatch.setattr(sys.modules["ensemblage.plot.members"], "_SHOWN", 70)
        ax = rendered(plot.members(en.EAC(3).fit(noisy(3, 10, 100))))
        assert ax.get_title(loc="left") == "Agreement of members (70 of 100)"


class TestClusters:
    def test_boxes_are_quantiles_over_objects(self):
        est = en.EAC(3).fit(noisy(3, 40, 5))
        ax = plot.clusters(est)
        for label in range(3):
            own = np.sort(est.confidence_[est.labels_ == label])
            box = ax.patches[label]
            low, high = (own[int(np.ceil(share * len(own))) - 1] for share in (0.25, 0.75))
            assert box.get_x() == pytest.approx(low)
            assert box.get_x() + box.get_width() == pytest.approx(high)
        np.testing.assert_allclose(ax.lines[-1].get_xdata(), est.cluster_consensus_)


class TestScatter:
    def test_two_features_as_they_are(self):
        features = np.random.default_rng(0).normal(size=(8, 2))
        ax = rendered(plot.scatter(en.PTA(2).fit(E2), features))
        found = np.sort(np.asarray(ax.collections[0].get_offsets()), axis=0)
        np.testing.assert_allclose(found, np.sort(features, axis=0))

    @pytest.mark.parametrize("width", [1, 5])
    def test_others_by_principal_components(self, width):
        features = np.random.default_rng(0).normal(size=(8, width))
        ax = rendered(plot.scatter(en.PTA(2).fit(E2), features))
        places = np.asarray(ax.collections[0].get_offsets())
        spread = np.sort(np.linalg.svd(features - features.mean(axis=0))[1])[::-1][:2]
        np.testing.assert_allclose(np.linalg.norm(places, axis=0)[: len(spread)], spread)

    def test_centres_of_clusters_are_on_a_circle(self):
        from ensemblage.plot.scatter import embedded

        est = en.EAC(5).fit(noisy(5, 20, 6))
        labels = est._micro_labels
        places = embedded(est.similarity_, labels)
        centres = np.array([places[labels == label].mean(axis=0) for label in range(5)])
        # As nearly as can be: the mean of all places stays in the middle.
        assert np.ptp(np.linalg.norm(centres, axis=1)) < 0.2
        assert np.abs(places.mean(axis=0)).max() < 1e-9
        # It is a linear view of classical scaling, with all its dimensions.
        n = len(labels)
        middle = np.eye(n) - 1 / n
        values, vectors = np.linalg.eigh(middle @ est.similarity_ @ middle)
        space = vectors * np.sqrt(np.maximum(values, 0))
        view, *_ = np.linalg.lstsq(space, places, rcond=1e-9)
        np.testing.assert_allclose(space @ view, places, atol=1e-6)

    def test_two_clusters_by_the_leading_eigenvectors(self):
        from ensemblage.plot.scatter import embedded

        est = en.EAC(2).fit(noisy(2, 20, 6))
        places = embedded(est.similarity_, est._micro_labels)
        middle = np.eye(len(places)) - 1 / len(places)
        values = np.linalg.eigvalsh(middle @ est.similarity_ @ middle)[::-1]
        np.testing.assert_allclose((places**2).sum(axis=0), values[:2])

    def test_a_part_says_so(self):
        est = en.EAC(5).fit(noisy(5, 40, 8))
        assert "50 of 200 objects" in title(plot.scatter(est, np.ones((200, 3)), max_points=50))

    def test_features_of_other_objects(self):
        with pytest.raises(
            ValueError, match=r"each of the 8 object\(s\), in the same order, got 3 row\(s\)"
        ):
            plot.scatter(en.PTA(2).fit(E2), np.ones((3, 2)))


class TestAlluvial:
    def test_bars_and_streams_count_objects(self):
        ax = rendered(plot.alluvial([2, 2, 10, 10, -1], ["x", "y", "y", "y", None]))
        texts = [t.get_text() for t in ax.texts]
        assert texts == ["2 (2)", "10 (2)", "no label (1)", "x (1)", "y (3)", "no label (1)"]
        assert len(ax.patches) == 4 + 6

    def test_of_estimators_and_hostile_names(self):
        est = en.PTA(2).fit(E2)
        names = ["漢" * 50, "$", "\n", "a", "b", "c", "d", "e"]
        assert title(rendered(plot.alluvial(names, est, names=("$x", "y" * 99)))).startswith("From")

    def test_thin_streams_are_counted(self):
        a = np.zeros(10_000, dtype=int)
        b = a.copy()
        b[:2] = 1
        assert "2 objects in streams too thin to draw" in title(plot.alluvial(a, b))

    def test_other_lengths(self):
        with pytest.raises(ValueError, match="labels of the same objects"):
            plot.alluvial([0, 1], [0, 1, 1])


@pytest.fixture(scope="module")
def choice():
    est = en.PTGP(3, random_state=0).fit(noisy(3, 20, 6))
    return en.metrics.choose_k(est, ks=range(2, 6), criteria="all", n_refits=2)


class TestChoices:
    def test_curves(self, choice):
        ax = rendered(plot.k_curves(choice))
        (line,) = [x for x in ax.lines if str(x.get_label()).endswith("(decides)")]
        values = choice.scores[choice.criterion]
        assert line.get_xdata()[line.get_ydata().argmax()] == choice.ks[np.nanargmax(values)]
        assert title(ax).startswith(f"k = {choice.k}")

    def test_ticks_are_whole_unless_the_user_has_set_others(self, choice):
        ax = rendered(plot.k_curves(choice))
        assert all(tick == int(tick) for tick in ax.get_xticks())
        figure, (fixed, log) = plt.subplots(2)
        fixed.set_xticks([2.5, 4])
        plot.k_curves(choice, ax=fixed)
        assert fixed.get_xticks().tolist() == [2.5, 4]
        log.set_xscale("log")
        plot.k_curves(choice, ax=log)
        figure.canvas.draw()
        assert log.get_xscale() == "log"

    def test_distribution(self, choice):
        ax = rendered(plot.cdf(choice))
        assert len(ax.lines) == 4
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), choice.cdf[0])

    def test_what_is_no_choice(self):
        est = en.EAC(2).fit(E2)
        with pytest.raises(TypeError, match=r"choose_k\(estimator\), got an EAC"):
            plot.k_curves(est)
        with pytest.raises(ValueError, match=r"does not have\. Request it"):
            plot.cdf(en.metrics.choose_k(est))
        single = en.EAC(1).fit(E2[:, :1])
        with pytest.raises(ValueError, match=r"does not have\. At least two clusterings are req"):
            plot.cdf(en.metrics.choose_k(single, criteria=["pac"]))
        alike = en.EAC(1).fit(np.zeros((9, 3)))
        with pytest.raises(ValueError, match=r"does not have\. The votes do not separate"):
            plot.cdf(en.metrics.choose_k(alike, criteria=["pac"]))


def test_names_are_told_apart():
    names = canvas.short_names(["x" * 99, "x" * 98, "a\tb"])
    assert names == ["x" * 23 + "…", "x" * 23 + "… (2)", "a b"]


def test_without_matplotlib_there_is_advice(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "ensemblage\[report\]"'):
        plot.clusters(en.PTA(2).fit(E2))


def test_importing_it_is_cheap():
    code = "import sys, ensemblage as en; en.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("names", ["ab", ("a",), ("a", "b", "c"), 5, None, np.array(2)])
def test_two_names_for_two_clusterings(names):
    with pytest.raises(ValueError, match=r"'names' parameter of plot.alluvial must be two names"):
        plot.alluvial([0, 1], [1, 1], names=names)


class TestCredibleBall:
    def test_discs_are_draws_and_the_line_is_the_radius(self):
        draws = noisy(3, 10, 40)
        ball = en.metrics.credible_ball(np.repeat(np.arange(3), 10), draws, level=0.8)
        ax = rendered(plot.credible_ball(ball))
        (line,) = ax.lines
        assert line.get_xdata()[0] == ball.radius
        inside, outside, *bounds = ax.collections
        places = np.concatenate([inside.get_offsets(), outside.get_offsets()])
        assert set(places[:, 0].round(9)) == set(ball.distances.round(9))
        assert (inside.get_offsets()[:, 0] <= ball.radius + 1e-9).all()
        marked = [tuple(mark.get_offsets()[0]) for mark in bounds]
        assert marked[-1] == (0, 3)  # the estimate
        for place, name in zip(marked, ("upper", "lower", "horizontal"), strict=False):
            draw = getattr(ball, name)[0]
            assert place == (ball.distances[draw], ball.n_clusters[draw])
        share = f"draws inside: {ball.share:.0%}"
        assert share in [text.get_text() for text in ax.get_legend().get_texts()]
        assert title(ax) == f"Credible ball of 80 %: radius {ball.radius:.2f}"

    @pytest.mark.parametrize(
        "draws", [E2[:, :1], np.column_stack([E2, np.full(8, -1)]), np.zeros((8, 5), dtype=int)]
    )
    def test_few_draws_and_gaps(self, draws):
        _, ax = plt.subplots()
        ball = en.metrics.credible_ball(E2[:, 0], draws)
        assert rendered(plot.credible_ball(ball, ax=ax)) is ax

    def test_only_balls_are_drawn(self):
        with pytest.raises(en.ParameterError, match="must be a CredibleBall"):
            plot.credible_ball(E2)
