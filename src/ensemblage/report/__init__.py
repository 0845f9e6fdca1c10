"""Reports on a consensus, as one self-contained HTML file.

>>> import ensemblage as en
>>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
>>> page = en.report.html(en.EAC(n_clusters=2).fit(votes), title="Six objects")
>>> page.startswith("<!doctype html>")
True
"""

from ensemblage.report._page import check_suffix
from ensemblage.report._report import html, need_jinja, write

__all__ = ["check_suffix", "html", "need_jinja", "write"]
