"""Warning about features whose scales are so small that distances ignore them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ensemblage._messages import Message, Parameter
from ensemblage._validate.notices import UnscaledFeaturesWarning, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ensemblage._types import FloatArray

#: Largest accepted ratio of scales. Squared distances then differ by its square.
LARGEST_RATIO = 100.0
_SMALL = 0.1  # share of features that are ignored as the smallest


def warn_of_scales(deviations: FloatArray, ranges: FloatArray, names: Sequence[Any] | None) -> None:
    """Warn if the scales of features differ by more than `LARGEST_RATIO`.

    Both standard deviations and ranges must differ, the largest from the smallest tenth. A rarely
    lit pixel has a small deviation, but the range of the others; a single outlier changes a range,
    but hardly a deviation.
    """
    varies = np.flatnonzero((ranges > 0) & (deviations > 0))
    if len(varies) < 2:
        return
    by_size = varies[np.argsort(deviations[varies], kind="stable")]
    small, large = int(by_size[int(_SMALL * (len(varies) - 1))]), int(by_size[-1])
    some_ranges = np.sort(ranges[varies])
    ratios = (
        deviations[large] / deviations[small],
        some_ranges[-1] / some_ranges[int(_SMALL * (len(varies) - 1))],
    )
    if not min(ratios) > LARGEST_RATIO:
        return
    spread = deviations[varies] / deviations[large]
    share = 1.0 / float((spread**2).sum())
    message = Message(
        "The scales of the features differ by a factor of {ratio}: column {large} has a standard"
        " deviation of {widest:.3g} and {share} of the total variance, column {small} has"
        " {narrowest:.3g}. Distances hardly depend on small features. Use {scale}, unless all"
        " features are in one unit.",
        ratio=_rounded(ratios[0]),
        large=_called(large, names),
        widest=deviations[large],
        share=_percent(share),
        small=_called(small, names),
        narrowest=deviations[small],
        scale=Parameter("scale", "standard"),
    )
    warn(message, UnscaledFeaturesWarning)


def _called(place: int, names: Sequence[Any] | None) -> str:
    return f"{place} (counted from 0)" if names is None else repr(str(names[place]))


def _rounded(ratio: float) -> str:
    """Return a number rounded to two digits, for messages."""
    return f"{float(f'{ratio:.2g}'):,.0f}" if ratio < 1e9 else f"{ratio:.0e}"


def _percent(share: float) -> str:
    return f"{min(100 * share, 99.9):.1f} %" if share > 0.9 else f"{100 * share:.0f} %"
