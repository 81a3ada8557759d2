# SPDX-License-Identifier: LGPL-2.1-or-later
"""Includes point downwards only: base <- model <- steps <- engine <- front <- programs."""

import re
from pathlib import Path

LAUNCHER = Path(__file__).parents[2] / "launcher"
LAYERS = ["base", "model", "steps", "engine", "front"]
FORBIDDEN = {("steps", "steps"), ("front", "steps")}  # order belongs to engine/plan_*.c alone


def layer(path: Path) -> str:
    return path.relative_to(LAUNCHER).parts[0] if path.parent != LAUNCHER else "front"


def test_no_include_points_upwards_or_sideways():
    wrong = []
    for source in sorted(LAUNCHER.rglob("*.[ch]")):
        mine = layer(source)
        if mine not in LAYERS:
            continue  # a program in a folder of its own may include everything
        for target in re.findall(r'#include "([^"]+)"', source.read_text(encoding="utf-8")):
            theirs = target.split("/")[0]
            own_header = target == f"{mine}/{source.stem}.h"
            upwards = LAYERS.index(theirs) > LAYERS.index(mine)
            if upwards or ((mine, theirs) in FORBIDDEN and not own_header):
                wrong.append(f"{source.relative_to(LAUNCHER)} includes {target}")
    assert not wrong, "\n".join(wrong)
