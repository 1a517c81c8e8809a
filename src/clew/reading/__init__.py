"""Questions → pattern, evidence and answer, without a model."""
