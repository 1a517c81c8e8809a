from __future__ import annotations

import pytest

from clew.graph.match import candidate_lists, candidate_tiers


@pytest.fixture
def small_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds as those of a large graph, on a small one."""
    monkeypatch.setattr(candidate_lists, "FIRST_ROUND", 2)
    monkeypatch.setattr(candidate_lists, "ROUND_GROWTH", 2)
    monkeypatch.setattr(candidate_tiers, "WORTH_A_CUT", 2)
