"""One engine does not contradict itself: a statement as a question of yes or no, and as a claim."""

import random
import re
import tomllib
from collections import defaultdict
from itertools import islice
from pathlib import Path

import pytest

from clew.engine import Clew

ROOT = Path(__file__).resolve().parents[2]
STATEMENTS = tomllib.loads((ROOT / "tests" / "data" / "claims" / "statements.toml").read_text("utf-8"))
MUTUAL = {"spouse", "borders", "interacts_with"}
ONE_WAY = {"CAN_REPLACE", "REPORTS_TO"}
"""Relations between things of one sort: those that hold both ways, and those that do not."""


def triples_of(clew, relation):
    return [(triple.head, triple.tail) for triple in clew if triple.by_id[1] == relation]


def statements(clew, relation, forms, count):
    """(kind, claim, question) of some triples, with another tail, and the other way round."""
    pairs, rng = triples_of(clew, relation), random.Random(7)
    there = set(pairs) | ({(t, h) for h, t in pairs} if relation in MUTUAL else set())
    pairs = [(head, tail) for head, tail in pairs if head not in tail and tail not in head]
    tails = sorted({tail for _, tail in pairs})
    for head, tail in rng.sample(pairs, min(count, len(pairs))):
        wrong = [other for other in tails if other != head and (head, other) not in there]
        made = [("true", head, tail), ("other", head, rng.choice(wrong)), ("reversed", tail, head)]
        for kind, h, t in made:
            yield kind, *(form.format(h=h, t=t) for form in forms)


def faults(clew, relations, count, every):
    """What is said that cannot be right, or not together, of each statement of so many."""
    found = defaultdict(list)
    said_of = ((r, *said) for r, forms in relations.items() for said in statements(clew, r, forms, count))
    for relation, kind, claim, question in islice(said_of, 0, None, every):
        verdict, answer = clew.verify(claim).verdict, clew.ask(question)
        said = answer.text if answer.abstained is None else None
        if (verdict, said) in (("supported", "no"), ("refuted", "yes")):
            found["contradiction"].append((claim, verdict, said))
        holds, fails = verdict == "supported" or said == "yes", verdict == "refuted" or said == "no"
        turned = kind == "reversed" and relation in ONE_WAY
        if (kind == "true" and fails) or ((kind == "other" or turned) and holds):
            found[kind].append((claim, verdict, said))
    return dict(found)


def check(count, every, cache):
    for source, relations in STATEMENTS.items():
        with Clew.open(ROOT / source, cache_dir=cache) as clew:
            assert faults(clew, relations, count, every) == {}, source


def test_questions_and_claims_agree(cache):
    check(1, 4, cache)  # 4: each kind in turn


@pytest.mark.slow
def test_many_questions_and_claims_agree(cache):
    check(12, 1, cache)


THESAURUS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix t: <http://vocab.example.org/thesaurus/> .
t:1 a skos:Concept ; skos:prefLabel "Intelligence"@en ; skos:broader t:4 ; skos:narrower t:2 , t:3 .
t:2 a skos:Concept ; skos:prefLabel "Talent"@en ; skos:broader t:1 ; skos:related t:5 .
t:3 a skos:Concept ; skos:prefLabel "Memory"@en ; skos:broader t:1 .
t:4 a skos:Concept ; skos:prefLabel "Mental process"@en ; skos:narrower t:1 , t:6 .
t:5 a skos:Concept ; skos:prefLabel "Gifted student"@en ; skos:broader t:7 ; skos:related t:2 .
t:6 a skos:Concept ; skos:prefLabel "Perception"@en ; skos:broader t:4 ; skos:narrower t:8 .
t:7 a skos:Concept ; skos:prefLabel "Student"@en ; skos:narrower t:5 .
t:8 a skos:Concept ; skos:prefLabel "Visual perception"@en ; skos:broader t:6 .
"""
WIDER = {"Talent": "Intelligence", "Memory": "Intelligence", "Visual perception": "Perception"}


@pytest.mark.parametrize("left_out", ["", "narrower", "broader"])
def test_a_thesaurus_is_broader_one_way(left_out, tmp_path):
    """With both relations, or one of them, whose opposite is then not said wrongly."""
    text = re.sub(f" ; skos:{left_out} [^;.]+", " ", THESAURUS) if left_out else THESAURUS
    source = tmp_path / "thesaurus.ttl"
    source.write_text(text, "utf-8")
    left_open = []
    with Clew.open(source, cache_dir=tmp_path) as clew:
        for narrow, wide in WIDER.items():
            for form in ("broader", "a broader concept"):
                for one, other, holds in ((wide, narrow, True), (narrow, wide, False)):
                    answer = clew.ask(f"Is {one} {form} than {other}?")
                    verdict = clew.verify(f"{one} is {form} than {other}.").verdict
                    assert answer.text in ("", "yes" if holds else "no"), (one, other)
                    assert verdict in ("not_enough_info", "supported" if holds else "refuted"), (one, other)
                    left_open += [(one, form, other)] if holds and answer.abstained else []
    # That the two share a wider one is as likely of one pair.
    assert left_out == "broader" or len(left_open) <= 3
