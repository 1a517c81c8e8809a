"""What is left of the odds of a candidate against which words of the question tell."""

from __future__ import annotations

IGNORED, TURNED, LOOSE, UNSAID, LEFT_OPEN = 0.02, 0.02, 0.3, 0.2, 0.15
"""What is left of the odds of a candidate that ignores a word of comparison beside a value, or at last one
that is written as a name; turns a comparison around; takes *more* for *at least* or the other way; compares
where no word says so; leaves a name open. Set by what words mean, not fitted."""
