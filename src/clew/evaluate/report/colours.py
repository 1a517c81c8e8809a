"""Colours of series, which people with any colour vision tell apart (Okabe & Ito, then some more)."""

from __future__ import annotations

LIGHT = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7d00"),
    *("#666666", "#7b3fa0", "#9acd32", "#a0522d", "#1f3a93", "#ff8fab", "#00796b"),
)
DARK = (
    *("#4aa3d8", "#f0b53b", "#35c49a", "#e09cc4", "#8fd0f5", "#f08a4b", "#c9ba3a"),
    *("#aaaaaa", "#b98ad6", "#c4e66e", "#cd8a63", "#8094e8", "#ffb3c6", "#4db6a9"),
)
SHADES = len(LIGHT)


def css() -> str:
    """Write the rules of the page for the classes `c0`, `c1`, …, in both themes."""
    shades = "".join(f".c{n} {{ fill: var(--c{n}); stroke: var(--c{n}); }}\n" for n in range(SHADES))
    dark = f"@media (prefers-color-scheme: dark) {{ {_root(DARK)} }}"
    return f"{_root(LIGHT)}\n{dark}\n{shades}"


def _root(colours: tuple[str, ...]) -> str:
    named = "".join(f" --c{n}: {colour};" for n, colour in enumerate(colours))
    return f":root {{{named} }}"
