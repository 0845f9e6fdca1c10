"""What several tests of datasets need."""

import pytest
from fetch_server import serving


@pytest.fixture
def server():
    with serving() as running:
        yield running
