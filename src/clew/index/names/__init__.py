"""The names index: exact spans by hash, typos by trigrams, names that contain a text; `update` renews it."""
