"""Walk&Retrieve: walks as sentences, retrieved by similarity and read by a model."""
