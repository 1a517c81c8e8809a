"""LangChain, LlamaIndex and Haystack: the real libraries ask, and get the answer with its citations."""

import asyncio
from importlib import import_module
from pathlib import Path

import pytest

FILMS = Path(__file__).resolve().parents[2] / "examples" / "films.tsv"
QUESTION, NONE = "Who directed Memento?", "Who painted Memento?"
TEXT = "Memento directed by Christopher Nolan."
TRIPLES = [["Memento", "directed_by", "Christopher Nolan"]]


def integration(name, package):
    """A fixture: the module for a library, where that is installed."""

    @pytest.fixture(name=name)
    def module():
        pytest.importorskip(package, reason=f"{package} is not installed (pip install 'clew[dev]')")
        return import_module(f"clew.integrations.{name}")

    return module


langchain = integration("langchain", "langchain_core")
llama_index = integration("llama_index", "llama_index.core")
haystack = integration("haystack", "haystack")


def test_langchain_retrieves_citations(films, langchain):
    retriever = langchain.ClewRetriever(clew=films)
    (document,) = retriever.invoke(QUESTION)
    assert document.page_content == TEXT
    assert document.metadata["triples"] == TRIPLES
    assert retriever.invoke(NONE) == []
    assert asyncio.run(retriever.ainvoke(QUESTION)) == [document]
    assert retriever.batch([QUESTION, NONE]) == [[document], []]


def test_langchain_runs_in_a_chain(films, langchain):
    from langchain_core.runnables import RunnableLambda

    chain = langchain.clew_runnable(films) | RunnableLambda(lambda told: told["answer"].upper())
    assert chain.invoke(QUESTION) == "CHRISTOPHER NOLAN"
    told = langchain.clew_runnable(films).invoke(NONE)
    assert (told["answer"], told["abstained"]["reason"], told["documents"]) == ("", "unplaced", [])


def test_langchain_has_a_tool(films, langchain):
    tool = langchain.clew_tool(films, about="films")
    assert "films" in tool.description
    assert tool.invoke({"question": QUESTION}) == "Christopher Nolan"
    called = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": QUESTION}})
    assert [document.metadata["triples"] for document in called.artifact] == [TRIPLES]
    assert tool.invoke({"question": NONE}).startswith("No answer: ")


def test_llama_index_retrieves_citations(films, llama_index):
    (node,) = llama_index.ClewRetriever(films).retrieve(QUESTION)
    assert (node.text, node.metadata["triples"]) == (TEXT, TRIPLES)
    assert node.score > 0.9
    assert llama_index.ClewRetriever(films).retrieve(NONE) == []
    assert asyncio.run(llama_index.ClewRetriever(films).aretrieve(QUESTION))[0].text == TEXT


def test_llama_index_has_a_query_engine(films, llama_index):
    engine = llama_index.ClewQueryEngine(films)
    response = engine.query(QUESTION)
    assert str(response) == "Christopher Nolan"
    assert [node.text for node in response.source_nodes] == [TEXT]
    assert engine.query(NONE).metadata["abstained"]["reason"] == "unplaced"
    assert str(asyncio.run(engine.aquery(QUESTION))) == "Christopher Nolan"


def test_haystack_has_a_component(haystack):
    from haystack import Pipeline

    pipeline = Pipeline()
    pipeline.add_component("clew", haystack.ClewAnswerer(FILMS))
    told = pipeline.run({"clew": {"query": QUESTION}})["clew"]
    assert (told["answer"], told["abstained"]) == ("Christopher Nolan", None)
    assert [(d.content, d.meta["triples"]) for d in told["documents"]] == [(TEXT, TRIPLES)]
    none = pipeline.run({"clew": {"query": NONE}})["clew"]
    assert (none["documents"], none["abstained"]["reason"]) == ([], "unplaced")


def test_haystack_writes_and_reads_a_pipeline(haystack):
    from haystack import Pipeline

    pipeline = Pipeline()
    pipeline.add_component("clew", haystack.ClewAnswerer(FILMS, top_k=3))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["clew.integrations.haystack"])
    assert again.get_component("clew").to_dict() == pipeline.get_component("clew").to_dict()


def test_the_core_imports_none_of_them():
    import subprocess
    import sys

    libraries = ("langchain_core", "llama_index", "haystack", "fastapi")
    told = f"import sys, clew; clew.Clew; print([name for name in {libraries} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
