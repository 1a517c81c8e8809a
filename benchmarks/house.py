"""The size and order of the code, and how long sentences of the documents are.

`python benchmarks/house.py [FOLDER]` looks at the code of `src/clew` if no folder is given.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

MANY = 7
"""Parameters from which a function wants a value object; `self` and `cls` are none."""
LONG = 30
"""Words above which a sentence is long."""


def functions(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """(name, lines, parameters) of each function, also of those within others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parameters = node.args
            names = [a.arg for a in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)]
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


def numbers(tree: ast.Module) -> Iterator[str]:
    """Constants of a module, public or not, that are numbers; of several in one line each counts."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = [each for t in targets for each in (t.elts if isinstance(t, ast.Tuple) else [t])]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            if len(named) == len(values) and all(map(is_number, values)):
                yield from (name.id for name in named if isinstance(name, ast.Name) and name.id.isupper())


def is_number(value: ast.expr) -> bool:
    """Whether an expression is a number, or computed of numbers that stand in it."""
    if isinstance(value, ast.BinOp):
        return is_number(value.left) and is_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def dataclasses(tree: ast.Module) -> int:
    """How many dataclasses a module has."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return sum(any("dataclass" in ast.unparse(d) for d in node.decorator_list) for node in classes)


def sentence_lengths(page: str) -> list[int]:
    """Words of each sentence, list item and cell of a table of a page; code counts as one word or none."""
    text = re.sub(r"```.*?```|^:::.*$", "", page, flags=re.S | re.M)
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "code", text))
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|#+|>|\|)\s)|(?<!\\)\||(?<=[.!?])\s+", text)
    lengths = [len(re.findall(r"\w[\w'’-]*", part)) for part in parts]
    return [length for length in lengths if length > 1]


def main() -> None:
    """Print the figures."""
    pages = [Path("README.md"), *sorted(Path("docs").glob("*.md"))]
    words = {page: sentence_lengths(page.read_text("utf-8")) for page in pages}
    sentences = [length for lengths in words.values() for length in lengths]
    share = sum(length > LONG for length in sentences) / len(sentences)
    print(f"sentences of documents {len(sentences):,}, of more than {LONG} words {share:.1%};", end=" ")
    print("most in", *(page.name for page in sorted(words, key=lambda page: -max(words[page]))[:3]))
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "src/clew")
    texts = [path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))]
    trees = [ast.parse(text) for text in texts]
    lengths = [text.count("\n") for text in texts]
    function_rows = [function for tree in trees for function in functions(tree)]
    longest = max(function_rows, key=lambda function: function[1])
    type_counts = Counter(name for tree in trees for name in types(tree))
    constant_pairs = [pair for tree in trees for pair in dict(constants(tree)).items()]
    module_counts = Counter(name for name, _ in constant_pairs)
    value_counts = Counter(name for name, _ in set(constant_pairs))
    print(
        f"files {len(texts)}, lines {sum(lengths):,}, of more than 400 lines {sum(n > 400 for n in lengths)}"
    )
    print(
        f"functions {len(function_rows):,}, lines at the median "
        f"{statistics.median(f[1] for f in function_rows):g},"
    )
    print(
        f"  the longest {longest[0]} of {longest[1]}, of more than 40 "
        f"{sum(f[1] > 40 for f in function_rows)},"
    )
    print(f"  of {MANY} and more parameters {sum(f[2] >= MANY for f in function_rows)}")
    print(f"constants that are numbers {sum(len([*numbers(tree)]) for tree in trees)},", end=" ")
    print(f"dataclasses {sum(map(dataclasses, trees))}")
    print("names of two types:", *sorted(name for name, count in type_counts.items() if count > 1))
    print(f"constants in two modules {sum(n > 1 for n in module_counts.values())}, of two values", end=" ")
    print(sum(n > 1 for n in value_counts.values()))


if __name__ == "__main__":
    main()
