"""Tools for tests of consensus clustering: `ensemblage.testing.strategies` draws ensembles.

It needs hypothesis, which the extra ``testing`` installs.
"""
