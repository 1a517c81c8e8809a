"""Who may import whom: floors below, never up or across, and no modules import each other."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src"
FLOORS = (
    {"foundation", "version"}, {"types", "plugins", "workers"}, {"graph"}, {"text", "grounding"},
    {"index", "llm", "stores"}, {"query"}, {"vocabulary"}, {"reading"}, {"claims", "opening"}, {"methods"},
    {"engine", "database"}, {"evaluate"}, {"serve", "integrations"}, {"cli"}, {"clew", "__main__"},
)  # fmt: skip
"""Folders and modules of `clew`, the lowest first; those of one floor do not import each other."""
ROOM_OF_MODULE = {"errors": "foundation"}
"""Modules that lie directly under `clew` for their public name, and the folder they belong to."""
METHODS = ("auto", "simgrag", "kg_rag", "baselines", "synaptiqa", "walk_retrieve")
"""Folders of methods: each may use those before it."""
LEVEL = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in sorted((SRC / "clew").rglob("*.py"))}


def room_of(module: str) -> str:
    """The folder or module directly under `clew`, or whose it is; "clew" for the package itself."""
    name = (*module.split("."), "clew")[1]
    return ROOM_OF_MODULE.get(name, name)


def imports_of(module: str) -> set[str]:
    """Modules of clew that a module imports, also inside of functions and for types only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names if name.name.split(".")[0] == "clew")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "clew":
            whole = [f"{node.module}.{name.name}" for name in node.names]
            found.update(name if name in MODULES else node.module for name in whole)
    return found


@cache
def imports() -> dict[str, set[str]]:
    return {module: imports_of(module) for module in MODULES}


def test_every_folder_has_its_floor() -> None:
    assert {room_of(module) for module in MODULES} == set(LEVEL)


@pytest.mark.parametrize("room", sorted(LEVEL))
def test_imports_point_down(room: str) -> None:
    wrong = [
        f"{module} imports {imported}"
        for module, found in imports().items()
        for imported in sorted(found)
        if room_of(module) == room != room_of(imported) and LEVEL[room_of(imported)] >= LEVEL[room]
    ]
    assert wrong == []


def test_methods_use_those_before_them() -> None:
    folder = {m: m.split(".")[2] for m in MODULES if m.startswith("clew.methods.") and m.count(".") > 2}
    assert set(folder.values()) == set(METHODS)
    wrong = [
        f"{module} imports {imported}"
        for module, own in folder.items()
        for imported in imports()[module] & folder.keys()
        if METHODS.index(folder[imported]) > METHODS.index(own)
    ]
    assert wrong == []


def test_no_modules_import_each_other() -> None:
    try:
        tuple(TopologicalSorter(imports()).static_order())
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))
