"""Make the pictures of docs/report.md: python docs/screenshots.py

Needs Chromium on the path, and playwright and Pillow, which come with the extra ``dev``.
"""

from __future__ import annotations

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits

import ensemblage as en

HERE = Path(__file__).parent
#: Name, width, height, colours, the section at the top.
SHOTS = [
    ("report", 1000, 860, "light", None),
    ("report-heatmap", 1000, 900, "light", "heatmap"),
    ("report-phone", 400, 760, "dark", "map"),
]


def main() -> None:
    features, digits = load_digits(return_X_y=True)
    votes = en.EnsembleClustering(10, random_state=0).fit(features).votes_  # as in the demo
    model = en.Consensus(10, random_state=0).fit(votes)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder, "report.html")
        en.report.write(model, page, features=features, truth=digits, title="Handwritten digits")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, width, height, scheme, section in SHOTS:
            size = {"width": width, "height": height}
            tab = browser.new_context(viewport=size, color_scheme=scheme).new_page()
            tab.goto(page.as_uri())
            if section is not None:
                tab.evaluate("(id) => document.getElementById(id).scrollIntoView()", section)
            tab.wait_for_timeout(1000)
            picture = Image.open(BytesIO(tab.screenshot())).convert("RGB")
            picture.quantize(256, dither=Image.Dither.NONE).save(
                HERE / f"{name}.png", optimize=True
            )
        browser.close()


if __name__ == "__main__":
    main()
