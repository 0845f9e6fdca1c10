"""A small world: a data folder with made-up features and pools under the names of the paper's."""

import numpy as np
import pytest
from scipy.io import savemat


def _blobs(n_objects, n_classes, rng):
    truth = np.arange(n_objects) % n_classes
    return truth[:, None] * 4.0 + rng.normal(size=(n_objects, 3)), truth


@pytest.fixture(scope="session")
def small_world(tmp_path_factory):
    """Return a data folder: pools of MF and IS, features of MF, IS, MNIST and KDD99."""
    folder = tmp_path_factory.mktemp("world")
    rng = np.random.default_rng(0)
    (folder / "data").mkdir()
    (folder / "pools").mkdir()
    for name, n_objects, n_classes in (("MF", 60, 3), ("IS", 72, 4), ("MNIST", 80, 4)):
        features, truth = _blobs(n_objects, n_classes, rng)
        np.savez(folder / "data" / f"{name}.npz", X=features, y=truth)
        if name == "MNIST":
            np.savez(
                folder / "data" / "KDD99.npz", X=np.tile(features, (20, 1)), y=np.tile(truth, 20)
            )
            continue
        noise = rng.random((n_objects, 60)) < 0.2
        members = np.where(noise, rng.integers(1, 6, noise.shape), truth[:, None] + 1)
        savemat(
            folder / "pools" / f"bc_pool_{name}.mat",
            {"members": members.astype(np.uint8), "gt": truth[:, None] + 1.0},
        )
    return folder
