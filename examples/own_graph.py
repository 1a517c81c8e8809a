"""Make an index of your own CSV, ask it, and add to it without indexing again."""

import tempfile
from pathlib import Path

from clew import Clew

with tempfile.TemporaryDirectory() as folder:
    staff, index = Path(folder) / "staff.csv", Path(folder) / "staff.clew"
    staff.write_text(
        "head,relation,tail\n"
        "Ada Stone,works in,Research\n"
        "Bo Lind,works in,Research\n"
        "Bo Lind,reports to,Ada Stone\n"
    )
    with Clew.index(staff, index) as graph:
        print(graph.ask("Who works in Research?").text)
        graph.update(add=[("Cy Moor", "works in", "Research")])
        print(graph.ask("Who works in Research?").text)
