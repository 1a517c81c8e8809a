"""Vectors of labels and triples, distances by them, and backends that find the nearest."""
