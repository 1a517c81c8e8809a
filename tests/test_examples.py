"""Every script in examples/ runs, and says what it is to say."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SAID = {
    "ask.py": ("Insomnia: Memento directed_by Christopher Nolan", "no answer: I cannot place"),
    "verify.py": ("refuted", "supported: Christopher Nolan directed Memento"),
    "own_graph.py": ("Ada Stone", "Cy Moor"),
    "own_method.py": ("Christopher Nolan: Oppenheimer", "Oppenheimer release_year 2023",
     "nothing that points"),
    "evaluate.py": ("auto",),
    "http_client.py": ("Christopher Nolan", "directed_by"),
    "mcp_client.py": ("'ask', 'verify', 'find_entities'", "Christopher Nolan"),
    "langchain_chain.py": ("Memento directed by Christopher Nolan.", "It is Christopher Nolan."),
    "llama_index_engine.py": ("Christopher Nolan", "Memento directed by"),
    "haystack_pipeline.py": ("Christopher Nolan", "Memento directed by"),
}  # fmt: skip
NEEDS = {
    "http_client.py": "fastapi",
    "mcp_client.py": "mcp",
    "langchain_chain.py": "langchain_core",
    "llama_index_engine.py": "llama_index",
    "haystack_pipeline.py": "haystack",
}


def test_every_script_is_here():
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(SAID)


@pytest.mark.parametrize("name", sorted(SAID))
def test_a_script_runs(name, tmp_path):
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "CLEW_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for said in SAID[name]:
        assert said in done.stdout
