"""What `import clew` gives: few names, lazily, and exactly those that are listed."""

import dataclasses
import subprocess
import sys
import typing

import pytest

import clew
from clew import errors, types


def test_every_listed_name_is_there_and_there_are_few():
    assert len(clew.__all__) <= 40
    assert sorted(clew.__all__) == clew.__all__
    for name in clew.__all__:
        assert getattr(clew, name).__name__ == name


def test_dir_is_the_list():
    assert [name for name in dir(clew) if name != "__version__"] == clew.__all__


def test_every_error_is_public():
    tree = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert tree <= set(clew.__all__)


def test_every_type_of_an_answer_is_public():
    seen = set()

    def look(kind):
        if dataclasses.is_dataclass(kind) and kind not in seen:
            seen.add(kind)
            for part in typing.get_type_hints(kind).values():
                look(part)
        for part in typing.get_args(kind):
            look(part)

    for kind in (types.Answer, types.Verification, types.MatchResult):
        look(kind)
    assert len(seen) > 10
    assert {kind.__name__ for kind in seen} <= set(clew.__all__)


def test_other_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'bogus'"):
        _ = clew.bogus


@pytest.mark.parametrize("module", ["clew", "clew.cli.app", "clew.errors"])
def test_import_is_light(module):
    heavy = ("numpy", "numba", "rapidfuzz", "pyoxigraph", "rich")
    code = f"import sys, {module}; print(*[m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "\n"


def test_opening_and_asking_import_no_numba(tmp_path):
    (tmp_path / "kg.tsv").write_text("Christopher Nolan\tdirected\tMemento\n")
    code = (
        "import sys, clew\n"
        "with clew.Clew.open('kg.tsv') as kg:\n"
        "    print([a.label for a in kg.ask('Which film did Cristopher Nolna direct?').answers])\n"
        "print('numba' in sys.modules, 'pyoxigraph' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert ran.stdout.split("\n")[:2] == ["['Memento']", "False False"], ran.stderr
