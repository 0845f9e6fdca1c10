"""What tests of consensus clustering need: `quorate.testing.strategies` draws ensembles.

It needs hypothesis, which the extra ``testing`` installs.
"""
