"""What tests of consensus clustering need: `ensemblage.testing.strategies` draws ensembles.

It needs hypothesis, which the extra ``testing`` installs.
"""
