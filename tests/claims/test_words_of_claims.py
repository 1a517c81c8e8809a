"""Every word of a claim counts: what has no place in what the graph records is no support."""

import subprocess
import sys

import pytest

from clew import Clew

FILMS = [
    ("Heat", "directed_by", "Michael Mann"), ("Heat", "written_by", "Michael Mann"),
    ("Heat", "released_in", "1995"),
    ("Her", "directed_by", "Spike Jonze"), ("Her", "written_by", "Spike Jonze"),
    ("Her", "released_in", "2013"),
    ("Us", "directed_by", "Jordan Peele"), ("Us", "written_by", "Jordan Peele"),
    ("Us", "released_in", "2019"),
    ("Vostok", "low_temperature", "-89"), ("Esperanza", "low_temperature", "-20"),
]  # fmt: skip
GENES = [
    ("Gene G", "does_not_cause", "Disease Q"), ("Gene H", "causes", "Disease Q"),
    ("Gene H", "causes", "Disease R"),
    ("Drug A", "not_compatible_with", "Drug B"), ("Ann", "dislikes", "Bob"), ("Cid", "dislikes", "Ann"),
    ("Tom", "parent of", "Bob"), ("Pam", "parent of", "Bob"), ("Tom", "gender", "male"),
    ("Pam", "gender", "female"),
]  # fmt: skip


@pytest.fixture(scope="module")
def films():
    with Clew.from_triples(FILMS) as clew:
        yield clew


@pytest.fixture(scope="module")
def genes():
    with Clew.from_triples(GENES) as clew:
        yield clew


@pytest.mark.parametrize(
    ("claim", "verdict", "missing"),
    [
        ("Michael Mann directed Heat.", "supported", ""),
        ("Michael Mann wrote a symphony.", "not_enough_info", '"symphony"'),
        ("Michael Mann wrote a blorp.", "not_enough_info", '"blorp"'),
        ("Michael Mann plans to direct Heat.", "not_enough_info", '"plans'),
        ("Michael Mann would direct Heat.", "not_enough_info", '"would" does not say that it happened'),
        ("Michael Mann was accused of directing Heat.", "not_enough_info", '"accused'),
        ("Michael Mann burned Heat.", "not_enough_info", '"burned"'),
        ("Jordan Peele directed Her.", "not_enough_info", '"Her"'),
        ("The low temperature of Vostok is -89.", "supported", ""),
        ("The low temperature of Vostok is 89.", "refuted", ""),
    ],
)
def test_each_word_has_its_place_or_is_named(films, claim, verdict, missing):
    told = films.verify(claim)
    assert told.verdict == verdict
    assert missing in " ".join(told.notes)


@pytest.mark.parametrize("verb", ["failed to direct", "refused to direct"])
def test_what_was_refused_did_not_happen(films, verb):
    assert films.verify(f"Michael Mann {verb} Heat.").verdict != "supported"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Gene G causes Disease Q.", "refuted"),
        ("Gene G does not cause Disease Q.", "supported"),
        ("Gene H causes Disease Q.", "supported"),
        ("Ann dislikes Bob.", "supported"),
        ("Ann likes Bob.", "refuted"),
        ("Tom is a parent of Bob.", "supported"),
        ("Tom is the mother of Bob.", "not_enough_info"),
    ],
)
def test_a_relation_that_denies_by_its_name_is_a_recorded_denial(genes, claim, verdict):
    assert genes.verify(claim).verdict == verdict


def test_without_a_model_verify_imports_nothing_of_llm():
    code = (
        "import sys; from clew import Clew\n"
        "with Clew.from_triples([('Heat', 'directed_by', 'Michael Mann')]) as clew:\n"
        "    assert clew.verify('Michael Mann directed Heat.').verdict == 'supported'\n"
        "print([name for name in sys.modules if name.startswith('clew.llm')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


JOBS = """head,relation,tail,since
Ann Lee,works_at,Acme,2016
Bob Ray,works_at,Acme,2019
Bob Ray,works_at,Initech,2012
Acme,founded_in,1999,
Initech,founded_in,2016,
"""


def test_a_date_is_that_of_the_edge_that_is_said(tmp_path):
    source = tmp_path / "jobs.csv"
    source.write_text(JOBS, "utf-8")
    with Clew.open(source, cache_dir=tmp_path) as jobs:
        assert jobs.verify("Bob Ray works at Acme since 2019.").verdict == "supported"
        assert jobs.verify("Acme was founded in 1999.").verdict == "supported"
        # The year of another job, and that in which the employer was founded.
        for year in ("2012", "1999"):
            assert jobs.verify(f"Bob Ray works at Acme since {year}.").verdict == "refuted"
        assert jobs.verify("Bob Ray works at Initech since 2016.").verdict == "refuted"
