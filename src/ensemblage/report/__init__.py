"""Reports to look at: what a consensus found, in one HTML file that opens anywhere.

>>> import ensemblage as en
>>> votes = [[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 2, 1]]
>>> page = en.report.html(en.EAC(n_clusters=2).fit(votes), title="Six objects")
>>> page.startswith("<!doctype html>")
True
"""

from ensemblage.report._report import html, need_jinja, write

__all__ = ["html", "need_jinja", "write"]
