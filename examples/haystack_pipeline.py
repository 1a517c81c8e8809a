"""Clew in a Haystack pipeline (needs: pip install 'clew[haystack]')."""

from pathlib import Path

from haystack import Pipeline

from clew.integrations.haystack import ClewAnswerer

FILMS = Path(__file__).with_name("films.tsv")

pipeline = Pipeline()
pipeline.add_component("clew", ClewAnswerer(FILMS))
told = pipeline.run({"clew": {"query": "Who directed Memento?"}})["clew"]
print(told["answer"], [document.content for document in told["documents"]])
