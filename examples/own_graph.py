"""Make an index of your own CSV, ask it, and add to it without indexing again."""

import tempfile
from pathlib import Path

from clew import Clew
from clew.engine import index_sources, update_index_files

with tempfile.TemporaryDirectory() as folder:
    staff, index = Path(folder) / "staff.csv", Path(folder) / "staff.clew"
    staff.write_text(
        "head,relation,tail\n"
        "Ada Stone,works in,Research\n"
        "Bo Lind,works in,Research\n"
        "Bo Lind,reports to,Ada Stone\n"
    )
    index_sources([staff], index)
    with Clew.open(index) as graph:
        print(graph.ask("Who works in Research?").text)
    more = Path(folder) / "more.csv"
    more.write_text("head,relation,tail\nCy Moor,works in,Research\n")
    update_index_files(index, [more])
    with Clew.open(index) as graph:
        print(graph.ask("Who works in Research?").text)
