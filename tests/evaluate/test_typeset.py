"""Tables for papers and notes."""

import re

import pytest

from clew.evaluate.report.charts import ChartTable, TableCell, escaped, latex

TABLE = ChartTable(
    "answers",
    "Answers",
    ("part", "method", "Hits@1 ↑", "tokens"),
    (
        ("my_data", "auto", TableCell("98.3", "95.0–100.0", best=True), "1"),
        ("a|b", "R&D", TableCell("0 %"), TableCell("−")),
        ("from the paper",),
    ),
    note="Shares in %",
    names=2,
)


def test_every_row_of_latex_has_all_columns():
    text = latex(TABLE)
    assert r"\begin{tabular}{llrr}" in text
    assert r"part & method & Hits@1 $\uparrow$ & tokens \\" in text
    assert r"my\_data & auto & \textbf{98.3} (95.0--100.0) & 1 \\" in text
    assert r"a|b & R\&D & 0 \% & $-$ \\" in text
    assert r"\multicolumn{4}{l}{\emph{from the paper}} \\" in text
    assert r"\caption{Answers. Shares in \%}" in text
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("sign", "&%$#_{}~^\\")
def test_no_sign_of_latex_stays_bare(sign):
    assert re.fullmatch(r"a\\(.|text\w+\{\})b", escaped(f"a{sign}b"))
