"""The notebooks in examples/ run from top to bottom, in a kernel of their own."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (pip install 'clew[dev]')")
pytest.importorskip("ipykernel", reason="ipykernel is not installed (pip install 'clew[dev]')")
SAID = {
    "five_minutes.ipynb": ("Ada Stone", "<tbody", "unplaced", "refuted"),
}


def test_every_notebook_is_here():
    assert {path.name for path in (ROOT / "examples").glob("*.ipynb")} == set(SAID)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", sorted(SAID))
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    import nbformat

    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    book = nbformat.read(ROOT / "examples" / name, as_version=4)
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": ROOT / "examples"}}).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    told = "".join(str(output.get("data", output.get("text", ""))) for output in outputs)
    for said in SAID[name]:
        assert said in told
    assert all(
        not cell.outputs for cell in nbformat.read(ROOT / "examples" / name, 4).cells if "outputs" in cell
    )
