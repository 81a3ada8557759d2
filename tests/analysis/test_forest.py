# SPDX-License-Identifier: LGPL-2.1-or-later
"""The overview of effects: what it shows must not flatten what it is looked at for."""

from timens_analysis.figures.forest import Bar, _draw
from timens_analysis.figures.sheet import Axis, Dots, Label, Sheet
from timens_analysis.stats.describe import Interval

AXIS = Axis(-1.0, 3.0, 100.0, 500.0)


def drawn(low: float, estimate: float, high: float) -> Sheet:
    sheet = Sheet("", "", 600, 100)
    _draw(sheet, AXIS, Bar("timens", Interval(low, estimate, high), "#000000", "circle"), 50)
    return sheet


def test_an_effect_beyond_the_axis_is_an_arrow_and_a_number():
    for effect, told in ((58.2, "+58"), (-12.4, "\u221212")):
        marks = drawn(effect - 1, effect, effect + 1).marks
        assert [m.text for m in marks if isinstance(m, Label)] == [told]
        assert not [m for m in marks if isinstance(m, Dots)]


def test_an_effect_on_the_axis_is_a_dot_where_it_belongs():
    marks = drawn(0.5, 1.0, 9.0).marks
    assert [m.points for m in marks if isinstance(m, Dots)] == [[(300.0, 50)]]
