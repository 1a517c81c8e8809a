"""Claims checked without a model: made true and made false from triples, and sets in people's words.

Of each of nine graphs triples are drawn and said in plain English (`STATEMENTS`); a false claim is a true one
with one thing changed: a noun, a number, a sign, the verb (another one, or one that does not happen),
a *not*, a name (another one, or one that is not there), a date. The world is open. Of false claims those
that are supported count; of true ones those that are not.

Claims in people's words: the development and the check set of `tests/data`, and the factory's. A verdict is
*turned around* if it says supported for refuted or the other way, or decides what the graph does not hold.

python benchmarks/claims.py [--made-only] [--show] [--write benchmarks/RESULTS.md]
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from questions import DATA, GRAPHS, SHARED
from results import publish

from clew import Clew
from clew.claims.verify import Verify

DOMAINS, FACTORY, SPIDER = DATA / "domains" / "dev", SHARED / "factory", SHARED / "spider"
SOURCES = {
    "films": GRAPHS["films"], "factory": FACTORY / "kg.tsv", "cinema": SPIDER / "cinema" / "kg.tsv",
    "climbing": SPIDER / "climbing" / "kg.tsv",
    **{name: DOMAINS / f"{name}.tsv" for name in ("league", "pharma", "staff", "albums", "courts")},
}  # fmt: skip
STATEMENTS = {
    "films": {
        "directed_by": "{t}|directed|direct|{h}", "written_by": "{t}|wrote|write|{h}",
        "starring": "{t}|starred in|star in|{h}", "spouse": "The spouse of {h} is|{t}",
        "birth_place": "{h} was|born in {t}", "runtime_minutes": "{h} is|{t} minutes long",
        "release_year": "{h} was|released in {t}", "birth_year": "{h} was|born in {t}",
    },
    "factory": {
        "lubricated_with": "{h} is|lubricated with {t}", "supplied_by": "{t}|supplies|supply|{h}",
        "reports_to": "{h}|reports to|report to|{t}",
        "max_pressure_bar": "The maximum pressure of {h} is|{t} bar",
        "stock_quantity": "The stock quantity of {h} is|{t}",
        "last_serviced_on": "{h} was|last serviced on {t}",
        "commissioned_on": "{h} was|commissioned on {t}", "performed_by": "{t}|performed|perform|{h}",
        "downtime_hours": "The downtime of {h} was|{t} hours",
    },
    "cinema": {
        "directed_by": "{t}|directed|direct|{h}", "capacity": "The capacity of {h} is|{t}",
        "location": "The location of {h} is|{t}", "openning_year": "{h} was|opened in {t}",
    },
    "climbing": {
        "height": "The height of {h} is|{t}", "prominence": "The prominence of {h} is|{t}",
        "mountain": "{h}|climbed|climb|{t}", "points": "{h} has|{t} points",
    },
    "league": {
        "playsFor": "{h}|plays for|play for|{t}", "headCoach": "The head coach of {h} is|{t}",
        "homeStadium": "The home stadium of {h} is|{t}", "capacity": "The capacity of {h} is|{t}",
        "birthDate": "{h} was|born on {t}", "founded": "{h} was|founded in {t}",
        "goalsScored": "{h} has scored|{t} goals",
    },
    "pharma": {
        "treats": "{h}|treats|treat|{t}", "targets": "{h}|targets|target|{t}",
        "manufactured_by": "{t}|manufactures|manufacture|{h}",
        "half_life_hours": "The half life of {h} is|{t} hours",
        "approved_in": "{h} was|approved in {t}", "headquartered_in": "{h} is|headquartered in {t}",
    },
    "staff": {
        "LEADS": "{h}|leads|lead|{t}", "REPORTS_TO": "{h}|reports to|report to|{t}",
        "SALARY": "The salary of {h} is|{t}", "HIRED_ON": "{h} was|hired on {t}",
        "SPONSORED_BY": "{t}|sponsors|sponsor|{h}", "BUDGET": "The budget of {h} is|{t}",
    },
    "albums": {
        "music.album.producer": "{t}|produced|produce|{h}",
        "music.album.record_label": "The record label of {h} is|{t}",
        "music.album.release_date": "{h} was|released on {t}",
        "people.person.place_of_birth": "{h} was|born in {t}",
        "music.album.number_of_tracks": "{h} has|{t} tracks",
        "organization.organization.founders": "{t}|founded|found|{h}",
    },
    "courts": {
        "cites work": "{h}|cites|cite|{t}", "nominated by": "{t}|nominated|nominate|{h}",
        "date of decision": "{h} was|decided on {t}",
        "number of majority votes": "The number of majority votes in {h} was|{t}",
        "plaintiff": "The plaintiff in {h} is|{t}", "educated at": "{h} was|educated at {t}",
    },
}  # fmt: skip
"""By graph and relation: `subject|verb|its base|object`, or `subject and auxiliary|rest`."""
NOUNS = "symphony bakery submarine violin monastery windmill umbrella".split()
ROLES = "anthem mascot landlord translator barber godfather".split()
VERBS = "photographed poisoned insured forgave painted burned".split()
UNHAPPENED = ("failed to", "refused to", "plans to", "pretended to", "was forbidden to", "hopes to")
INVENTED = ("Zorvan", "Quelby", "Brannock", "Ixmoor")
_NUMBER, _DATE = re.compile(r"-?\d+(?:\.\d+)?"), re.compile(r"\d{4}-\d\d-\d\d")
_YEAR = re.compile(r"[12]\d{3}")


@dataclass(frozen=True)
class Said:
    """A triple of a graph with the words that say it."""

    graph: str
    relation: str
    head: str
    tail: str
    form: str

    def claim(self, head: str = "", tail: str = "", form: str = "") -> str:
        """It in words, with another head, tail or form."""
        parts = (form or self.form).split("|")
        words = " ".join([parts[0], parts[1], parts[3]] if len(parts) == 4 else parts)
        return words.format(h=head or self.head, t=tail or self.tail) + "."


def changed(said: Said, kind: str, tails: list[str], rng: random.Random) -> str | None:
    """A false claim made of a true one by changing one thing, None where it has no such thing."""
    parts, tail = said.form.split("|"), said.tail
    is_verb = len(parts) == 4
    dated = _DATE.fullmatch(tail) or ((" in {t}" in said.form) and _YEAR.fullmatch(tail))
    number = None if dated else _NUMBER.fullmatch(tail)
    if kind == "noun":
        if is_verb:
            return said.claim(form="|".join([*parts[:3], f"a {rng.choice(NOUNS)}"]))
        role = re.match(r"The (.+?) (of|in) ", parts[0])
        return said.claim(form=said.form.replace(role[1], rng.choice(ROLES), 1)) if role else None
    if kind == "number" and number:
        return said.claim(tail=f"{float(tail) + rng.choice((-1, 1, 7, 20)):g}")
    if kind == "sign" and number and float(tail):
        return said.claim(tail=tail[1:] if tail[0] == "-" else f"-{tail}")
    if kind == "verb" and is_verb:
        verbs = [(rng.choice(VERBS)), f"{rng.choice(UNHAPPENED)} {parts[2]}"]
        return said.claim(form="|".join([parts[0], rng.choice(verbs), *parts[2:]]))
    if kind == "negation":
        denied = f"did not {parts[2]}" if is_verb else f"not {parts[1]}"
        return said.claim(form="|".join([parts[0], denied, *parts[2:]]))
    if kind == "name" and not dated and not number:
        invented = f"{rng.choice(INVENTED)} {tail.split()[-1]}"
        return said.claim(tail=rng.choice([rng.choice(tails), invented]) if tails else invented)
    if kind == "date" and dated:
        year = f"{int(tail[:4]) + rng.choice((-30, -1, 1, 12))}"
        return said.claim(tail=year + tail[4:])
    return None


KINDS = ("noun", "number", "sign", "verb", "negation", "name", "date")


def made(opened: dict[str, Clew], count: int) -> Iterator[tuple[str, str, str]]:
    """(graph, kind, claim): so many true claims and so many false ones, by a fixed seed."""
    rng, triples = random.Random(45), list[Said]()
    for graph, forms in STATEMENTS.items():
        drawn: dict[str, list[Said]] = {}
        for triple in opened[graph]:
            head, relation, tail = triple.by_id
            if relation in forms:
                drawn.setdefault(relation, []).append(Said(graph, relation, head, tail, forms[relation]))
        for said in drawn.values():
            triples += rng.sample(said, min(len(said), 12))
    tails = {(s.graph, s.relation): set[str]() for s in triples}
    for said in triples:
        tails[said.graph, said.relation].add(said.tail)
    true_tails = {(s.graph, s.relation, s.head): set[str]() for s in triples}
    for graph, clew in opened.items():
        for head, relation, tail in (t.by_id for t in clew):
            true_tails.setdefault((graph, relation, head), set()).add(tail)
    rng.shuffle(triples)
    yield from (("true", s.graph, s.claim()) for s in triples[:count])
    for turn in range(count):
        kind = KINDS[turn % len(KINDS)]
        while True:
            said = rng.choice(triples)
            others = tails[said.graph, said.relation] - true_tails[said.graph, said.relation, said.head]
            claim = changed(said, kind, sorted(others - {said.head}), rng)
            if claim is not None:
                yield kind, said.graph, claim
                break


def measure_made(opened: dict[str, Clew], *, show: bool, count: int = 200) -> list[str]:
    """How many made claims are supported and refuted, by kind."""
    verdicts, totals = Counter[tuple[str, str]](), Counter[str]()
    verifiers = {name: Verify(clew.opened, clew.embedder) for name, clew in opened.items()}
    for kind, graph, claim in made(opened, count):
        verdict = verifiers[graph].verify(claim).verdict
        verdicts[kind, verdict] += 1
        totals[kind] += 1
        if show and (verdict == "supported") != (kind == "true"):
            print(f"  {kind} {graph}: {claim} {verdict}")
    false = [kind for kind in KINDS if totals[kind]]
    rows = {"true": ["true"], "false": false, **{f"false: {kind}": [kind] for kind in false}}
    table = ["| | claims | supported | refuted | not enough info |", "|---|---|---|---|---|"]
    for name, kinds in rows.items():
        total = sum(totals[k] for k in kinds)
        cells = [
            f"{sum(verdicts[k, v] for k in kinds)} ({100 * sum(verdicts[k, v] for k in kinds) / total:.1f} %)"
            for v in ("supported", "refuted", "not_enough_info")
        ]
        table.append(f"| {name} | {total} | {' | '.join(cells)} |")
    return table


def measure(path: Path, verifiers: dict[str, Verify], graph: str = "", *, show: bool = False) -> list[str]:
    """Count the right verdicts of a file of claims, by graph and kind."""
    right, totals, turned_around = Counter[str](), Counter[str](), 0
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        wanted, kind = row.get("verdict") or row["label"].replace(" ", "_"), row.get("kind") or row["style"]
        of_graph = row.get("graph", graph)
        if of_graph not in verifiers:
            continue
        verdict = verifiers[of_graph].verify(row["claim"]).verdict
        for name in ("all", f"graph {of_graph}", kind):
            totals[name] += 1
            right[name] += verdict == wanted
        wrong = verdict not in (wanted, "not_enough_info")
        turned_around += wrong
        if show and verdict != wanted:
            print(f"  {'WRONG' if wrong else 'open'} {row['claim']} {verdict}, not {wanted}")
    rows = [f"| {n} | {100 * right[n] / totals[n]:.1f} % | {right[n]} of {totals[n]} |" for n in totals]
    return ["| | right | |", "|---|---|---|", *rows, f"| turned around | | {turned_around} |"]


def main() -> None:
    """Verify all sets, print the tables, and write the section of the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--made-only", action="store_true", help="only the claims made from triples")
    parser.add_argument("--show", action="store_true", help="print claims whose verdict is not the right one")
    parser.add_argument("--write", type=Path, help="the file of results")
    arguments = parser.parse_args()
    text = [__doc__.split("python bench")[0].strip(), "", "`python benchmarks/claims.py`"]
    with tempfile.TemporaryDirectory() as cache:
        opened = {name: Clew.open(path, cache_dir=Path(cache)) for name, path in SOURCES.items()}
        text += ["", "Made from triples:", "", *measure_made(opened, show=arguments.show)]
        if not arguments.made_only:
            opened |= {
                name: Clew.open(path, cache_dir=Path(cache))
                for name, path in GRAPHS.items()
                if name not in opened
            }
            verifiers = {name: Verify(clew.opened, clew.embedder) for name, clew in opened.items()}
            sets = {"Development": DATA / "dev" / "claims.jsonl", "Check": DATA / "check" / "claims.jsonl"}
            for title, path in (*sets.items(), ("Factory", FACTORY / "claims.jsonl")):
                text += ["", f"{title}:", "", *measure(path, verifiers, "factory", show=arguments.show)]
        for clew in opened.values():
            clew.close()
    publish(arguments.write, "Claims in many wordings, without a model", "\n".join(text))


if __name__ == "__main__":
    main()
