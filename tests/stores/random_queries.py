"""Random reading queries over the movies graph: what people and models ask, by a small grammar and a seed."""

import random

LABELS = {"Person": ("name", "born"), "Movie": ("title", "released", "tagline")}
HOPS = {
    "ACTED_IN": ("Person", "Movie"),
    "DIRECTED": ("Person", "Movie"),
    "PRODUCED": ("Person", "Movie"),
    "WROTE": ("Person", "Movie"),
    "FOLLOWS": ("Person", "Person"),
    "REVIEWED": ("Person", "Movie"),
}
NUMBERS = ("born", "released", "rating")
TEXTS = ("'The Matrix'", "'Tom Hanks'", "'a'", "'The'", "'Kevin Bacon'", "'1999'", "'x'")


class Writer:
    """Writes one query after the other."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *items):
        return self.random.choice(items)

    def some(self, share):
        return self.random.random() < share

    def node(self, name, label):
        if self.some(0.2):
            return f"({name})"
        where = f" {{{LABELS[label][0]}: {self.pick(*TEXTS)}}}" if self.some(0.15) else ""
        return f"({name}:{label}{where})"

    def pattern(self):
        """A path of one to three nodes; the variables with their labels, and those of its relations."""
        hop = self.pick(*HOPS)
        head, tail = HOPS[hop]
        names, edges = {"a": head, "b": tail}, {"r": hop}
        arrow = self.pick("->", "->", "->", "-")
        left, right = self.node("a", head), self.node("b", tail)
        if arrow == "-":  # an import calls a film by its title, so that it has a name too
            left, right = f"(a:{head})", f"(b:{tail})"
        if self.some(0.2):
            return left.replace("(a)", f"(a:{head})"), {"a": head}, {}
        text = f"{left}-[r:{hop}]{arrow}{right}"
        if self.some(0.1):
            return f"{left}-[:{hop}*{self.pick('1..2', '0..1', '2', '0..2')}]-{right}", {"b": tail}, {}
        if self.some(0.35):
            other = self.pick(*(h for h in HOPS if tail in HOPS[h]))
            start, end = HOPS[other]
            if end == tail:
                text += f"<-[s:{other}]-{self.node('c', start)}"
                names["c"] = start
            else:
                text += f"-[s:{other}]->{self.node('c', end)}"
                names["c"] = end
            edges["s"] = other
        return text, names, edges

    def value(self, names, edges, depth=0):
        """An expression, and whether it is a number."""
        name = self.pick(*names)
        number = self.pick(*(k for k in LABELS[names[name]] if k in NUMBERS))
        text = LABELS[names[name]][0]
        choices = [
            (f"{name}.{number}", True), (f"{name}.{text}", False), (f"size({name}.{text})", True),
            (f"toUpper({name}.{text})", False), (f"substring({name}.{text}, 1, 3)", False),
            (f"{name}.{number} / 10 * 10", True), (f"{name}.{number} % 7", True),
            (f"{name}.{number} + 100 + 100", True), (f"-128 - {self.pick('1', '127')}", True),
            (f"toInteger({name}.{number} / 3.0)", True), (f"round({name}.{number} / 4.0)", True),
            (f"toInteger(-{name}.{number} / 7.0)", True), (f"toString({name}.{number})", False),
            (f"coalesce({name}.{number}, 0)", True), (f"labels({name})[0]", False),
            (f"left({name}.{text}, 3)", False), (f"split({name}.{text}, ' ')[0]", False),
            (f"split({name}.{text}, ' ')[7]", False), (f"abs({name}.{number} - 1980)", True),
            (f"{name}.{number} * 3000000", True), (f"round(-{name}.{number} / 2.0)", True),
            (f"CASE WHEN {name}.{number} > 1970 THEN 'new' ELSE 'old' END", False),
            (f"{name}.{number} IN [1956, 1999, null]", False), (f"{name}.{number} > 1960 XOR true", False),
            (f"{name} {{.{text}, n: {name}.{number}}}", False),
            (f"COUNT {{ ({name})--() }}", True), (f"toInteger({name}.{text})", True),
        ]  # fmt: skip
        other = self.pick(*names)
        other = f"{other}.{self.pick(*(k for k in LABELS[names[other]] if k not in NUMBERS))}"
        where = self.pick("w > 'M'", "w STARTS WITH 'T'", "size(w) > 4", f"w <> {name}.{text}")
        items = self.pick(
            f"split({name}.{text}, ' ')", f"[{name}.{text}, {other}, 'The']", f"[{other}, null, 'a']",
            f"[{name}.{text}] + [{other}]",
        )  # fmt: skip
        choices += [
            (f"{name}.{text} + ' ' + {other}", False), (f"toString({name}.{number}) + {other}", False),
            (f"toUpper({other} + {self.pick(*TEXTS)}) + {name}.{text}", False),
            (f"[w IN {items} | w + '!']", False), (f"[w IN {items} WHERE {where} | toUpper(w)]", False),
            (f"size([w IN {items} WHERE {where}])", True), (f"[w IN {items} | toString(size(w))]", False),
            (f"{self.pick('any', 'all', 'none', 'single')}(w IN {items} WHERE {where})", False),
            (f"toString({name}.{number} > 1970)", False), (f"replace({other}, 'a', 'b') + 'c'", False),
            (f"{items}[{self.pick(0, 1, -1, 5)}]", False),
            (f"{items}[{self.pick('1..', '..1', '-1..')}]", False),
            (f"reverse({other})", False), (f"{other} IS NULL OR {name}.{number} > 1970", False),
            (f"CASE {name}.{number} WHEN 1956 THEN {other} END", False), (f"right({other}, 2)", False),
            (f"trim({other}) = {name}.{text}", False), (f"sign({name}.{number} - 1970)", True),
            (f"{name}.{number} ^ 2", True), (f"-{name}.{number} % 7", True), (f"size({items})", True),
            (f"head({items})", False), (f"last({items})", False), (f"{other} IN {items}", False),
            (f"toFloat({name}.{number}) / 8", True), (f"{name}.{number} / 8.0", True),
            (f"{self.pick('floor', 'ceil')}({name}.{number} / 3.0)", True), (f"sqrt({name}.{number})", True),
            (f"{other} STARTS WITH {self.pick(*TEXTS)}", False), (f"{other} CONTAINS 'e' AND true", False),
            (f"NOT {other} ENDS WITH 'n'", False), (f"{name} = {self.pick(*names)}", False),
            (f"substring({other}, 2)", False), (f"{name}.{number} = {name}.{number}", False),
            (f"coalesce({other}, {name}.{text})", False),
            (f"range(1, size({other}))", False), (f"[{name}.{number}, {name}.{number} + 1]", False),
            (f"toLower({other}) < toLower({name}.{text})", False),
            (f"toInteger('{self.pick('7', '-7.9', 'x', ' 7')}')", True),
            (f"exists(({name})--())", False), (f"size(labels({name}))", True),
            (f"null + {name}.{text}", False),
            (f"{other} = null", False), (f"[{other}] = [{name}.{text}]", False),
            (f"abs(-{name}.{number})", True),
        ]  # fmt: skip
        if edges:
            choices += [(f"type({self.pick(*edges)})", False)] * 2
        return self.pick(*choices)

    def condition(self, names, edges, depth=0):
        name = self.pick(*names)
        number = self.pick(*(k for k in LABELS[names[name]] if k in NUMBERS))
        text = LABELS[names[name]][0]
        hop = self.pick(*(h for h in HOPS if names[name] in HOPS[h][:1]), "ACTED_IN")
        arrow = f"({name})-[:{hop}]->()" if HOPS[hop][0] == names[name] else f"({name})<-[:{hop}]-()"
        choices = [
            f"{name}.{number} {self.pick('<', '>', '<=', '>=', '=', '<>')} {self.random.randint(1920, 2012)}",
            f"{name}.{text} {self.pick('STARTS WITH', 'CONTAINS', '<', '=~')} {self.pick(*TEXTS)}",
            f"1950 <= {name}.{number} < 1990", f"{name}.{number} IS {self.pick('', 'NOT ')}NULL",
            f"EXISTS {{ {arrow} }}", arrow, f"NOT {arrow}",
            f"{name}.{number} IN [1956, 1964, null]", f"NOT {name}.{number} IN [1956, null]",
            f"{name}:{names[name]}", f"{name}.{text} IN [{self.pick(*TEXTS)}]",
            f"EXISTS {{ MATCH {arrow} WHERE {name}.{number} > 1960 }}", f"COUNT {{ {arrow} }} > 1",
            f"EXISTS {{ MATCH {arrow} MATCH ({name})--(z) WHERE {name}.{number} > 1960 RETURN z }}",
            f"any(w IN split({name}.{text}, ' ') WHERE w STARTS WITH 'T')",
        ]  # fmt: skip
        if depth < 2 and self.some(0.3):
            first, second = self.condition(names, edges, depth + 1), self.condition(names, edges, depth + 1)
            return self.pick(f"{first} AND {second}", f"({first} OR {second})", f"NOT ({first})")
        return self.pick(*choices)

    def query(self):
        text, names, edges = self.pattern()
        clauses = ["MATCH " + text]
        if self.some(0.6):
            clauses.append("WHERE " + self.condition(names, edges))
        if self.some(0.2) and "a" in names:
            hop = self.pick("DIRECTED", "FOLLOWS", "WROTE")
            if names["a"] == "Person":
                clauses.append(f"OPTIONAL MATCH (a)-[o:{hop}]->(x:{HOPS[hop][1]})")
                names, edges = {**names, "x": HOPS[hop][1]}, {**edges, "o": hop}
        if self.some(0.08):
            clauses.append("CALL { MATCH (q:Movie) WHERE q.released > 2000 RETURN count(q) AS extra }")
            return (
                f"{clauses.pop()} "
                + " ".join(clauses)
                + f" RETURN {next(iter(names))}.{LABELS[next(iter(names.values()))][0]}, extra"
            )
        if self.some(0.08) and names.get("a") == "Person":
            items = "[(a)-[:ACTED_IN]->(m) WHERE m.released > 1995 | m.title]"
            return " ".join(clauses) + f" RETURN a.name, {self.pick(items, f'size({items})')} AS l"
        items = [self.value(names, edges) for _ in range(self.random.randint(1, 3))]
        if self.some(0.35):
            function = self.pick("count", "count", "min", "max", "collect", "sum", "avg", "count(DISTINCT")
            name = self.pick(*names)
            key = self.pick(*LABELS[names[name]])
            if function in ("sum", "avg"):
                key = self.pick(*(k for k in LABELS[names[name]] if k in NUMBERS))
            aggregate = (
                f"count(DISTINCT {name}.{key})" if "DISTINCT" in function else f"{function}({name}.{key})"
            )
            aggregate = self.pick(aggregate, "count(*)", f"size(collect({name}.{key}))", aggregate)
            if self.some(0.1):
                number = next(k for k in LABELS[names[name]] if k in NUMBERS)
                aggregate = f"toFloat(percentileCont({name}.{number}, {self.pick(0, 0.25, 0.5, 1)}))"
            if self.some(0.3):
                return (
                    " ".join(clauses)
                    + f" WITH {items[0][0]} AS k, {aggregate} AS n WHERE n IS NOT NULL RETURN k, n"
                )
            return " ".join(clauses) + f" RETURN {items[0][0]} AS k, {aggregate} AS n"
        columns = ", ".join(f"{item} AS c{i}" for i, (item, _) in enumerate(items))
        distinct = "DISTINCT " if self.some(0.2) else ""
        order = ""
        if self.some(0.3):
            order = " ORDER BY " + " , ".join(f"c{i}{self.pick('', ' DESC')}" for i in range(len(items)))
            if self.some(0.5):
                order += f" LIMIT {self.random.randint(1, 9)}"
        return " ".join(clauses) + f" RETURN {distinct}{columns}{order}"
