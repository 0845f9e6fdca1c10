"""Cases that tell members from members with a small mistake (tools/hand_mutants.toml)."""

import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering

from ensemblage.ensembles import _coarse, _noise, _scaling, checkpoint
from ensemblage.ensembles._member import fit_member
from ensemblage.ensembles._plan import make_plan
from ensemblage.tables import UNFINISHED

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(60, 3)) + 6 * (np.arange(60) % 3)[:, None]


def plan_of(**options):
    given = {"method": "kmeans", "n_clusters_range": (3, 3), "scale": None, "subspace": None}
    given |= {"projection": None, "subsample": None, "seed": 0}
    return make_plan("generate", FEATURES, **(given | options))


def test_a_member_labels_the_objects_it_saw_as_it_did():
    plan = plan_of(method=AgglomerativeClustering(), subsample=0.5)
    member = fit_member(plan, 0)
    seen = np.flatnonzero(member.labels >= 0)
    assert len(seen) == 30
    placed = member.place(plan, plan.features[seen])
    np.testing.assert_array_equal(placed, member.labels[seen])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_blocks_of_rows_change_no_scale(kind, monkeypatch):
    monkeypatch.setattr(_scaling, "_ROWS", 7)
    deviations, _ = _scaling.learn_scales(FEATURES.astype(kind))
    np.testing.assert_allclose(deviations, FEATURES.std(axis=0), rtol=1e-5)
    scaled = _scaling.learn_scaling(FEATURES.astype(kind), "standard").apply(FEATURES.astype(kind))
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-4)


def test_a_coarse_member_that_links_nothing_is_not_kept(monkeypatch):
    plan = plan_of(method=AgglomerativeClustering(), n_clusters_range=(6, 6))
    finest = fit_member(plan, 0)
    monkeypatch.setattr(_coarse, "fit_member", lambda *_: finest)
    assert len(_coarse.make_members(plan, 3, 1, 2)) == 3
    monkeypatch.undo()
    assert len(_coarse.make_members(plan, 3, 1, 2)) == 4


@pytest.mark.parametrize(
    ("others", "nested"),
    [
        (["aabbbb"], False),  # equal ones do not split each other
        (["abcccc"], True),
        (["abcdef", "abcccc"], True),
        (["abccdd", "abcccd"], False),
        (["abbccc"], False),
        (["a bccc"], False),
    ],
)
def test_members_that_split_the_coarser_ones_are_nested(others, nested):
    members = [
        SimpleNamespace(labels=np.array([" abcdef".index(letter) - 1 for letter in labels]))
        for labels in ["aabbbb", *others]
    ]
    for some in (members, members[::-1]):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            _coarse.warn_if_nested("x", some)
        assert len(told) == nested


def test_groups_of_noise_have_five_objects():
    links = SimpleNamespace(of_row=np.array([0, 1, 1, 2]))
    for sizes, n_groups in (([5, 2, 2, 1], 1), ([1, 1, 4, 9], 2), ([1, 1, 1, 1], 0)):
        groups = SimpleNamespace(sizes=np.array(sizes))
        fitted = SimpleNamespace(_ensemble=SimpleNamespace(links=links), microclusters_=groups)
        assert _noise._n_groups(fitted) == n_groups


def test_members_of_other_settings_are_made_again(tmp_path):
    labels = np.array([0, 1, 1])
    checkpoint.Folder(tmp_path, 3, "one").write(0, labels)
    assert checkpoint.Folder(tmp_path, 3, "one").read(0).tolist() == labels.tolist()
    with pytest.warns(UserWarning, match="is damaged or was changed"):
        assert checkpoint.Folder(tmp_path, 3, "two").read(0) is None


def test_what_is_left_of_a_folder_is_a_checkpoint_until_the_end(tmp_path, monkeypatch):
    removed, unlink = [], Path.unlink
    for name in ("manifest.json", "member-000000.npy", f"{UNFINISHED}x"):
        (tmp_path / "parts" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "parts" / name).touch()

    def noted(path, **options):
        removed.extend([path.name] * path.exists())
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", noted)
    checkpoint.remove_folder(tmp_path / "parts")
    assert (len(removed), removed[-1]) == (3, "manifest.json")
    assert not (tmp_path / "parts").exists()


def test_a_folder_that_held_a_lock_alone_is_removed(tmp_path):
    with checkpoint.alone(tmp_path / "parts"):
        assert list((tmp_path / "parts").iterdir())
    assert not list(tmp_path.iterdir())
