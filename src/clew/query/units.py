"""Units of time, length, mass and volume: what a number in one is in that which a relation's name says."""

from __future__ import annotations

import re
from collections.abc import Sequence

UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("second", "seconds", "sec", "secs"), ("time", 1.0)),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), ("time", 60.0)),
    **dict.fromkeys(("hour", "hours", "hr", "hrs"), ("time", 3600.0)),
    **dict.fromkeys(("day", "days"), ("time", 86_400.0)),
    **dict.fromkeys(("week", "weeks"), ("time", 604_800.0)),
    **dict.fromkeys(("millimetre", "millimetres", "millimeter", "millimeters", "mm"), ("length", 0.001)),
    **dict.fromkeys(("centimetre", "centimetres", "centimeter", "centimeters", "cm"), ("length", 0.01)),
    **dict.fromkeys(("metre", "metres", "meter", "meters", "m"), ("length", 1.0)),
    **dict.fromkeys(("kilometre", "kilometres", "kilometer", "kilometers", "km"), ("length", 1000.0)),
    **dict.fromkeys(("inch", "inches"), ("length", 0.0254)),
    **dict.fromkeys(("foot", "feet", "ft"), ("length", 0.3048)),
    **dict.fromkeys(("mile", "miles"), ("length", 1609.344)),
    **dict.fromkeys(("gram", "grams", "gramme", "grammes", "g"), ("mass", 0.001)),
    **dict.fromkeys(("kilogram", "kilograms", "kilo", "kilos", "kg"), ("mass", 1.0)),
    **dict.fromkeys(("tonne", "tonnes"), ("mass", 1000.0)),
    **dict.fromkeys(("millilitre", "millilitres", "milliliter", "milliliters", "ml"), ("volume", 0.001)),
    **dict.fromkeys(("litre", "litres", "liter", "liters", "l"), ("volume", 1.0)),
}
"""What a unit measures, and how much of the measure's base unit it is."""
_NEXT = re.compile(r"[\s-]*([A-Za-z]+)")


def unit_behind(text: str, stop: int) -> str:
    """The unit that is the word behind a number, empty where it is none."""
    word = _NEXT.match(text, stop)
    name = word[1].lower() if word else ""
    return name if name in UNITS else ""


def factor_to(unit: str, label: Sequence[str]) -> float:
    """How many of the unit that is among the words of a relation's name one `unit` is; 1 where none is."""
    measure, unit_size = UNITS.get(unit, ("", 1.0))
    words = label[: label.index("per")] if "per" in label else label
    label_units = [UNITS[w] for w in words if w in UNITS and (len(w) > 1 or w == words[-1])]
    return unit_size / next(
        (label_size for label_measure, label_size in label_units if label_measure == measure), unit_size
    )
