# SPDX-License-Identifier: LGPL-2.1-or-later
"""The difference of two workers that took turns: batch against batch, neighbours in time.

The cost of a call on a shared machine jumps from one spell to the next.  Two medians, each over
all batches of one worker, differ by chance when the spells cut both samples differently; batch i
of one worker and batch i of the other met the same spell, and have the same place in their turn.
The median over i is still one value for each block: the process is the unit
(docs/decisions/0452-neighbours.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from timens_analysis.model import Integers


def differences(
    records: Sequence[Mapping[str, Any]], ticks: Mapping[str, Integers]
) -> dict[tuple[str, str], float]:
    """(arm, other arm) -> ticks of a batch, arm - other: the median over batches.

    Parameters
    ----------
    records : of one metric in one block, one for each arm
    ticks : arm -> shape (n,), in the order of measuring

    Returns
    -------
    Only pairs that took turns of the same length: batch i of others did not run side by side.
    Exchanging the two arms changes the sign and nothing else, so that under the hypothesis of no
    difference the random order of arms makes the value symmetric around 0.
    """
    found = {}
    for one, other in combinations(sorted(records, key=lambda record: str(record["arm"])), 2):
        x, y = ticks[one["arm"]], ticks[other["arm"]]
        turns = _turns(one)
        if turns is not None and turns == _turns(other) and x.size == y.size > 0:
            found[one["arm"], other["arm"]] = float(np.median(x - y))
    return found


def _turns(record: Mapping[str, Any]) -> tuple[int, int] | None:
    turn = record.get("batches_per_turn")
    return None if turn is None else (int(turn), int(record["batch"]))
