import csv
from pathlib import Path

import pytest

from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import render
from clew.stores.errors import QuerySyntaxError

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "text2cypher"


def _queries():
    csv.field_size_limit(10**7)
    for path in sorted(DATA.glob("text2cypher_*.csv")):
        if "schemas" in path.name:
            continue
        with path.open(encoding="utf-8", newline="") as lines:
            yield from (row["cypher"] for row in csv.DictReader(lines))


@pytest.mark.skipif(not DATA.is_dir(), reason="the data set text2cypher is not beside the repository")
def test_queries_of_language_models_print_back_unchanged():
    read = refused = 0
    for query in _queries():
        try:
            statement = parse(query)
        except QuerySyntaxError:
            refused += 1
            continue
        assert render(statement.tokens) == query
        read += 1
    assert read / (read + refused) >= 0.99


FORMS = [
    "MATCH (n) RETURN n",
    "MATCH (n:A:B|C&!D {x: 1, `y z`: 'a'} WHERE n.x > 1) RETURN n",
    "MATCH p = (a)-[r:R|S*1..3 {x: $x}]->(b)<--(c)--(d) RETURN p, relationships(p)[0..2]",
    "MATCH (a)-[*]-(b), (a)-[*2]-(b), (a)-[*..2]-(b), (a)-[*2..]-(b) RETURN a",
    "MATCH p = shortestPath((a)-[*..10]-(b)) RETURN [n IN nodes(p) | n.name]",
    "MATCH ANY SHORTEST (a)-[:R]->+(b) RETURN a",
    "MATCH (a) ((x)-[:R]->(y) WHERE x.v < y.v){1,5} (b) RETURN a",
    "MATCH (n) WHERE n.x IN [1, 2] AND NOT n.y IS NULL XOR n.z STARTS WITH 'a' OR n.w =~ 'b.*' RETURN n",
    "MATCH (n) WHERE 1 < n.x <= 3 RETURN n",
    "MATCH (n) RETURN -n.x ^ 2 + 3 * (4 - n.y) % 5 AS v, 1.5e3, .5, 0x1F, 1_000",
    "MATCH (n) RETURN CASE n.x WHEN 1 THEN 'a' WHEN 2, 3 THEN 'b' ELSE 'c' END, CASE WHEN n.x THEN 1 END",
    "MATCH (n) RETURN n {.name, .*, x: 1, n} AS m, {a: [1, {b: 2}]} AS q",
    "MATCH (n) RETURN [x IN range(1, 3) WHERE x > 1 | x * 2], [x IN [1]], [x IN [1] | x]",
    "MATCH (n) RETURN all(x IN n.xs WHERE x > 0), any(x IN n.xs WHERE x = 1), none(x IN [] WHERE true)",
    "MATCH (n) RETURN reduce(a = 0, x IN n.xs | a + x) AS total",
    "MATCH (n) RETURN [(n)-->(m) WHERE m.x = 1 | m.name], [p = (n)--() | length(p)]",
    "MATCH (n) WHERE (n)-[:R]->(:A) AND NOT (n)<--() RETURN EXISTS { (n)-->() }",
    "MATCH (n) RETURN COUNT { MATCH (n)-->(m) RETURN m }",
    "MATCH (n) WHERE exists((n)-->()) AND size([(n)--() | 1]) > 2 RETURN count(*), count(DISTINCT n)",
    "MATCH (n) WITH DISTINCT n, n.x AS x ORDER BY x DESC, n.y ASC SKIP 1 LIMIT 2 WHERE x > 1 RETURN *",
    "MATCH (n) WITH *, 1 AS one WITH n ORDER BY n.x RETURN n",
    "UNWIND $rows AS row OPTIONAL MATCH (n {x: row.x}) RETURN n UNION ALL RETURN 1 AS n",
    "CALL db.labels() YIELD label AS l WHERE l <> 'x' RETURN l",
    "CALL db.labels",
    "MATCH (n) CALL (n) { MATCH (n)-->(m) RETURN m } RETURN m",
    "MATCH (n) CALL { WITH n MATCH (n)-->(m) RETURN m UNION MATCH (m) RETURN m } RETURN m",
    "MATCH (n) WHERE n:A|B AND n.x:C RETURN labels(n)[0], n['x'], n.xs[-1], date('2020-01-01').year",
    "MATCH (order:Order) RETURN order.count AS count, order.limit, `return`.x",
    "MATCH (n) RETURN [x IN [n] WHERE x:A | x.name], [x IN [n] WHERE (x:A|B) | x]",
    "MATCH (a) - [r] -> (b) RETURN a.x - b.x, a.x-1, (a.x) - (b.x), (a) < -1",
    "RETURN date.truncate('month', date()), duration.between(date(), date()), point({x: 1, y: 2}).x;",
    "RETURN 'it\\'s', \"a\\\"b\", '\\u00e9' // the end",
    "/* a */ MATCH /* b */ (n) // c\n RETURN n",
]


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_the_manual_print_back_unchanged(form):
    assert render(parse(form).tokens) == form


@pytest.mark.parametrize("form", FORMS)
def test_spaces_and_comments_do_not_change_the_tree(form):
    """Every token is read as the same part, whatever stands between it and the next one."""
    statement = parse(form)
    spaced = " /* x */\n".join(token.text for token in statement.tokens)
    assert _shape(parse(spaced).query) == _shape(statement.query)


def _shape(part):
    return [(type(p).__name__, p.start, p.stop) for p in part.walk()]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("MATCH (n RETURN n", 1, 7),
        ("MATCH (n)\nWHERE n.x = RETURN n", 2, 20),
        ("MATCH (n)\n  RETURN n n", 2, 12),
        ("MATCH (n) RETURN 'a", 1, 18),
        ("MATCH (n)-[:R->(m) RETURN n", 1, 11),
        ("MATCH (n) RETURN 2x", 1, 18),
    ],
)
def test_an_error_says_where(text, line, column):
    with pytest.raises(QuerySyntaxError, match=f"line {line}, column {column}:"):
        parse(text)
