"""Units of time, length, mass, volume and money, and words for powers of ten."""

from __future__ import annotations

import re
from collections.abc import Sequence

UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", 0.001)),
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
    **dict.fromkeys(("yard", "yards", "yd", "yds"), ("length", 0.9144)),
    **dict.fromkeys(("mile", "miles"), ("length", 1609.344)),
    **dict.fromkeys(("milligram", "milligrams", "mg"), ("mass", 1e-6)),
    **dict.fromkeys(("gram", "grams", "gramme", "grammes", "g"), ("mass", 0.001)),
    **dict.fromkeys(("kilogram", "kilograms", "kilo", "kilos", "kg", "kgs"), ("mass", 1.0)),
    **dict.fromkeys(("tonne", "tonnes"), ("mass", 1000.0)),
    **dict.fromkeys(("ounce", "ounces", "oz"), ("mass", 0.028349523125)),
    **dict.fromkeys(("pound", "pounds", "lb", "lbs"), ("mass", 0.45359237)),
    **dict.fromkeys(("millilitre", "millilitres", "milliliter", "milliliters", "ml"), ("volume", 0.001)),
    **dict.fromkeys(("litre", "litres", "liter", "liters", "l"), ("volume", 1.0)),
}
"""What a unit measures, and how much of the measure's base unit it is."""
CURRENCIES = {
    **dict.fromkeys(("$", "us$", "usd"), "USD"), **dict.fromkeys(("€", "eur"), "EUR"),
    **dict.fromkeys(("£", "gbp"), "GBP"), **dict.fromkeys(("¥", "jpy"), "JPY"),
    **dict.fromkeys(("₹", "inr"), "INR"), **dict.fromkeys(("₽", "rub"), "RUB"),
    **dict.fromkeys(("₩", "krw"), "KRW"), **dict.fromkeys(("₺", "try"), "TRY"),
    **dict.fromkeys(("zł", "pln"), "PLN"),
    **{code.lower(): code for code in "CHF CNY CAD AUD NZD SEK NOK DKK CZK HUF BRL MXN ZAR SGD HKD".split()},
}  # fmt: skip
"""Signs and codes of currencies, in lower case, by their codes."""
SCALES = {
    **{"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12},
    **{"k": 1e3, "grand": 1e3, "mn": 1e6, "mio": 1e6, "bn": 1e9, "mrd": 1e9},
}
"""What a word behind a number multiplies it by."""
_COUNTED_IN = {f"{word}{s}": SCALES[word] for word in ("thousand", "million", "billion") for s in ("", "s")}
_NEXT = re.compile(r"[\s-]*([A-Za-z]+)")


def unit_behind(text: str, stop: int) -> str:
    """The unit that is the word behind a number, empty where it is none."""
    word = _NEXT.match(text, stop)
    name = word[1].lower() if word else ""
    return name if name in UNITS else ""


def factor_to(unit: str, label: Sequence[str]) -> float:
    """How many of the unit that is among the words of a relation's name one `unit` is; 1 where none is."""
    measure, unit_size = UNITS.get(unit, ("", 1.0))
    own = unit_in(label, measure)
    return unit_size / UNITS[own][1] if own else 1.0


def counted_in(label: Sequence[str]) -> float:
    """What the words of a relation's name say that its numbers are counted in: *millions*; else 1."""
    return max((_COUNTED_IN.get(word, 1.0) for word in label), default=1.0)


def unit_in(label: Sequence[str], measure: str = "") -> str:
    """The unit among the words of a relation's name, of any measure or of one; empty without."""
    words = label[: label.index("per")] if "per" in label else label
    return next(
        (
            word
            for word in words
            if word in UNITS and (len(word) > 1 or word == words[-1]) and measure in ("", UNITS[word][0])
        ),
        "",
    )
