"""The size and order of the code: `python benchmarks/house.py [FOLDER]`, of `src/clew` if none is given."""

from __future__ import annotations

import ast
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

MANY = 7
"""Parameters from which a function wants a value object; `self` and `cls` are none."""


def functions(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """(name, lines, parameters) of each function, also of those within others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
            count = len([name for name in names if name not in ("self", "cls")])
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1, count


def types(tree: ast.Module) -> Iterator[str]:
    """Names of classes, and of aliases of types, which begin with a capital and go on in small letters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.lstrip("_")[:1].isupper() and not name.isupper():
                yield name


def constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Public constants of a module with their values as they are written; variables of types are none."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id.isupper() and target.id[0] != "_":
                    value = ast.unparse(node.value)
                    if "TypeVar" not in value:
                        yield target.id, value


def main() -> None:
    """Print the figures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "src/clew")
    texts = [path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))]
    trees = [ast.parse(text) for text in texts]
    lengths = [text.count("\n") for text in texts]
    found = [function for tree in trees for function in functions(tree)]
    longest = max(found, key=lambda function: function[1])
    named = Counter(name for tree in trees for name in types(tree))
    held = [pair for tree in trees for pair in dict(constants(tree)).items()]
    places = Counter(name for name, _ in held)
    values = Counter(name for name, _ in set(held))
    print(
        f"files {len(texts)}, lines {sum(lengths):,}, of more than 400 lines {sum(n > 400 for n in lengths)}"
    )
    print(f"functions {len(found):,}, lines at the median {statistics.median(f[1] for f in found):g},")
    print(f"  the longest {longest[0]} of {longest[1]}, of more than 40 {sum(f[1] > 40 for f in found)},")
    print(f"  of {MANY} and more parameters {sum(f[2] >= MANY for f in found)}")
    print("names of two types:", *sorted(name for name, count in named.items() if count > 1))
    print(f"constants in two modules {sum(n > 1 for n in places.values())}, of two values", end=" ")
    print(sum(n > 1 for n in values.values()))


if __name__ == "__main__":
    main()
