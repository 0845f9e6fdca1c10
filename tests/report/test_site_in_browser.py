"""The pages of the documentation in a real browser, each opened once at two widths."""

WIDTHS = (1100, 400)
TALLEST = 15_000
#: Generated from records, with wide tables: as long as the results are.
GENERATED = ("results", "_static", "_modules")


class Tour:
    """All pages in one tab of one browser, and what was seen on each."""

    def __init__(self, browser, site):
        self.pages, self.messages, self.requests = {}, {}, {}
        self._name = ""
        context = browser.new_context(viewport={"width": WIDTHS[0], "height": 800}, offline=True)
        page = context.new_page()
        page.on("console", lambda message: self._note(self.messages, message.text))
        page.on("pageerror", lambda error: self._note(self.messages, str(error)))
        page.on("request", lambda request: self._note_request(request.url))
        for path in sorted(site.rglob("*.html")):
            self._name = path.relative_to(site).as_posix()
            if self._name != "search.html" and not self._name.startswith(GENERATED):
                page.goto(path.as_uri())
                self.pages[self._name] = [self._measure(page, width) for width in WIDTHS]
        context.close()

    def _note(self, notes, text):
        notes.setdefault(self._name, []).append(text)

    def _note_request(self, url):
        if not url.startswith(("file:", "data:")):
            self._note(self.requests, url)

    @staticmethod
    def _measure(page, width):
        page.set_viewport_size({"width": width, "height": 800})
        return page.evaluate(
            """() => ({
                height: document.documentElement.scrollHeight,
                overflow: document.documentElement.scrollWidth - innerWidth,
                titles: document.querySelectorAll("h1").length,
                broken: [...document.images].filter(i => i.complete && !i.naturalWidth).length,
                empty: [...document.querySelectorAll("article section")]
                    .filter(section => section.children.length < 2).map(section => section.id),
            })"""
        )

    def where(self, condition):
        """Return the pages, with their width, on which a condition holds."""
        return [
            (name, width)
            for name, measured in self.pages.items()
            for width, one in zip(WIDTHS, measured, strict=True)
            if condition(one)
        ]


def test_every_page_opens_without_a_fault(site, chromium):
    """One test, so that one process makes the tour."""
    tour = Tour(chromium, site)
    for part in ("", "gallery/", "api/", "decisions/"):
        assert sum(name[: name.rfind("/") + 1] == part for name in tour.pages) > 5, part
    faults = {
        "messages": tour.messages,
        "requests": tour.requests,
        "wider than the window": tour.where(lambda page: page["overflow"] > 0),
        "too long": tour.where(lambda page: page["height"] >= TALLEST),
        "titles": tour.where(lambda page: page["titles"] != 1),
        "empty sections": tour.where(lambda page: page["empty"]),
        "pictures not found": tour.where(lambda page: page["broken"]),
    }
    assert {fault: pages for fault, pages in faults.items() if pages} == {}


def test_dark_mode_is_followed(site, visit):
    def paper(scheme):
        page = visit(site / "index.html", scheme=scheme).page
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert paper("light") != paper("dark")
