"""What is left of the odds of a candidate against which words of the question tell."""

from __future__ import annotations

IGNORED, TURNED, UNSAID, LEFT_OPEN = 0.02, 0.02, 0.2, 0.15
"""What is left of the odds of a candidate that ignores a word of comparison beside a value, or at last one
that is written as a name; compares otherwise than words say; compares where no word says so; leaves a name
open. Set by what words mean, not fitted."""
