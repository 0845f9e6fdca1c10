"""The paper's ten datasets, and pools of base clusterings: from disk, or fetched once."""

from ensemblage.datasets._catalogue import NAMES, is_name
from ensemblage.datasets._dataset import Dataset
from ensemblage.datasets._fetch import DownloadError
from ensemblage.datasets._load import load
from ensemblage.datasets._places import data_folder
from ensemblage.datasets._pool import Pool, has_pool, load_pool

__all__ = [
    "NAMES",
    "Dataset",
    "DownloadError",
    "Pool",
    "data_folder",
    "has_pool",
    "is_name",
    "load",
    "load_pool",
]
