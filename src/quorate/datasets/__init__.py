"""The paper's ten datasets, and pools of base clusterings: found on disk, or fetched once."""

from quorate.datasets._catalogue import NAMES, is_name
from quorate.datasets._dataset import Dataset
from quorate.datasets._fetch import DownloadError
from quorate.datasets._load import load
from quorate.datasets._pool import Pool, has_pool, load_pool

__all__ = ["NAMES", "Dataset", "DownloadError", "Pool", "has_pool", "is_name", "load", "load_pool"]
