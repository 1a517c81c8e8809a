"""The site of docs/: it is whole, asks no other server, and the tutorial is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from clew import Clew

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package, reason=f"{package} is not installed (pip install 'clew[docs]')")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return out


def test_every_page_is_there(site):
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / page.with_suffix(".html").name).is_file(), page


def test_the_reference_is_that_of_the_docstrings(site):
    page = (site / "reference.html").read_text("utf-8")
    for name in (
        "clew.engine.Clew.ask",
        "clew.engine.Clew.update",
        "clew.types.Answer",
        "clew.errors.ClewError",
    ):
        assert f'id="{name}"' in page
    assert "Answer a question, or abstain with a reason" in page


def test_nothing_is_asked_of_another_server(site):
    loaded = re.compile(r"""<(?:script|img|iframe)[^>]+src="?(https?:)?//|<link[^>]+href="?https?://""")
    for page in site.rglob("*.html"):
        assert loaded.search(page.read_text("utf-8")) is None, page
    for style in site.rglob("*.css"):
        assert re.search(r"url\(.?https?://|@import", style.read_text("utf-8")) is None, style


def test_the_tutorial_is_what_happens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_CACHE_DIR", str(tmp_path / "cache"))
    Clew.index(str(ROOT / "examples/shop"), "shop.clew").close()
    code = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs/tutorial.md").read_text("utf-8"), re.S))
    exec(compile(code, "tutorial.md", "exec"), {})  # noqa: S102
