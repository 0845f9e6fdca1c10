"""Make the pictures of docs/report.md and docs/tutorial.md: python docs/screenshots.py

Needs Chromium on the path, and playwright and Pillow, which come with the extra ``dev``.
"""

from __future__ import annotations

import shutil
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits, load_wine

import ensemblage as en

HERE = Path(__file__).parent
#: Name, report, width, the sections shown: from the top of one to the end of another.
SHOTS = [
    ("report", "digits", 1000, "summary", "summary"),
    ("report-heatmap", "digits", 1000, "heatmap", "heatmap"),
    ("report-phone", "digits", 400, "map", "map"),
    ("report-wines", "wines", 1000, "summary", "summary"),
]
#: Pixels above the first section and below the last one.
MARGIN = 12


def write_reports(folder: Path) -> None:
    """Write a report on the digits, as of the demo, and one on the wines of the tutorial."""
    features, digits = load_digits(return_X_y=True)
    votes = en.EnsembleClustering(10, random_state=0).fit(features).votes_
    model = en.Consensus(10, random_state=0).fit(votes)
    page = folder / "digits.html"
    en.report.write(model, page, features=features, truth=digits, title="Handwritten digits")
    wines = load_wine().data
    settings: dict[str, Any] = {"n_members": 50, "scale": "standard", "random_state": 0}
    votes = en.EnsembleClustering(**settings).fit(wines).votes_
    model = en.Consensus(random_state=0).fit(votes)
    en.report.write(model, folder / "wines.html", features=wines, title="votes.csv")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_reports(Path(folder))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, report, width, first, last in SHOTS:
            size = {"width": width, "height": 900}
            tab = browser.new_context(viewport=size, bypass_csp=True).new_page()
            tab.goto(Path(folder, f"{report}.html").as_uri())
            tab.add_style_tag(content="nav { position: static !important; }")
            tab.evaluate("(id) => document.getElementById(id).scrollIntoView()", last)
            tab.wait_for_timeout(1000)  # pictures are drawn when they come into view
            top, bottom = (tab.locator(f"#{id}").bounding_box() for id in (first, last))
            assert top is not None
            assert bottom is not None
            above = tab.evaluate("scrollY") + top["y"] - MARGIN
            height = bottom["y"] + bottom["height"] - top["y"] + 2 * MARGIN
            clip = {"x": 0, "y": 0 if first == "summary" else above, "width": width}
            clip["height"] = above + height - clip["y"]
            picture = Image.open(BytesIO(tab.screenshot(full_page=True, clip=clip))).convert("RGB")
            picture.quantize(256, dither=Image.Dither.NONE).save(
                HERE / f"{name}.png", optimize=True
            )
        browser.close()


if __name__ == "__main__":
    main()
