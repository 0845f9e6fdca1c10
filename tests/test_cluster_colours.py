"""Colours of clusters: distinguishable for all, on white and on black, in plots and reports."""

import numpy as np
import pytest

from ensemblage._colours import cluster_codes, cluster_colours, seen

to_hex = pytest.importorskip("matplotlib.colors").to_hex


def smallest_distance(colours, eye):
    places = seen(colours)[eye]
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    return distance[~np.eye(len(colours), dtype=bool)].min()


def test_every_eye_tells_sixty_colours_apart():
    # In OKLab, 0.02 is about what a person just notices.
    for eye in range(3):
        assert smallest_distance(cluster_colours(9), eye) > 0.03
        assert smallest_distance(cluster_colours(60), eye) > 0.02


def test_more_clusters_do_not_change_the_first_colours():
    np.testing.assert_array_equal(cluster_colours(60)[:12], cluster_colours(12))


def test_any_number():
    assert cluster_colours(0).shape == (0, 3)
    assert cluster_colours(1).shape == (1, 3)
    many = cluster_colours(500)
    assert many.shape == (500, 3)
    assert ((many >= 0) & (many <= 1)).all()


def test_none_is_lost_on_white_or_on_black():
    colours = cluster_colours(60)
    light = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    luminance = light @ [0.2126, 0.7152, 0.0722]
    assert (1.05 / (luminance + 0.05)).min() > 1.7
    assert ((luminance + 0.05) / 0.06).min() > 2.3  # on the paper of a report in dark mode


def test_codes_are_the_same_colours():
    codes = cluster_codes(130)
    assert [to_hex(colour) for colour in cluster_colours(130)] == codes
    assert codes[:2] == ["#4477aa", "#ee6677"]
