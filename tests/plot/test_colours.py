import numpy as np

from ensemblage.plot._colours import cluster_colours, seen


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


def test_none_is_lost_on_white():
    lightness = seen(cluster_colours(60))[0][:, 0]
    assert lightness.max() < 0.9
