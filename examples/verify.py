"""Check a claim, part by part."""

from pathlib import Path

from clew import Clew

FILMS = Path(__file__).with_name("films.tsv")

with Clew.open(FILMS) as films:
    verdict = films.verify("Christopher Nolan directed Memento and Jaws.")
    print(verdict.verdict)
    for part in verdict.parts:
        print(f"  {part.verdict}: {part.text}")
