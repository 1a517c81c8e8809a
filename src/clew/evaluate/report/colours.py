"""Colours of the page and of its charts, in both themes; the style sheets name them as `var(--NAME)`."""

from __future__ import annotations

_SERIES = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7d00"),
    *("#666666", "#7b3fa0", "#9acd32", "#a0522d", "#1f3a93", "#ff8fab", "#00796b"),
)
"""Shades that people with any colour vision tell apart (Okabe & Ito, then some more)."""
_SERIES_IN_DARK = (
    *("#4aa3d8", "#f0b53b", "#35c49a", "#e09cc4", "#8fd0f5", "#f08a4b", "#c9ba3a"),
    *("#aaaaaa", "#b98ad6", "#c4e66e", "#cd8a63", "#8094e8", "#ffb3c6", "#4db6a9"),
)
SHADES = len(_SERIES)
LIGHT_COLOURS = {
    **{"bg": "#fff", "fg": "#1b1f24", "soft": "#5c6570", "line": "#d9dee4"},
    **{"panel": "#f5f7f9", "link": "#0b5cad", "shade": "#0003"},
    **{f"c{n}": colour for n, colour in enumerate(_SERIES)},
}
DARK = {
    **{"bg": "#14171a", "fg": "#e6e9ec", "soft": "#9aa4ae", "line": "#333a41"},
    **{"panel": "#1d2226", "link": "#6db3f2", "shade": "#fff4"},
    **{f"c{n}": colour for n, colour in enumerate(_SERIES_IN_DARK)},
}


def shade_rules() -> str:
    """Write the rules for the classes `c0`, `c1`, … of series."""
    return "".join(f".c{n} {{ fill: var(--c{n}); stroke: var(--c{n}); }}\n" for n in range(SHADES))
