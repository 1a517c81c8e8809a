"""Measure a method on questions of your own."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

FILMS = Path(__file__).with_name("films.tsv")
QUESTIONS = (
    ("Who directed Memento?", ["Christopher Nolan"]),
    ("Who directed Jaws?", ["Steven Spielberg"]),
)

with tempfile.TemporaryDirectory() as folder:
    data = Path(folder)
    (data / "graph.tsv").write_text(FILMS.read_text("utf-8"), "utf-8")
    lines = [json.dumps({"question": question, "gold": gold}) for question, gold in QUESTIONS]
    (data / "questions.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    command = [sys.executable, "-m", "clew", "eval", folder, "--method", "auto"]
    subprocess.run([*command, "--out", str(data / "run"), "--quiet"], check=True)
