# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many questions at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p: Sequence[float]) -> list[float]:
    """p values adjusted so that the chance of any false alarm stays at alpha.

    Holm, Scandinavian Journal of Statistics 6 (1979), 65-70.
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    factors = np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return [float(x) for x in adjusted]
