"""Clew in a LangChain chain (needs: pip install 'clew[langchain]')."""

from pathlib import Path

from langchain_core.runnables import RunnableLambda

from clew import Clew
from clew.integrations.langchain import ClewRetriever, clew_runnable

FILMS = Path(__file__).with_name("films.tsv")

with Clew.open(FILMS) as films:
    for document in ClewRetriever(clew=films).invoke("Who directed Memento?"):
        print(document.page_content)
    chain = clew_runnable(films) | RunnableLambda(lambda told: f"It is {told['answer']}.")
    print(chain.invoke("Who directed Memento?"))
