"""Ensembles for reports, and a browser to open them in."""

import shutil

import numpy as np
import pytest
from report_inputs import HOSTILE, noisy_votes

import ensemblage as en


@pytest.fixture(scope="session")
def hostile_page():
    """Return a report in which every name, label, class and text is hostile."""
    pandas = pytest.importorskip("pandas")
    votes, truth = noisy_votes(90, 60, 3)
    columns = {
        f"{HOSTILE[m % len(HOSTILE)]}{m}": [HOSTILE[vote] for vote in votes[:, m]]
        for m in range(60)
    }
    frame = pandas.DataFrame(columns, index=[HOSTILE[i % len(HOSTILE)] + str(i) for i in range(90)])
    return en.report.html(
        en.PTA(3).fit(frame),
        features=np.random.default_rng(0).normal(size=(90, 4)),
        truth=[HOSTILE[label] for label in truth],
        title=HOSTILE[2],
        command=HOSTILE[1],
    )


@pytest.fixture(scope="session")
def chromium():
    """Return a headless Chromium of the system, or skip."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(names)} is on the path")
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--no-first-run", *quiet]
        )
        yield browser
        browser.close()


class Visit:
    """A page in the browser, and all that must not happen there: errors, messages, requests."""

    def __init__(self, browser, path, *, width=1100, scheme="light", touch=False):
        self.complaints, self.requests = [], []
        self.context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,
            accept_downloads=True,
            has_touch=touch,
        )
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.route("**/*", self._only_files)
        self.page.goto(path.as_uri())

    def _only_files(self, route):
        url = route.request.url
        if url.startswith("file:"):
            route.continue_()
            return
        self.requests.append(url)
        route.abort()

    def overflow(self):
        """Return by how many pixels the page is wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")

    def assert_clean(self):
        assert self.complaints == []
        assert self.requests == []
        assert self.overflow() <= 0


@pytest.fixture
def visit(chromium):
    """Return a function that opens a file in the browser."""
    opened = []

    def open_page(path, **options):
        opened.append(Visit(chromium, path, **options))
        return opened[-1]

    yield open_page
    for one in opened:
        one.context.close()
