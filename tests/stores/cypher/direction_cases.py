"""Direction cases from the pattern forms of the Cypher manual: what stays, what turns, what is illegal."""

SCHEMA = (
    "Person, KNOWS, Person",
    "Person, WORKS_AT, Company",
    "Company, BASED_IN, City",
    "Person, LIVES_IN, City",
    "City, PART_OF, Country",
    "Person, ACTED_IN, Movie",
    "Person, DIRECTED, Movie",
    "Movie, SEQUEL_OF, Movie",
    "Actor, ACTED_IN, Movie",
    "Person, OWNS, Company",
    "Company, OWNS, Company",
    "Job Title, FITS TO, Person",
)

UNCHANGED = [
    # as the schema has it
    "MATCH (p:Person)-[:WORKS_AT]->(c:Company) RETURN p",
    "MATCH (c:Company)<-[:WORKS_AT]-(p:Person) RETURN p",
    "MATCH (p:Person)-[w:WORKS_AT]->(c:Company) RETURN w",
    "MATCH (p:Person)-->(c:Company) RETURN p",
    "MATCH (c:Company)<--(p:Person) RETURN p",
    "match (p:Person)-[:WORKS_AT]->(c:Company) return p",
    "MATCH (p:Person) - [:WORKS_AT] -> (c:Company) RETURN p",
    "MATCH (p:Person {name: 'Ann'})-[:WORKS_AT {since: 2010}]->(c:Company {name: 'A -> B'}) RETURN p",
    "MATCH (:`Job Title`)-[:`FITS TO`]->(p:Person) RETURN p",
    # undirected
    "MATCH (c:Company)-[:WORKS_AT]-(p:Person) RETURN p",
    "MATCH (c:Company)--(p:Person) RETURN p",
    "MATCH (c:Company)<-[:WORKS_AT]->(p:Person) RETURN p",
    "MATCH (c:Company)<-->(p:Person) RETURN p",
    "MATCH (a:Actor)-[:ACTED_IN*2]-(b:Actor) RETURN b",
    "MATCH (c:Company)-[:WORKS_AT*2]-(d:Company) RETURN d",
    "MATCH p = shortestPath((a:Actor {name: 'Ann'})-[*..4]-(b:Actor {name: 'Bo'})) RETURN p",
    "MATCH (a:Actor)-[:ACTED_IN]-{2}(b:Person) RETURN b",
    # both directions legal
    "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN a",
    "MATCH (a:Person)<-[:KNOWS]-(b:Person) RETURN a",
    "MATCH (a:Movie)<-[:SEQUEL_OF]-(b:Movie) RETURN a",
    "MATCH (a:Company)<-[:OWNS]-(b:Company) RETURN a",
    # ends without labels
    "MATCH (a)-[:WORKS_AT]->(b) RETURN a",
    "MATCH (a)<-[:WORKS_AT]-(b) RETURN a",
    "MATCH ()-[:WORKS_AT]->() RETURN count(*)",
    "MATCH (a)-[r]->(b) RETURN r",
    "MATCH (a)-->(b) RETURN a",
    "MATCH (a)<--() RETURN a",
    "MATCH (a:Person)-->(b) RETURN a",
    "MATCH (a:Person)<--(b) RETURN a",
    "MATCH (a:Person)<-[]-(b:Person) RETURN a",
    # chains
    "MATCH (p:Person)-[:WORKS_AT]->(c:Company)-[:BASED_IN]->(t:City) RETURN t",
    "MATCH (t:City)<-[:BASED_IN]-(c)<-[:WORKS_AT]-(p) RETURN p",
    "MATCH (p)-[:WORKS_AT]->(c)-[:BASED_IN]->(t)-[:PART_OF]->(k) RETURN k",
    "MATCH (a:Person)-[:ACTED_IN]->(m)<-[:DIRECTED]-(b) RETURN b",
    # commas and several MATCH
    "MATCH (p:Person), (c:Company) WHERE (p)-[:WORKS_AT]->(c) RETURN p",
    "MATCH (p:Person)-[:WORKS_AT]->(c), (c)-[:BASED_IN]->(t) RETURN t",
    "MATCH (p:Person) MATCH (p)-[:WORKS_AT]->(c) RETURN c",
    "MATCH (p:Person) OPTIONAL MATCH (p)-[:WORKS_AT]->(c:Company) RETURN p, c",
    # lengths
    "MATCH (p:Person)-[:KNOWS*1..3]->(q:Person) RETURN q",
    "MATCH (p:Person)-[:KNOWS|WORKS_AT*2]->(c:Company) RETURN c",
    "MATCH (p:Person)-[*..3]->(k:Country) RETURN k",
    "MATCH (p:Person)-[*3]->(k:Country) RETURN k",
    "MATCH (p:Person)-[*]->(k) RETURN k",
    "MATCH (p:Person)-[:KNOWS*0..]->(q:Person) RETURN q",
    "MATCH (p:Person)-[:WORKS_AT*0..1]->(q:Person) RETURN q",
    "MATCH (p:Person)-[:KNOWS]->+(q:Person) RETURN q",
    "MATCH (p:Person)-[:KNOWS]->{1,3}(q:Person) RETURN q",
    "MATCH ((a:Person)-[:KNOWS]->(b:Person)){1,3} RETURN a",
    # several types
    "MATCH (p:Person)-[:WORKS_AT|OWNS]->(c:Company) RETURN c",
    "MATCH (p:Person)-[:ACTED_IN|:DIRECTED]->(m:Movie) RETURN m",
    "MATCH (c:Company)<-[:BASED_IN|OWNS]-(x:Person) RETURN x",
    "MATCH (p:Person)-[:!KNOWS]->(c:Company) RETURN c",
    "MATCH (p:Person)-[:(WORKS_AT|OWNS)&!KNOWS]->(c:Company) RETURN c",
    "MATCH (p:Person)-[:%]->(c:Company) RETURN c",
    # label expressions
    "MATCH (p:!Movie)-[:ACTED_IN]->(m) RETURN p",
    "MATCH (p:Person|Company)-[:OWNS]->(c:Company) RETURN p",
    "MATCH (p:Person&!Actor)-[:ACTED_IN]->(m:Movie) RETURN p",
    "MATCH (p:Person:Actor)-[:WORKS_AT]->(c:Company) RETURN p",
    "MATCH (p:Actor&Person)-[:DIRECTED]->(m:Movie) RETURN p",
    "MATCH (p:%)-[:WORKS_AT]->(c:%) RETURN p",
    "MATCH (p:(Person|Actor)&!Movie)-[:ACTED_IN]->(m) RETURN p",
    "MATCH (p IS Person)-[IS WORKS_AT]->(c IS Company) RETURN p",
    "MATCH (p:!(Company|Movie))-[:OWNS]->(c) RETURN p",
    # conditions
    "MATCH (a)-[:WORKS_AT]->(b) WHERE a:Person RETURN a",
    "MATCH (a)-[r]->(b) WHERE type(r) = 'WORKS_AT' RETURN a",
    "MATCH (a) WHERE EXISTS { (a)-[:WORKS_AT]->(:Company) } RETURN a",
    "MATCH (a:Person) WHERE NOT (a)-[:KNOWS]->(:Person) RETURN a",
    "MATCH (a:Person) WHERE a.age <- 3 RETURN a",
    "MATCH (a:Person) WHERE a.x - a.y > 3 RETURN a",
    "MATCH (a:Person) RETURN a.name = '(:Company)-[:WORKS_AT]->(:Person)'",
    "MATCH (a:Person) /* (:Company)-[:WORKS_AT]->(:Person) */ RETURN a",
    "MATCH (a:Person) RETURN [(a)-[:WORKS_AT]->(c) | c.name]",
    "MATCH (a:Person) RETURN size([(a)-[:WORKS_AT]->(c:Company) WHERE c.size > 3 | c.name])",
    "MATCH (a:Person) RETURN COUNT { (a)-[:WORKS_AT]->(:Company) }",
    "MATCH (a:Person) RETURN COLLECT { MATCH (a)-[:WORKS_AT]->(c) RETURN c.name }",
    # other scopes
    "MATCH (a:Company) WITH count(a) AS n MATCH (a:Person)-[:WORKS_AT]->(c) RETURN c, n",
    "MATCH (a:Company) RETURN a.name AS n UNION MATCH (a:Person)-[:WORKS_AT]->(c) RETURN c.name AS n",
    "MATCH (a:Person) CALL { MATCH (a:Company)-[:BASED_IN]->(t) RETURN t } RETURN a, t",
    "MATCH (a:Company) RETURN [a IN [1, 2] WHERE a > 1 | a]",
    "MATCH p = shortestPath((a:Person)-[:KNOWS*..6]-(b:Person)) RETURN p",
    "MATCH p = (a:Person)-[:WORKS_AT]->(c) RETURN nodes(p)",
    "MATCH p = ALL SHORTEST (a:Person)-[:KNOWS]->+(b:Person) RETURN p",
    # labels that the schema knows by hops that do not meet: left alone, a node may have both
    "MATCH (x:Actor)-[:ACTED_IN]->(m), (x:Person)-[:WORKS_AT]->(c) RETURN x",
    "MATCH (x:Person:Company)-[:WORKS_AT]->(c), (x)-[:BASED_IN]->(t) RETURN x",
    # written from the manual before the code's handling of them was looked at
    "MATCH (p:Person)-[:KNOWS]->{,3}(q:Person) RETURN q",
    "MATCH (c:Company)-[:WORKS_AT]-{1,2}(p:Person) RETURN p",
    "MATCH (c:%)-[:WORKS_AT]->(p) RETURN p",
    "MATCH (c:Company) WITH count(c) AS n MATCH (c)-[:WORKS_AT]->(p) RETURN p, n",
    "MATCH (c)-[:WORKS_AT]->(p) WHERE c:Company OR c:Person RETURN p",
    "MATCH (c)-[:WORKS_AT]->(p) WHERE NOT c:Company RETURN p",
    "MATCH (c:Company|Person)-[:WORKS_AT]->(p) RETURN p",
    "MATCH (c:Company) CALL { MATCH (c)-[:WORKS_AT]->(p) RETURN p } RETURN p",
]

TURNED = [
    # one hop
    (
        "MATCH (c:Company)-[:WORKS_AT]->(p:Person) RETURN p",
        "MATCH (c:Company)<-[:WORKS_AT]-(p:Person) RETURN p",
    ),
    (
        "MATCH (p:Person)<-[:WORKS_AT]-(c:Company) RETURN p",
        "MATCH (p:Person)-[:WORKS_AT]->(c:Company) RETURN p",
    ),
    (
        "MATCH (c:Company)-[w:WORKS_AT]->(p:Person) RETURN w",
        "MATCH (c:Company)<-[w:WORKS_AT]-(p:Person) RETURN w",
    ),
    ("MATCH (c:Company)-->(p:Person) RETURN p", "MATCH (c:Company)<--(p:Person) RETURN p"),
    ("MATCH (p:Person)<--(c:Company) RETURN p", "MATCH (p:Person)-->(c:Company) RETURN p"),
    ("MATCH (c:Company)-[]->(p:Person) RETURN p", "MATCH (c:Company)<-[]-(p:Person) RETURN p"),
    ("MATCH (c:Company)-[r]->(p:Person) RETURN p", "MATCH (c:Company)<-[r]-(p:Person) RETURN p"),
    (
        "MATCH (c:Company) - [:WORKS_AT] -> (p:Person) RETURN p",
        "MATCH (c:Company) <- [:WORKS_AT] - (p:Person) RETURN p",
    ),
    (
        "MATCH (p:Person) < - [:WORKS_AT] - (c:Company) RETURN p",
        "MATCH (p:Person)  - [:WORKS_AT] -> (c:Company) RETURN p",
    ),
    (
        "match (c:Company)-[:WORKS_AT]->(p:Person) return p",
        "match (c:Company)<-[:WORKS_AT]-(p:Person) return p",
    ),
    (
        "MATCH (c:Company {name: 'A'})-[:WORKS_AT {since: 2010}]->(p:Person {name: 'B'}) RETURN p",
        "MATCH (c:Company {name: 'A'})<-[:WORKS_AT {since: 2010}]-(p:Person {name: 'B'}) RETURN p",
    ),
    (
        "MATCH (c:`Company`)-[:`WORKS_AT`]->(p:`Person`) RETURN p",
        "MATCH (c:`Company`)<-[:`WORKS_AT`]-(p:`Person`) RETURN p",
    ),
    (
        "MATCH (p:Person)-[:`FITS TO`]->(j:`Job Title`) RETURN j",
        "MATCH (p:Person)<-[:`FITS TO`]-(j:`Job Title`) RETURN j",
    ),
    ("MATCH (:Company)-[:WORKS_AT]->(:Person) RETURN 1", "MATCH (:Company)<-[:WORKS_AT]-(:Person) RETURN 1"),
    (
        "MATCH (c:Company)-[:WORKS_AT]->(p:Person) // who\nRETURN p",
        "MATCH (c:Company)<-[:WORKS_AT]-(p:Person) // who\nRETURN p",
    ),
    (
        "MATCH (c:Company)-/* works */[:WORKS_AT]->(p:Person) RETURN p",
        "MATCH (c:Company)<-/* works */[:WORKS_AT]-(p:Person) RETURN p",
    ),
    # one end without labels
    ("MATCH (c:Company)-[:WORKS_AT]->(p) RETURN p", "MATCH (c:Company)<-[:WORKS_AT]-(p) RETURN p"),
    ("MATCH (c)<-[:WORKS_AT]-(x:Company) RETURN c", "MATCH (c)-[:WORKS_AT]->(x:Company) RETURN c"),
    ("MATCH (:Person)<-[:WORKS_AT]-() RETURN 1", "MATCH (:Person)-[:WORKS_AT]->() RETURN 1"),
    ("MATCH (k:Country)-->(x) RETURN x", "MATCH (k:Country)<--(x) RETURN x"),
    ("MATCH (x)<--(k:Country) RETURN x", "MATCH (x)-->(k:Country) RETURN x"),
    ("MATCH (m:Movie)-[:DIRECTED]->() RETURN m", "MATCH (m:Movie)<-[:DIRECTED]-() RETURN m"),
    # chains: declared labels
    (
        "MATCH (p:Person)<-[:WORKS_AT]-(c:Company)-[:BASED_IN]->(t:City) RETURN t",
        "MATCH (p:Person)-[:WORKS_AT]->(c:Company)-[:BASED_IN]->(t:City) RETURN t",
    ),
    (
        "MATCH (p:Person)<-[:WORKS_AT]-(c:Company)<-[:BASED_IN]-(t:City) RETURN t",
        "MATCH (p:Person)-[:WORKS_AT]->(c:Company)-[:BASED_IN]->(t:City) RETURN t",
    ),
    (
        "MATCH (a:Person)-[:ACTED_IN]->(m:Movie)-[:DIRECTED]->(b:Person) RETURN b",
        "MATCH (a:Person)-[:ACTED_IN]->(m:Movie)<-[:DIRECTED]-(b:Person) RETURN b",
    ),
    (
        "MATCH (t:City)-[:BASED_IN]->(c:Company)-[:WORKS_AT]->(p:Person)-[:KNOWS]->(q:Person) RETURN q",
        "MATCH (t:City)<-[:BASED_IN]-(c:Company)<-[:WORKS_AT]-(p:Person)-[:KNOWS]->(q:Person) RETURN q",
    ),
    # chains: labels that follow from the other hops
    (
        "MATCH (a:Person)-[:WORKS_AT]->(b)-[:WORKS_AT]->(c) RETURN c",
        "MATCH (a:Person)-[:WORKS_AT]->(b)<-[:WORKS_AT]-(c) RETURN c",
    ),
    (
        "MATCH (p)-[:ACTED_IN]->(m)-[:DIRECTED]->(d) RETURN d",
        "MATCH (p)-[:ACTED_IN]->(m)<-[:DIRECTED]-(d) RETURN d",
    ),
    (
        "MATCH (p:Person)-[:WORKS_AT]->(c)<-[:BASED_IN]-(t) RETURN t",
        "MATCH (p:Person)-[:WORKS_AT]->(c)-[:BASED_IN]->(t) RETURN t",
    ),
    (
        "MATCH (k:Country)<-[:PART_OF]-(t)-[:LIVES_IN]->(x) RETURN x",
        "MATCH (k:Country)<-[:PART_OF]-(t)<-[:LIVES_IN]-(x) RETURN x",
    ),
    # comma patterns
    (
        "MATCH (p:Person)-[:WORKS_AT]->(c:Company), (t:City)-[:BASED_IN]->(c) RETURN t",
        "MATCH (p:Person)-[:WORKS_AT]->(c:Company), (t:City)<-[:BASED_IN]-(c) RETURN t",
    ),
    (
        "MATCH (c:Company), (p:Person), (c)-[:WORKS_AT]->(p) RETURN p",
        "MATCH (c:Company), (p:Person), (c)<-[:WORKS_AT]-(p) RETURN p",
    ),
    (
        "MATCH (m)-[:DIRECTED]->(d), (m)-[:ACTED_IN]->(a), (m:Movie) RETURN d",
        "MATCH (m)<-[:DIRECTED]-(d), (m)<-[:ACTED_IN]-(a), (m:Movie) RETURN d",
    ),
    (
        "MATCH (a)-[:WORKS_AT]->(c), (c)-[:WORKS_AT]->(b) RETURN b",
        "MATCH (a)-[:WORKS_AT]->(c), (c)<-[:WORKS_AT]-(b) RETURN b",
    ),
    # several clauses
    (
        "MATCH (c:Company) MATCH (c)-[:WORKS_AT]->(p) RETURN p",
        "MATCH (c:Company) MATCH (c)<-[:WORKS_AT]-(p) RETURN p",
    ),
    (
        "MATCH (c)-[:WORKS_AT]->(p) MATCH (c:Company) RETURN p",
        "MATCH (c)<-[:WORKS_AT]-(p) MATCH (c:Company) RETURN p",
    ),
    (
        "MATCH (c:Company) OPTIONAL MATCH (c)-[:WORKS_AT]->(p) RETURN c, p",
        "MATCH (c:Company) OPTIONAL MATCH (c)<-[:WORKS_AT]-(p) RETURN c, p",
    ),
    (
        "OPTIONAL MATCH (c:Company)-[:WORKS_AT]->(p) RETURN p",
        "OPTIONAL MATCH (c:Company)<-[:WORKS_AT]-(p) RETURN p",
    ),
    (
        "MATCH (c:Company) WITH c MATCH (c)-[:WORKS_AT]->(p) RETURN p",
        "MATCH (c:Company) WITH c MATCH (c)<-[:WORKS_AT]-(p) RETURN p",
    ),
    (
        "MATCH (c:Company) WITH c AS firm MATCH (firm)-[:WORKS_AT]->(p) RETURN p",
        "MATCH (c:Company) WITH c AS firm MATCH (firm)<-[:WORKS_AT]-(p) RETURN p",
    ),
    (
        "MATCH (c:Company) WITH *, 1 AS one MATCH (c)-[:WORKS_AT]->(p) RETURN p",
        "MATCH (c:Company) WITH *, 1 AS one MATCH (c)<-[:WORKS_AT]-(p) RETURN p",
    ),
    (
        "MATCH (c:Company) WITH c, count(*) AS n ORDER BY n LIMIT 3 MATCH (c)-[:WORKS_AT]->(p) RETURN p",
        "MATCH (c:Company) WITH c, count(*) AS n ORDER BY n LIMIT 3 MATCH (c)<-[:WORKS_AT]-(p) RETURN p",
    ),
    (
        "MATCH (c:Person) RETURN c.name AS n UNION ALL MATCH (c:Company)-[:WORKS_AT]->(p) RETURN p.name AS n",
        "MATCH (c:Person) RETURN c.name AS n UNION ALL MATCH (c:Company)<-[:WORKS_AT]-(p) RETURN p.name AS n",
    ),
    (
        "UNWIND ['a'] AS n MATCH (c:Company {name: n})-[:WORKS_AT]->(p) RETURN p",
        "UNWIND ['a'] AS n MATCH (c:Company {name: n})<-[:WORKS_AT]-(p) RETURN p",
    ),
    # subqueries
    (
        "MATCH (c:Company) CALL { WITH c MATCH (c)-[:WORKS_AT]->(p) RETURN count(p) AS n } RETURN c, n",
        "MATCH (c:Company) CALL { WITH c MATCH (c)<-[:WORKS_AT]-(p) RETURN count(p) AS n } RETURN c, n",
    ),
    (
        "MATCH (c:Company) CALL (c) { MATCH (c)-[:WORKS_AT]->(p) RETURN count(p) AS n } RETURN c, n",
        "MATCH (c:Company) CALL (c) { MATCH (c)<-[:WORKS_AT]-(p) RETURN count(p) AS n } RETURN c, n",
    ),
    (
        "MATCH (c:Company) CALL (*) { MATCH (c)-[:WORKS_AT]->(p) RETURN count(p) AS n } RETURN c, n",
        "MATCH (c:Company) CALL (*) { MATCH (c)<-[:WORKS_AT]-(p) RETURN count(p) AS n } RETURN c, n",
    ),
    (
        "MATCH (x) CALL { MATCH (c:Company) RETURN c } MATCH (c)-[:WORKS_AT]->(p) RETURN p",
        "MATCH (x) CALL { MATCH (c:Company) RETURN c } MATCH (c)<-[:WORKS_AT]-(p) RETURN p",
    ),
    (
        "MATCH (c:Company) WHERE EXISTS { (c)-[:WORKS_AT]->(:Person) } RETURN c",
        "MATCH (c:Company) WHERE EXISTS { (c)<-[:WORKS_AT]-(:Person) } RETURN c",
    ),
    (
        "MATCH (c:Company) WHERE EXISTS { MATCH (c)-[:WORKS_AT]->(p) WHERE p.age > 3 } RETURN c",
        "MATCH (c:Company) WHERE EXISTS { MATCH (c)<-[:WORKS_AT]-(p) WHERE p.age > 3 } RETURN c",
    ),
    (
        "MATCH (c:Company) WHERE NOT EXISTS { MATCH (c)-[:WORKS_AT]->(p:Person) RETURN p } RETURN c",
        "MATCH (c:Company) WHERE NOT EXISTS { MATCH (c)<-[:WORKS_AT]-(p:Person) RETURN p } RETURN c",
    ),
    (
        "MATCH (c:Company) RETURN COUNT { (c)-[:WORKS_AT]->() } AS n",
        "MATCH (c:Company) RETURN COUNT { (c)<-[:WORKS_AT]-() } AS n",
    ),
    (
        "MATCH (c:Company) RETURN COLLECT { MATCH (c)-[:WORKS_AT]->(p) RETURN p.name } AS n",
        "MATCH (c:Company) RETURN COLLECT { MATCH (c)<-[:WORKS_AT]-(p) RETURN p.name } AS n",
    ),
    (
        "MATCH (c:Company) WHERE count { (c)-[:WORKS_AT]->() } > 3 RETURN c",
        "MATCH (c:Company) WHERE count { (c)<-[:WORKS_AT]-() } > 3 RETURN c",
    ),
    (
        "MATCH (t:City) WHERE EXISTS { (t)-[:BASED_IN]->(c) WHERE EXISTS { (c)-[:WORKS_AT]->() } } RETURN t",
        "MATCH (t:City) WHERE EXISTS { (t)<-[:BASED_IN]-(c) WHERE EXISTS { (c)<-[:WORKS_AT]-() } } RETURN t",
    ),
    # conditions with patterns
    (
        "MATCH (c:Company) WHERE (c)-[:WORKS_AT]->() RETURN c",
        "MATCH (c:Company) WHERE (c)<-[:WORKS_AT]-() RETURN c",
    ),
    (
        "MATCH (c:Company) WHERE NOT (c)-[:WORKS_AT]->(:Person) RETURN c",
        "MATCH (c:Company) WHERE NOT (c)<-[:WORKS_AT]-(:Person) RETURN c",
    ),
    (
        "MATCH (c:Company), (p:Person) WHERE (c)-[:WORKS_AT]->(p) AND p.age > 3 RETURN c",
        "MATCH (c:Company), (p:Person) WHERE (c)<-[:WORKS_AT]-(p) AND p.age > 3 RETURN c",
    ),
    (
        "MATCH (c:Company), (p:Person) WHERE p.age > 3 OR ((c)-[:WORKS_AT]->(p)) RETURN c",
        "MATCH (c:Company), (p:Person) WHERE p.age > 3 OR ((c)<-[:WORKS_AT]-(p)) RETURN c",
    ),
    (
        "MATCH (c:Company) WHERE exists((c)-[:WORKS_AT]->()) RETURN c",
        "MATCH (c:Company) WHERE exists((c)<-[:WORKS_AT]-()) RETURN c",
    ),
    (
        "MATCH (c:Company) WHERE size([(c)-[:WORKS_AT]->(p) | p]) > 2 RETURN c",
        "MATCH (c:Company) WHERE size([(c)<-[:WORKS_AT]-(p) | p]) > 2 RETURN c",
    ),
    (
        "MATCH (c:Company) RETURN CASE WHEN (c)-[:WORKS_AT]->() THEN 1 ELSE 0 END",
        "MATCH (c:Company) RETURN CASE WHEN (c)<-[:WORKS_AT]-() THEN 1 ELSE 0 END",
    ),
    (
        "MATCH (c:Company) WITH c ORDER BY COUNT { (c)-[:WORKS_AT]->() } RETURN c",
        "MATCH (c:Company) WITH c ORDER BY COUNT { (c)<-[:WORKS_AT]-() } RETURN c",
    ),
    (
        "MATCH (c:Company) WITH collect(c) AS cs RETURN [x IN cs WHERE (x)-[:WORKS_AT]->(:Person)]",
        "MATCH (c:Company) WITH collect(c) AS cs RETURN [x IN cs WHERE (x)<-[:WORKS_AT]-(:Person)]",
    ),
    (
        "MATCH (c:Company) WHERE all(x IN [1] WHERE (c)-[:WORKS_AT]->(:Person)) RETURN c",
        "MATCH (c:Company) WHERE all(x IN [1] WHERE (c)<-[:WORKS_AT]-(:Person)) RETURN c",
    ),
    # pattern comprehensions
    (
        "MATCH (c:Company) RETURN [(c)-[:WORKS_AT]->(p) | p.name]",
        "MATCH (c:Company) RETURN [(c)<-[:WORKS_AT]-(p) | p.name]",
    ),
    (
        "MATCH (c:Company) RETURN [(c)-[:WORKS_AT]->(p:Person) WHERE p.age > 3 | p.name] AS names",
        "MATCH (c:Company) RETURN [(c)<-[:WORKS_AT]-(p:Person) WHERE p.age > 3 | p.name] AS names",
    ),
    (
        "MATCH (c:Company) RETURN [x = (c)-[:WORKS_AT]->() | length(x)]",
        "MATCH (c:Company) RETURN [x = (c)<-[:WORKS_AT]-() | length(x)]",
    ),
    (
        "MATCH (t:City) RETURN [(t)-[:BASED_IN]->(c) | [(c)-[:WORKS_AT]->(p) | p.name]]",
        "MATCH (t:City) RETURN [(t)<-[:BASED_IN]-(c) | [(c)<-[:WORKS_AT]-(p) | p.name]]",
    ),
    (
        "MATCH (c:Company) RETURN c {.name, staff: [(c)-[:WORKS_AT]->(p) | p.name]}",
        "MATCH (c:Company) RETURN c {.name, staff: [(c)<-[:WORKS_AT]-(p) | p.name]}",
    ),
    # lengths
    (
        "MATCH (c:Company)-[:WORKS_AT*1..2]->(p:Person) RETURN p",
        "MATCH (c:Company)<-[:WORKS_AT*1..2]-(p:Person) RETURN p",
    ),
    ("MATCH (k:Country)-[*..3]->(p:Person) RETURN p", "MATCH (k:Country)<-[*..3]-(p:Person) RETURN p"),
    ("MATCH (k:Country)-[*]->(p:Person) RETURN p", "MATCH (k:Country)<-[*]-(p:Person) RETURN p"),
    ("MATCH (k:Country)-[r*3]->(p:Person) RETURN p", "MATCH (k:Country)<-[r*3]-(p:Person) RETURN p"),
    (
        "MATCH (c:Company)-[:KNOWS|WORKS_AT*]->(p:Person) RETURN p",
        "MATCH (c:Company)<-[:KNOWS|WORKS_AT*]-(p:Person) RETURN p",
    ),
    (
        "MATCH (c:Company)-[:KNOWS|WORKS_AT*2..4 {x: 1}]->(p) RETURN p",
        "MATCH (c:Company)<-[:KNOWS|WORKS_AT*2..4 {x: 1}]-(p) RETURN p",
    ),
    (
        "MATCH (c:Company)-[:WORKS_AT]->+(p:Person) RETURN p",
        "MATCH (c:Company)<-[:WORKS_AT]-+(p:Person) RETURN p",
    ),
    (
        "MATCH (c:Company)-[:WORKS_AT]->{1,2}(p:Person) RETURN p",
        "MATCH (c:Company)<-[:WORKS_AT]-{1,2}(p:Person) RETURN p",
    ),
    (
        "MATCH ((c:Company)-[:WORKS_AT]->(p:Person)){1,2} RETURN p",
        "MATCH ((c:Company)<-[:WORKS_AT]-(p:Person)){1,2} RETURN p",
    ),
    (
        "MATCH (t:City) ((x)-[:LIVES_IN]->(y:Person) WHERE y.age > 3){1} RETURN t",
        "MATCH (t:City) ((x)<-[:LIVES_IN]-(y:Person) WHERE y.age > 3){1} RETURN t",
    ),
    (
        "MATCH p = shortestPath((k:Country)-[*..9]->(a:Person)) RETURN p",
        "MATCH p = shortestPath((k:Country)<-[*..9]-(a:Person)) RETURN p",
    ),
    (
        "MATCH p = allShortestPaths((c:Company)-[:WORKS_AT*]->(a:Person)) RETURN p",
        "MATCH p = allShortestPaths((c:Company)<-[:WORKS_AT*]-(a:Person)) RETURN p",
    ),
    (
        "MATCH p = SHORTEST 2 (k:Country)-[:PART_OF]->(t:City) RETURN p",
        "MATCH p = SHORTEST 2 (k:Country)<-[:PART_OF]-(t:City) RETURN p",
    ),
    (
        "MATCH (k:Country), (a:Person) RETURN length(shortestPath((k)-[*..5]->(a)))",
        "MATCH (k:Country), (a:Person) RETURN length(shortestPath((k)<-[*..5]-(a)))",
    ),
    (
        "MATCH (p:Person)-[*2]->(k:Country)-->(x) RETURN x",
        "MATCH (p:Person)-[*2]->(k:Country)<--(x) RETURN x",
    ),
    # several types
    (
        "MATCH (c:Company)-[:WORKS_AT|BASED_IN]->(p:Person) RETURN p",
        "MATCH (c:Company)<-[:WORKS_AT|BASED_IN]-(p:Person) RETURN p",
    ),
    (
        "MATCH (m:Movie)-[:ACTED_IN|DIRECTED]->(p) RETURN p",
        "MATCH (m:Movie)<-[:ACTED_IN|DIRECTED]-(p) RETURN p",
    ),
    (
        "MATCH (m:Movie)-[r:ACTED_IN|:DIRECTED]->(p) RETURN p",
        "MATCH (m:Movie)<-[r:ACTED_IN|:DIRECTED]-(p) RETURN p",
    ),
    (
        "MATCH (m:Movie)-[:!SEQUEL_OF]->(p) RETURN p",
        "MATCH (m:Movie)<-[:!SEQUEL_OF]-(p) RETURN p",
    ),
    (
        "MATCH (c:Company)-[:!BASED_IN]->(p:Person) RETURN p",
        "MATCH (c:Company)<-[:!BASED_IN]-(p:Person) RETURN p",
    ),
    (
        "MATCH (m:Movie)-[:(ACTED_IN|DIRECTED)&!SEQUEL_OF]->(p) RETURN p",
        "MATCH (m:Movie)<-[:(ACTED_IN|DIRECTED)&!SEQUEL_OF]-(p) RETURN p",
    ),
    ("MATCH (k:Country)-[:%]->(x) RETURN x", "MATCH (k:Country)<-[:%]-(x) RETURN x"),
    (
        "MATCH (c:Company)-[r]->(p) WHERE type(r) = 'WORKS_AT' RETURN p",
        "MATCH (c:Company)<-[r]-(p) WHERE type(r) = 'WORKS_AT' RETURN p",
    ),
    (
        "MATCH (m:Movie)-[r]->(p) WHERE type(r) IN ['ACTED_IN', 'DIRECTED'] RETURN p",
        "MATCH (m:Movie)<-[r]-(p) WHERE type(r) IN ['ACTED_IN', 'DIRECTED'] RETURN p",
    ),
    (
        "MATCH (c:Company)-[r]->(p) WHERE r:WORKS_AT RETURN p",
        "MATCH (c:Company)<-[r]-(p) WHERE r:WORKS_AT RETURN p",
    ),
    # label expressions
    (
        "MATCH (m:Movie|Company)-[:ACTED_IN]->(p) RETURN p",
        "MATCH (m:Movie|Company)<-[:ACTED_IN]-(p) RETURN p",
    ),
    ("MATCH (m:!Movie)<-[:ACTED_IN]-(p) RETURN p", "MATCH (m:!Movie)-[:ACTED_IN]->(p) RETURN p"),
    (
        "MATCH (m:!Person&!Actor)-[:ACTED_IN]->(p) RETURN p",
        "MATCH (m:!Person&!Actor)<-[:ACTED_IN]-(p) RETURN p",
    ),
    (
        "MATCH (m:!(Person|Actor))-[:ACTED_IN]->(p) RETURN p",
        "MATCH (m:!(Person|Actor))<-[:ACTED_IN]-(p) RETURN p",
    ),
    ("MATCH (x:Person:Actor)<-[:ACTED_IN]-(m) RETURN m", "MATCH (x:Person:Actor)-[:ACTED_IN]->(m) RETURN m"),
    ("MATCH (x:Person&Actor)<-[:WORKS_AT]-(c) RETURN c", "MATCH (x:Person&Actor)-[:WORKS_AT]->(c) RETURN c"),
    (
        "MATCH (x IS Company)-[IS WORKS_AT]->(p IS Person) RETURN p",
        "MATCH (x IS Company)<-[IS WORKS_AT]-(p IS Person) RETURN p",
    ),
    (
        "MATCH (c:Company WHERE c.x > 1)-[:WORKS_AT]->(p) RETURN p",
        "MATCH (c:Company WHERE c.x > 1)<-[:WORKS_AT]-(p) RETURN p",
    ),
    # labels in conditions
    (
        "MATCH (c)-[:WORKS_AT]->(p) WHERE c:Company RETURN p",
        "MATCH (c)<-[:WORKS_AT]-(p) WHERE c:Company RETURN p",
    ),
    (
        "MATCH (c)-[:WORKS_AT]->(p) WHERE p.age > 3 AND p:Person RETURN p",
        "MATCH (c)<-[:WORKS_AT]-(p) WHERE p.age > 3 AND p:Person RETURN p",
    ),
    (
        "MATCH (c)-[:WORKS_AT]->(p) WHERE c:Company OR c:City RETURN p",
        "MATCH (c)<-[:WORKS_AT]-(p) WHERE c:Company OR c:City RETURN p",
    ),
    (
        "MATCH (c)-[:WORKS_AT]->(p) WHERE NOT c:Person RETURN p",
        "MATCH (c)<-[:WORKS_AT]-(p) WHERE NOT c:Person RETURN p",
    ),
    (
        "MATCH (c)-[:WORKS_AT]->(p) WHERE 'Company' IN labels(c) RETURN p",
        "MATCH (c)<-[:WORKS_AT]-(p) WHERE 'Company' IN labels(c) RETURN p",
    ),
    (
        "MATCH (c)-[r:WORKS_AT]->(p) WHERE c:Company|Movie RETURN p",
        "MATCH (c)<-[r:WORKS_AT]-(p) WHERE c:Company|Movie RETURN p",
    ),
    (
        "MATCH (c) WITH c WHERE c:Company MATCH (c)-[:WORKS_AT]->(p) RETURN p",
        "MATCH (c) WITH c WHERE c:Company MATCH (c)<-[:WORKS_AT]-(p) RETURN p",
    ),
    # one hop of several is turned, undirected ones stay
    (
        "MATCH (p:Person)-[:KNOWS]-(q:Person)<-[:WORKS_AT]-(c:Company) RETURN c",
        "MATCH (p:Person)-[:KNOWS]-(q:Person)-[:WORKS_AT]->(c:Company) RETURN c",
    ),
    (
        "MATCH (c:Company)-[:WORKS_AT]-(p:Person)<-[:LIVES_IN]-(t:City) RETURN t",
        "MATCH (c:Company)-[:WORKS_AT]-(p:Person)-[:LIVES_IN]->(t:City) RETURN t",
    ),
    (
        "MATCH p = (m:Movie)-[:ACTED_IN]->(a:Person)-[:ACTED_IN]->(n:Movie) RETURN p",
        "MATCH p = (m:Movie)<-[:ACTED_IN]-(a:Person)-[:ACTED_IN]->(n:Movie) RETURN p",
    ),
    (
        "MATCH (a:Company)-[:OWNS]->(b:Person) RETURN b",
        "MATCH (a:Company)<-[:OWNS]-(b:Person) RETURN b",
    ),
    (
        "MATCH (m:Movie)-[:DIRECTED]->(p:Person)-[:DIRECTED]->(m) RETURN p",
        "MATCH (m:Movie)<-[:DIRECTED]-(p:Person)-[:DIRECTED]->(m) RETURN p",
    ),
    # written from the manual before the code's handling of them was looked at
    (
        "MATCH (c:Company)-[:WORKS_AT]->{1,1}(p:Person) RETURN p",
        "MATCH (c:Company)<-[:WORKS_AT]-{1,1}(p:Person) RETURN p",
    ),
    (
        "MATCH (c:Company WHERE c.size > 10)-[w:WORKS_AT WHERE w.since > 2000]->(p:Person WHERE "
        "p.name STARTS WITH 'A') RETURN p",
        "MATCH (c:Company WHERE c.size > 10)<-[w:WORKS_AT WHERE w.since > 2000]-(p:Person WHERE "
        "p.name STARTS WITH 'A') RETURN p",
    ),
    (
        "MATCH (c IS Company)-[:WORKS_AT]->(p IS Person) RETURN p",
        "MATCH (c IS Company)<-[:WORKS_AT]-(p IS Person) RETURN p",
    ),
    (
        "MATCH (c IS Company)-[w IS WORKS_AT]->(p) RETURN p",
        "MATCH (c IS Company)<-[w IS WORKS_AT]-(p) RETURN p",
    ),
    (
        "MATCH ((a:Company)-[:WORKS_AT]->(b:Person)){1,2} RETURN a",
        "MATCH ((a:Company)<-[:WORKS_AT]-(b:Person)){1,2} RETURN a",
    ),
    (
        "MATCH (x:Person) ((a)-[:KNOWS]->(b))+ (y:Person)<-[:WORKS_AT]-(c:Company) RETURN c",
        "MATCH (x:Person) ((a)-[:KNOWS]->(b))+ (y:Person)-[:WORKS_AT]->(c:Company) RETURN c",
    ),
    (
        "MATCH p = SHORTEST 1 (c:Company)-[:WORKS_AT]->(x:Person) RETURN p",
        "MATCH p = SHORTEST 1 (c:Company)<-[:WORKS_AT]-(x:Person) RETURN p",
    ),
    (
        "MATCH p = ALL SHORTEST (c:Company)-[:WORKS_AT]->(x:Person) RETURN p",
        "MATCH p = ALL SHORTEST (c:Company)<-[:WORKS_AT]-(x:Person) RETURN p",
    ),
    (
        "MATCH ANY (c:Company)-[:WORKS_AT]->(x:Person) RETURN x",
        "MATCH ANY (c:Company)<-[:WORKS_AT]-(x:Person) RETURN x",
    ),
    (
        "MATCH SHORTEST 2 GROUPS (c:Company)-[:WORKS_AT]->(x:Person) RETURN x",
        "MATCH SHORTEST 2 GROUPS (c:Company)<-[:WORKS_AT]-(x:Person) RETURN x",
    ),
    (
        "MATCH p = shortestPath((c:City)-[:LIVES_IN*1..1]->(x:Person)) RETURN p",
        "MATCH p = shortestPath((c:City)<-[:LIVES_IN*1..1]-(x:Person)) RETURN p",
    ),
    (
        "MATCH (c:City), (x:Person) RETURN shortestPath((c)-[:LIVES_IN]->(x)) AS p",
        "MATCH (c:City), (x:Person) RETURN shortestPath((c)<-[:LIVES_IN]-(x)) AS p",
    ),
    (
        "MATCH (c:Company) WHERE COUNT { (c)-[:WORKS_AT]->() } > 3 RETURN c",
        "MATCH (c:Company) WHERE COUNT { (c)<-[:WORKS_AT]-() } > 3 RETURN c",
    ),
    (
        "MATCH (c:Company) RETURN COLLECT { MATCH (c)-[:WORKS_AT]->(p) RETURN p.name } AS names",
        "MATCH (c:Company) RETURN COLLECT { MATCH (c)<-[:WORKS_AT]-(p) RETURN p.name } AS names",
    ),
    (
        "MATCH (m:Movie) RETURN [p = (m)-[:ACTED_IN]->(a) WHERE a.born > 1950 | length(p)] AS l",
        "MATCH (m:Movie) RETURN [p = (m)<-[:ACTED_IN]-(a) WHERE a.born > 1950 | length(p)] AS l",
    ),
    (
        "MATCH (c:Company) WITH c AS x MATCH (x)-[:WORKS_AT]->(p) RETURN p",
        "MATCH (c:Company) WITH c AS x MATCH (x)<-[:WORKS_AT]-(p) RETURN p",
    ),
    (
        "MATCH (c)-[:LIVES_IN]->(p) WHERE p:Person AND c.name = 'Rome' RETURN p",
        "MATCH (c)<-[:LIVES_IN]-(p) WHERE p:Person AND c.name = 'Rome' RETURN p",
    ),
    ("MATCH (c)-[:WORKS_AT]->(p), (c:Company) RETURN p", "MATCH (c)<-[:WORKS_AT]-(p), (c:Company) RETURN p"),
    (
        "MATCH (c)-[:WORKS_AT]->(p) MATCH (p:Person) RETURN p",
        "MATCH (c)<-[:WORKS_AT]-(p) MATCH (p:Person) RETURN p",
    ),
    (
        "MATCH (c:Company)-[:WORKS_AT|!KNOWS]->(p:Person) RETURN p",
        "MATCH (c:Company)<-[:WORKS_AT|!KNOWS]-(p:Person) RETURN p",
    ),
    (
        "MATCH (m:Movie)-[:ACTED_IN|:DIRECTED]->(p:Person) RETURN p",
        "MATCH (m:Movie)<-[:ACTED_IN|:DIRECTED]-(p:Person) RETURN p",
    ),
    (
        "MATCH (m:Movie)-[:(ACTED_IN|DIRECTED)&!KNOWS]->(p:Person) RETURN p",
        "MATCH (m:Movie)<-[:(ACTED_IN|DIRECTED)&!KNOWS]-(p:Person) RETURN p",
    ),
    (
        "MATCH (m:Movie&!Person)-[r:ACTED_IN]->(p) RETURN r",
        "MATCH (m:Movie&!Person)<-[r:ACTED_IN]-(p) RETURN r",
    ),
    (
        "MATCH (ct:Country)<-[:PART_OF]-(ci:City)-[:BASED_IN]->(co:Company)<-[:OWNS]-(p:Person) RETURN p",
        "MATCH (ct:Country)<-[:PART_OF]-(ci:City)<-[:BASED_IN]-(co:Company)<-[:OWNS]-(p:Person) RETURN p",
    ),
    (
        "MATCH (c:Company)-/* x */[:WORKS_AT]->(p:Person) RETURN p",
        "MATCH (c:Company)<-/* x */[:WORKS_AT]-(p:Person) RETURN p",
    ),
    (
        "MATCH (c:Company) OPTIONAL MATCH (c)-[:WORKS_AT]->(p) RETURN p UNION ALL MATCH "
        "(m:Movie)-[:DIRECTED]->(p) RETURN p",
        "MATCH (c:Company) OPTIONAL MATCH (c)<-[:WORKS_AT]-(p) RETURN p UNION ALL MATCH "
        "(m:Movie)<-[:DIRECTED]-(p) RETURN p",
    ),
    ("MATCH (m:Movie)-->(p:Person) RETURN p", "MATCH (m:Movie)<--(p:Person) RETURN p"),
    (
        "MATCH (a)-[:BASED_IN]->(b)-[:WORKS_AT]->(c) RETURN c",
        "MATCH (a)<-[:BASED_IN]-(b)<-[:WORKS_AT]-(c) RETURN c",
    ),
]

ILLEGAL = [
    ("MATCH (p:Person)-[:BASED_IN]->(t:City) RETURN t", "(p:Person)-[:BASED_IN]->(t:City)"),
    ("MATCH (p:Person)<-[:BASED_IN]-(t:City) RETURN t", "(p:Person)<-[:BASED_IN]-(t:City)"),
    ("MATCH (p:Person)-[:BASED_IN]-(t:City) RETURN t", "(p:Person)-[:BASED_IN]-(t:City)"),
    ("MATCH (c:Company)--(m:Movie) RETURN m", "(c:Company)--(m:Movie)"),
    ("MATCH (c:Company)-->(m:Movie) RETURN m", "(c:Company)-->(m:Movie)"),
    ("MATCH (a:Company)-[:WORKS_AT]->(b:Company) RETURN b", "(a:Company)-[:WORKS_AT]->(b:Company)"),
    ("MATCH (a:Person)-[:LOVES]->(b:Person) RETURN b", "(a:Person)-[:LOVES]->(b:Person)"),
    ("MATCH (a)-[:LOVES]->(b) RETURN b", "(a)-[:LOVES]->(b)"),
    ("MATCH (a:Persn)-[:KNOWS]->(b) RETURN b", "(a:Persn)-[:KNOWS]->(b)"),
    ("MATCH (a:person)-[:KNOWS]->(b) RETURN b", "(a:person)-[:KNOWS]->(b)"),
    ("MATCH (a:Person)-[:knows]->(b) RETURN b", "(a:Person)-[:knows]->(b)"),
    ("MATCH (k:Country)-[:PART_OF]->(p:Person) RETURN p", "(k:Country)-[:PART_OF]->(p:Person)"),
    (
        "MATCH (p:Person)-[:WORKS_AT]->(c:Company)-[:LIVES_IN]->(t:City) RETURN t",
        "(c:Company)-[:LIVES_IN]->(t:City)",
    ),
    ("MATCH (p:Person), (c:Company)-[:LIVES_IN]->(t) RETURN t", "(c:Company)-[:LIVES_IN]->(t)"),
    ("MATCH (c:Company) MATCH (c)-[:LIVES_IN]->(t) RETURN t", "(c)-[:LIVES_IN]->(t)"),
    ("MATCH (c:Company) OPTIONAL MATCH (c)-[:LIVES_IN]->(t) RETURN t", "(c)-[:LIVES_IN]->(t)"),
    ("MATCH (c:Company) WHERE (c)-[:LIVES_IN]->() RETURN c", "(c)-[:LIVES_IN]->()"),
    ("MATCH (c:Company) WHERE NOT (c)-[:LIVES_IN]->() RETURN c", "(c)-[:LIVES_IN]->()"),
    ("MATCH (c:Company) RETURN [(c)-[:LIVES_IN]->(t) | t]", "(c)-[:LIVES_IN]->(t)"),
    ("MATCH (c:Company) RETURN COUNT { (c)-[:LIVES_IN]->() }", "(c)-[:LIVES_IN]->()"),
    ("MATCH (c:Company) WHERE EXISTS { (c)-[:LIVES_IN]->() } RETURN c", "(c)-[:LIVES_IN]->()"),
    ("MATCH (c:Company)-[:LIVES_IN*1..3]->(t:City) RETURN t", "(c:Company)-[:LIVES_IN*1..3]->(t:City)"),
    ("MATCH (p:Person)-[:KNOWS*]->(c:Company) RETURN c", "(p:Person)-[:KNOWS*]->(c:Company)"),
    ("MATCH (p:Person)-[:KNOWS|LIVES_IN]->(c:Company) RETURN c", "(p:Person)-[:KNOWS|LIVES_IN]->(c:Company)"),
    (
        "MATCH (p:Person)-[:!WORKS_AT&!OWNS]->(c:Company) RETURN c",
        "(p:Person)-[:!WORKS_AT&!OWNS]->(c:Company)",
    ),
    ("MATCH (p:Person)-[:KNOWS&OWNS]->(c) RETURN c", "(p:Person)-[:KNOWS&OWNS]->(c)"),
    ("MATCH (p:!Person)-[:KNOWS]->(q) RETURN q", "(p:!Person)-[:KNOWS]->(q)"),
    ("MATCH (p:City|Country)-[:KNOWS]->(q) RETURN q", "(p:City|Country)-[:KNOWS]->(q)"),
    ("MATCH (a)-[:KNOWS]->(b) WHERE a:City RETURN b", "(a)-[:KNOWS]->(b)"),
    ("MATCH (a)-[r]->(b) WHERE type(r) = 'LOVES' RETURN b", "(a)-[r]->(b)"),
    (
        "MATCH (a:Person) RETURN a.name AS n UNION MATCH (a:City)-[:KNOWS]->(b) RETURN b.name AS n",
        "(a:City)-[:KNOWS]->(b)",
    ),
    ("MATCH (a:City) CALL (a) { MATCH (a)-[:KNOWS]->(b) RETURN b } RETURN b", "(a)-[:KNOWS]->(b)"),
    ("MATCH p = shortestPath((a:Movie)-[:KNOWS*]-(b:Person)) RETURN p", "(a:Movie)-[:KNOWS*]-(b:Person)"),
    ("MATCH ((a:City)-[:KNOWS]->(b)){1,3} RETURN a", "(a:City)-[:KNOWS]->(b)"),
    # written from the manual before the code's handling of them was looked at
    ("MATCH (p:Person)-[:WORKS_AT]->(q:Person) RETURN q", "(p:Person)-[:WORKS_AT]->(q:Person)"),
    ("MATCH (p:person)-[:WORKS_AT]->(c) RETURN c", "(p:person)-[:WORKS_AT]->(c)"),
    ("MATCH (c:Company)-[:EMPLOYS]->(p:Person) RETURN p", "(c:Company)-[:EMPLOYS]->(p:Person)"),
    ("MATCH (m:Movie)-[:SEQUEL_OF]->{1,3}(c:City) RETURN c", "(m:Movie)-[:SEQUEL_OF]->{1,3}(c:City)"),
    ("MATCH (m:Movie)-[:ACTED_IN]-(c:City) RETURN c", "(m:Movie)-[:ACTED_IN]-(c:City)"),
    (
        "MATCH (a:Movie) WHERE NOT EXISTS { (a)-[:LIVES_IN]->(:Country) } RETURN a",
        "(a)-[:LIVES_IN]->(:Country)",
    ),
]
