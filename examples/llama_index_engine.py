"""Clew as a query engine of LlamaIndex (needs: pip install 'clew[llama-index]')."""

from pathlib import Path

from clew import Clew
from clew.integrations.llama_index import ClewQueryEngine

FILMS = Path(__file__).with_name("films.tsv")

with Clew.open(FILMS) as films:
    response = ClewQueryEngine(films).query("Who directed Memento?")
    print(response, [node.text for node in response.source_nodes])
