"""Ask a graph file, and see the triples that prove each answer."""

from pathlib import Path

from clew import Clew

FILMS = Path(__file__).with_name("films.tsv")

with Clew.open(FILMS) as films:
    for question in ("Which films share a director with Memento?", "Who wrote the soundtrack of Memento?"):
        answer = films.ask(question)
        print(question)
        if answer.abstained is not None:
            print(f"  no answer: {answer.abstained.detail}")
        for citation in answer.citations[:2]:
            path = "; ".join(f"{t.head} {t.relation} {t.tail}" for t in citation.triples)
            print(f"  {citation.answer}: {path}")
