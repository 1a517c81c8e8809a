"""Counts and sizes for people."""

import pytest

from clew.text.counted import byte_size, counted


@pytest.mark.parametrize(
    ("count", "told"),
    [
        *[(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB")],
        *[(2_500_000_000, "2.5 GB"), (1_234_500_000_000, "1,234.5 GB")],
    ],
)
def test_bytes_have_the_unit_that_leaves_few_digits(count: int, told: str) -> None:
    assert byte_size(count) == told


def test_a_count_of_one_has_the_noun_alone() -> None:
    assert [counted(n, "alias", "aliases") for n in (0, 1, 2000)] == ["0 aliases", "1 alias", "2,000 aliases"]
