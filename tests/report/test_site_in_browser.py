"""The pages of the documentation in a real browser, as reports are opened."""

import pytest


@pytest.mark.parametrize("width", [400, 1100])
def test_pages_open_without_error_request_or_overflow(site, visit, width):
    pages = [path for path in sorted(site.glob("*.html")) if path.stem != "search"]
    gallery, reference = sorted(site.glob("gallery/*.html")), sorted(site.glob("api/*.html"))
    assert min(len(pages), len(gallery), len(reference)) > 5
    for path in pages + gallery + reference:
        found, name = visit(path, width=width), path.stem
        assert found.page.locator("h1").count() == 1, name
        assert found.complaints == [], name
        assert found.requests == [], name
        assert found.overflow() <= 0, name
        found.page.close()  # a hundred open pages are slow


def test_pages_are_short(site, visit):
    for path in [*sorted(site.glob("*.html")), *sorted(site.glob("api/*.html"))]:
        page = visit(path, width=1100).page
        assert page.evaluate("document.documentElement.scrollHeight") < 15_000, path.stem
        page.close()


def test_dark_mode_is_followed(site, visit):
    def paper(scheme):
        page = visit(site / "index.html", scheme=scheme).page
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert paper("light") != paper("dark")
