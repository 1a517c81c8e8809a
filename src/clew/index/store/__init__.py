"""The index directory: generations, checksums, lock, and named arrays."""
