"""Reports in a real browser: nothing fails, nothing is fetched, everything can be used."""

import csv

import numpy as np
import pytest
from report_inputs import HOSTILE, noisy_votes

import ensemblage as en
from ensemblage._colours import cluster_codes, cluster_colours

PLOTS = ["clusters", "heatmap", "map", "tree", "truth", "members", "k"]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Return a report with every section."""
    votes, truth = noisy_votes(300, 12, 4)
    votes[:, 11] = votes[:, 10]  # a member to look at
    path = tmp_path_factory.mktemp("report") / "report.html"
    en.report.write(
        en.PTA(4).fit(votes),
        path,
        truth=truth,
        features=np.random.default_rng(0).normal(size=(300, 3)) + truth[:, None],
        ids=[f"cell {i}" for i in range(300)],
    )
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, hostile_page):
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    path.write_text(hostile_page, encoding="utf-8")
    return path


def inked(page, plot):
    """Return how many colours a plot's first canvas has, or how many shapes its drawing has."""
    return page.evaluate(
        """(plot) => {
            const holder = document.querySelector(`[data-plot=${plot}]`);
            const canvas = holder.querySelector("canvas");
            if (!canvas) return holder.querySelectorAll("svg path, svg rect, svg circle").length;
            const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(pixels.data.buffer)).size;
        }""",
        plot,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1100])
def test_every_plot_is_drawn_without_a_complaint(visit, report, width, scheme):
    found = visit(report, width=width, scheme=scheme)
    assert found.page.evaluate("document.documentElement.dataset.ready") == "yes"
    found.page.wait_for_timeout(200)
    for plot in PLOTS:
        assert inked(found.page, plot) > 3, plot
    assert found.page.locator("table").count() == 4
    found.assert_clean()


def test_explanations_open_and_still_fit_a_phone(visit, report):
    found = visit(report, width=400)
    summaries = found.page.locator("details.how > summary")
    assert summaries.count() == len(PLOTS)
    for place in range(len(PLOTS)):
        summaries.nth(place).click()
    assert found.page.locator("details.how[open]").count() == len(PLOTS)
    found.assert_clean()


def test_tables_sort_find_and_show_more(visit, report):
    page = visit(report).page
    table = page.locator("#table-objects")

    def column(place):
        return table.locator(f"tbody tr td:nth-child({place})").all_inner_texts()

    sure = [float(text) for text in column(4)]
    assert sure == sorted(sure)  # the least sure come first
    heading = table.get_by_role("button", name="confidence")
    heading.click()
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    sure = [float(text) for text in column(4)]
    assert sure == sorted(sure, reverse=True)
    table.get_by_role("button", name="object").click()
    assert column(2)[:3] == ["cell 0", "cell 1", "cell 2"]  # by number, not by letter
    page.get_by_label("Find in the table of objects").fill("cell 29")
    assert set(column(2)) == {"cell 29", *(f"cell 29{digit}" for digit in range(10))}
    page.get_by_label("Find in the table of objects").fill("")
    before = len(column(2))
    page.locator("[data-table=objects]").get_by_role("button", name="Show more").click()
    assert len(column(2)) == before + 100


def test_tables_download_as_csv(visit, report, tmp_path):
    page = visit(report).page
    with page.expect_download() as waiting:
        page.locator("[data-table=objects]").get_by_role("button", name="Download CSV").click()
    path = tmp_path / "objects.csv"
    waiting.value.save_as(path)
    assert waiting.value.suggested_filename == "objects.csv"
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 300
    assert rows[7]["object"] == "cell 7"
    assert set(rows[0]) >= {"row", "cluster", "confidence", "next cluster", "true class"}


def test_the_theme_follows_the_system_and_the_button(visit, report):
    def paper(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = visit(report), visit(report, scheme="dark")
    colours = [paper(light.page), paper(dark.page)]
    assert colours == ["rgb(244, 246, 249)", "rgb(15, 19, 25)"]
    light.page.locator("#theme").click()
    dark.page.locator("#theme").click()
    assert [paper(light.page), paper(dark.page)] == colours[::-1]
    light.assert_clean()
    light.page.locator("#theme").click()
    assert paper(light.page) == colours[0]


def test_hovering_names_objects_and_the_heatmap_zooms(visit, report):
    found = visit(report)
    page, tip = found.page, found.page.locator("#tip")
    heatmap = page.locator("[data-plot=heatmap] canvas").first
    heatmap.scroll_into_view_if_needed()
    box = heatmap.bounding_box()
    page.mouse.move(box["x"] + 120, box["y"] + 150)
    assert tip.inner_text().count("cell ") == 2
    assert "votes together: " in tip.inner_text()
    page.locator("[data-plot=heatmap]").get_by_role("button", name="Random walks").click()
    page.mouse.move(box["x"] + 121, box["y"] + 150)
    assert "random walks: " in tip.inner_text()
    zoom = "document.querySelector('[data-plot=heatmap] canvas').dataset.zoom"
    page.locator("[data-plot=heatmap]").get_by_role("button", name="Zoom in").click()
    assert page.evaluate(zoom) == "1.60"
    page.keyboard.down("Control")
    page.mouse.move(box["x"] + 120, box["y"] + 150)
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_function(f"Number({zoom}) > 3")
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 90)  # dragging moves the picture
    page.mouse.up()
    page.mouse.move(box["x"] + 120, box["y"] + 150)
    assert tip.inner_text().count("cell ") == 2
    page.locator("[data-plot=heatmap]").get_by_role("button", name="Show all").click()
    assert page.evaluate(zoom) == "1.00"
    heatmap.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(zoom) == "1.60"
    page.keyboard.press("0")
    assert page.evaluate(zoom) == "1.00"
    found.assert_clean()


def test_a_finger_is_told_names_too(visit, report):
    found = visit(report, width=400, touch=True)
    page, tip = found.page, found.page.locator("#tip")
    heatmap = page.locator("[data-plot=heatmap] canvas").first
    heatmap.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    box = heatmap.bounding_box()
    page.touchscreen.tap(box["x"] + 120, box["y"] + 150)
    assert tip.inner_text().count("cell ") == 2
    page.touchscreen.tap(box["x"] + 120, box["y"] - 60)
    assert tip.is_hidden()
    found.assert_clean()


def test_the_map_names_its_points_and_changes_its_colours(visit, report):
    found = visit(report)
    page, tip = found.page, found.page.locator("#tip")
    holder = page.locator("[data-plot=map]")
    canvas = holder.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = page.evaluate(
        """(canvas) => {
            const pen = canvas.getContext("2d");
            const { data, width } = pen.getImageData(0, 0, canvas.width, canvas.height);
            const at = data.findIndex((value, place) => place % 4 === 3 && value > 80) >> 2;
            return [at % width, Math.floor(at / width)];
        }""",
        canvas.element_handle(),
    )
    page.mouse.move(box["x"] + x, box["y"] + y)
    assert tip.inner_text().startswith("cell ")
    assert "class: " in tip.inner_text()
    for value in ("confidence", "true class"):
        holder.locator("select").select_option(value)
    assert holder.locator(".keys button").count() == 4
    holder.locator(".keys button").first.click()
    assert holder.locator(".keys button").first.get_attribute("aria-pressed") == "true"
    assert "Objects with similar votes are near each other." in holder.inner_text()
    section = page.locator("#map")
    holder.get_by_role("button", name="By features").click()
    assert "of the variance" in holder.inner_text()
    assert "similar votes" not in section.locator(".lead").inner_text() + holder.inner_text()
    assert "features" in canvas.get_attribute("aria-label")
    holder.locator("select").select_option("confidence")
    assert "Faint points" not in holder.inner_text()  # none is faint by then
    found.assert_clean()


def test_no_table_is_clipped_on_a_wide_screen(visit, report):
    for width in (1200, 1600):
        page = visit(report, width=width).page
        clipped = page.evaluate(
            """[...document.querySelectorAll(".wide")]
                .filter((box) => box.scrollWidth > box.clientWidth + 1)
                .map((box) => box.firstChild.id)"""
        )
        assert clipped == []


def test_clusters_have_the_colours_of_the_plots(visit, report):
    page = visit(report).page
    dots = page.locator("#table-clusters .dot")
    shown = [dot.evaluate("(dot) => getComputedStyle(dot).backgroundColor") for dot in dots.all()]
    expected = np.rint(255 * cluster_colours(4)).astype(int).tolist()
    assert shown == [f"rgb({r}, {g}, {b})" for r, g, b in expected]
    bars = page.locator("[data-plot=clusters] svg g rect[rx='3']")
    fills = {bar.get_attribute("fill") for bar in bars.all()}
    assert fills == set(cluster_codes(4))


@pytest.mark.parametrize("width", [400, 1200])
def test_doubts_stand_above_the_summary(visit, tmp_path, width):
    votes = np.r_[[[0, 0, 0]] * 100, [[1, 1, 1]] * 100, [[0, 0, 1]]]
    path = tmp_path / "report.html"
    with pytest.warns(en.UntrustedMethodWarning):
        model = en.PTGP(2, random_state=0).fit(votes)
    en.report.write(model, path)
    found = visit(path, width=width)
    banner = found.page.locator(".banner")
    assert "may be two groups" in banner.inner_text()
    below = found.page.locator("#summary").bounding_box()["y"]
    assert banner.bounding_box()["y"] + banner.bounding_box()["height"] <= below
    found.assert_clean()


def test_a_model_without_objects_opens(visit, tmp_path):
    votes, _ = noisy_votes(80, 6, 3)
    en.Consensus(3, random_state=0).fit(votes).save(tmp_path / "m.ensemblage", objects=False)
    path = tmp_path / "report.html"
    en.report.write(en.load(tmp_path / "m.ensemblage"), path)
    found = visit(path)
    table = found.page.locator("#table-objects")
    assert table.locator("tbody tr").count() == 15
    assert table.locator("thead th").first.inner_text().startswith("object")
    assert "microcluster" in table.inner_text()
    found.assert_clean()


@pytest.mark.parametrize("width", [400, 1100])
def test_a_hostile_ensemble_does_nothing(visit, hostile, width, tmp_path):
    found = visit(hostile, width=width)
    page = found.page
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.images.length + document.scripts.length") == 2
    assert page.locator("h1").inner_text() == HOSTILE[2]
    table = page.locator("#table-clusterings")
    page.locator("[data-table=members]").get_by_role("button", name="Show more").click()
    shown = table.locator("tbody tr td:first-child")
    assert shown.nth(0).inner_text() == "<script>window.pwned=1</script>0"
    long = shown.nth(14).locator("details")
    assert len(long.locator("summary").inner_text()) <= 40
    long.locator("summary").click()
    assert "a" * 10_000 in long.inner_text()  # all of it, on demand
    found.assert_clean()
    with page.expect_download() as waiting:
        page.locator("[data-table=members]").get_by_role("button", name="Download CSV").click()
    waiting.value.save_as(tmp_path / "members.csv")
    with (tmp_path / "members.csv").open(encoding="utf-8-sig", newline="") as stream:
        names = [row["clustering"] for row in csv.DictReader(stream)]
    assert names[:2] == [f"{HOSTILE[0]}0", f"{HOSTILE[1]}1"]
    assert names[11] == "'=HYPERLINK(1)11"  # no formula to a spreadsheet
    for plot in ("heatmap", "members", "truth", "map"):
        canvas = page.locator(f"[data-plot={plot}] canvas").first
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        for x in range(30, int(box["width"]), 40):
            page.mouse.move(box["x"] + x, box["y"] + box["height"] / 2)
    for button in table.locator("thead button").all():
        button.click()
    assert page.evaluate("window.pwned") is None
    found.assert_clean()


def test_the_policy_holds_against_a_script_that_is_there(visit, hostile, tmp_path):
    """If escaping failed one day, the browser would still refuse to run what got in."""
    evil = "<script>window.pwned=1</script><p onclick='window.pwned=2' id='evil'>x</p></main>"
    path = tmp_path / "broken.html"
    text = hostile.read_text(encoding="utf-8").replace("</main>", evil)
    path.write_text(text, encoding="utf-8")
    found = visit(path)
    found.page.locator("#evil").click()
    assert found.page.evaluate("window.pwned") is None
    assert any("Content Security Policy" in text for text in found.complaints)
    assert found.requests == []


@pytest.mark.parametrize(
    ("votes", "k"), [([[1]], 1), ([[1], [1], [2]], 2), ([[1, 1], [1, 1], [1, 1]], 1)]
)
def test_the_smallest_reports_open(visit, tmp_path, votes, k):
    path = tmp_path / "report.html"
    en.report.write(en.EAC(k).fit(votes), path)
    found = visit(path, width=400)
    assert found.page.evaluate("document.documentElement.dataset.ready") == "yes"
    assert ("next cluster" in found.page.locator("#table-objects thead").inner_text()) == (k > 1)
    caption = found.page.locator("[data-table=clusters] .bar .small").first.inner_text()
    assert caption == ("1 of 1 row" if k == 1 else "2 of 2 rows")
    found.assert_clean()


def test_eight_objects_and_sixty_clusters(visit, tmp_path):
    votes, _ = noisy_votes(400, 6, 70, seed=2)
    for name, model in {
        "eight": en.PTA(2).fit(noisy_votes(8, 3, 2)[0]),
        "sixty": en.PTA(60).fit(votes),
    }.items():
        path = tmp_path / f"{name}.html"
        en.report.write(model, path)
        for width in (400, 1100):
            visit(path, width=width).assert_clean()
