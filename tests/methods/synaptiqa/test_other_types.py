"""A text that is compared with a number or a date: nothing holds of it, and the model is told."""

import pytest

from clew.methods.synaptiqa.check_names import other_types
from clew.stores.cypher.parser import parse
from clew.stores.store import GraphSchema, SchemaHop

SCHEMA = GraphSchema(
    (SchemaHop("Customer", "PURCHASED", "Order"),),
    {"Order": frozenset(("orderDate", "freight", "total")), "Customer": frozenset(("since",))},
    kinds={
        "Order": {"orderDate": "text 1996-07-04 00:00", "freight": "text 32.38", "total": "number 12.5"},
        "Customer": {"since": "date 1990-01-01"},
    },
)
DATE = "Order.orderDate is a text, as in '1996-07-04 00:00'; no text compares with a date"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("MATCH (o:Order) WHERE o.orderDate >= date('1998-01-01') RETURN count(o)", (DATE,)),
        ("MATCH ()-[:PURCHASED]->(o) WHERE date('1998-01-01') < o.orderDate RETURN count(o)", (DATE,)),
        (
            "MATCH (o:Order) WHERE o.freight > 20 RETURN count(o)",
            ("Order.freight is a text, as in '32.38'; no text compares with a number",),
        ),
        ("MATCH (o:Order) WHERE toFloat(o.freight) > 20 RETURN count(o)", ()),
        ("MATCH (o:Order) WHERE o.total > 20 RETURN count(o)", ()),
        ("MATCH (o:Order) WHERE o.orderDate >= '1998' RETURN count(o)", ()),
        ("MATCH (c:Customer) WHERE c.since > date('1998-01-01') RETURN count(c)", ()),
        ("MATCH (x) WHERE x.orderDate > date('1998-01-01') RETURN count(x)", ()),
    ],
)
def test_a_text_beside_a_number_or_a_date(query, told):
    assert other_types(parse(query), SCHEMA) == told
