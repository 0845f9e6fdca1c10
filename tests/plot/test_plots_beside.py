"""Pictures of labellings side by side, of numbers of clusters and of credible balls."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from pictures import E2, noisy, rendered, title

import ensemblage as en
from ensemblage import plot


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
