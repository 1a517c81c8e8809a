"""The verb or the role of a claim must say the relation; units and types must be those recorded."""

import pytest

from clew import Clew

FIRM = """\
Ann Ray|type|Person
Bo Lund|type|Person
Cy Roth|type|Person
Dee Holm|type|Person
Eli Berg|type|Person
Finch Ltd|type|Company
Moor Ltd|type|Company
Acct 1|type|Account
Acct 2|type|Account
Ann Ray|employer|Finch Ltd
Bo Lund|employer|Moor Ltd
Cy Roth|employer|Finch Ltd
Ann Ray|director_of|Moor Ltd
Bo Lund|director_of|Finch Ltd
Ann Ray|owns|Acct 1
Bo Lund|owns|Acct 2
Acct 1|status|closed
Acct 2|status|active
Ann Ray|occupation|teacher
Bo Lund|occupation|nurse
Finch Ltd|opened|1903
Moor Ltd|opened|1950
Ann Ray|died|2001
Ann Ray|married_to|Cy Roth
Ann Ray|birth_place|Oslo
Bo Lund|birth_place|Bergen
Ann Ray|phone|555-0101
Bo Lund|phone|555-0102
Ann Ray|salary|64000
Bo Lund|salary|91500
Finch Ltd|headquarters|Oslo
Moor Ltd|headquarters|Bergen
Finch Ltd|supplier|Moor Ltd
Finch Ltd|industry|toys
Moor Ltd|industry|tools
Notice 7|type|Notice
Notice 7|affects|Finch Ltd"""


@pytest.fixture(scope="module")
def firm():
    with Clew.from_triples([tuple(line.split("|")) for line in FIRM.splitlines()]) as clew:
        yield clew


@pytest.mark.parametrize(
    "claim",
    [
        "Ann Ray was fired by Finch Ltd.",
        "Ann Ray founded Finch Ltd.",
        "Ann Ray is the accountant of Moor Ltd.",
        "Ann Ray is not the accountant of Finch Ltd.",
        "Ann Ray is the lawyer of Moor Ltd.",
        "The lawyer of Moor Ltd is Ann Ray.",
        "Finch Ltd closed in 1903.",
        "Ann Ray retired in 2001.",
        # Words that name values say something of the names beside them.
        "Bo Lund closed Acct 1.",
        "Bo Lund is the teacher of Ann Ray.",
    ],
)
def test_another_verb_or_role_decides_nothing(firm, claim):
    assert firm.verify(claim).verdict == "not_enough_info"


@pytest.mark.parametrize(
    ("triple", "claim"),
    [
        (("Finch Ltd", "opened", "1903"), "Finch Ltd closed in 1903."),
        (("Ann", "hired_by", "Finch Ltd"), "Ann was fired by Finch Ltd."),
        (("Elm Hall", "sold_by", "Bo"), "Bo bought Elm Hall."),
    ],
)
def test_an_opposite_verb_does_not_say_a_relation(triple, claim):
    with Clew.from_triples([triple, ("Moor Ltd", "opened", "1950"), ("Cy", "hired_by", "Moor Ltd")]) as clew:
        assert clew.verify(claim).verdict == "not_enough_info"


@pytest.mark.parametrize(
    "claim",
    [
        "Ann Ray works for Finch Ltd.",
        "Ann Ray is employed by Finch Ltd.",
        "Ann Ray is the director of Moor Ltd.",
        "Finch Ltd opened in 1903.",
        "Ann Ray died in 2001.",
        "Ann Ray is a teacher.",
        "Acct 1 is closed.",
    ],
)
def test_its_own_verb_or_role_says_a_relation(firm, claim):
    assert firm.verify(claim).verdict == "supported"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The turnover of Finch Ltd is $310,250.", "supported"),
        ("The turnover of Finch Ltd is 310250 dollars.", "supported"),
        ("The turnover of Finch Ltd is 310250 euros.", "not_enough_info"),
        ("The turnover of Finch Ltd is €310,250.", "not_enough_info"),
        ("The turnover of Finch Ltd is more than 300000 USD.", "supported"),
        ("The turnover of Finch Ltd is more than 300000 GBP.", "not_enough_info"),
    ],
)
def test_an_amount_is_in_the_currency_that_is_recorded(tmp_path, claim, verdict):
    table = tmp_path / "firms.csv"
    table.write_text('name,turnover\nFinch Ltd,"$310,250"\nMoor Ltd,"$120,000"\nOld Ltd,"$9,500"\n', "utf-8")
    with Clew.open(table, cache_dir=tmp_path / "cache") as clew:
        assert clew.verify(claim).verdict == verdict


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Finch Ltd is a company.", "supported"),
        ("Finch Ltd is a notice.", "refuted"),
        ("Notice 7 is a notice.", "supported"),
        ("Ann Ray is a company.", "refuted"),
    ],
)
def test_what_a_thing_is_is_its_declared_type(firm, claim, verdict):
    assert firm.verify(claim).verdict == verdict


def test_what_lies_within_what_is_recorded_is_no_contradiction():
    found = [("Owl Jar", "found_at", "Athens"), ("Ram Jar", "found_at", "Corinth")]
    within = [("Athens", "part_of", "Attica"), ("Attica", "part_of", "Greece"), ("Rome", "part_of", "Italy")]
    with Clew.from_triples([*found, *within, ("Corinth", "part_of", "Greece")]) as clew:
        assert clew.verify("The Owl Jar was found at Athens.").verdict == "supported"
        assert clew.verify("The Owl Jar was found at Rome.").verdict == "refuted"
        assert clew.verify("The Owl Jar was found at Greece.").verdict != "refuted"
        assert clew.verify("The Owl Jar was not found at Greece.").verdict != "supported"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The price of Frida is 21 dollars.", "supported"),
        ("The price of Frida is 22 dollars.", "refuted"),
        ("The price of Frida is 21 euros.", "not_enough_info"),
        ("The mass of Frida is 101 pounds.", "supported"),
    ],
)
def test_a_word_is_a_currency_where_one_is_recorded(claim: str, verdict: str) -> None:
    triples = [
        ("Frida", "price in dollars", "21"),
        ("Frida", "mass", "101"),
        ("Otto", "price in dollars", "9"),
    ]
    with Clew.from_triples([*triples, ("Otto", "mass", "80")]) as clew:
        assert clew.verify(claim).verdict == verdict


def test_none_of_very_many_is_so_only_if_something_else_is_recorded_of_each() -> None:
    triples = [(f"Grant {n}", "type", "Grant") for n in range(1_200)]
    triples += [(f"Grant {n}", "status", "closed") for n in range(1_000)]
    triples += [("Trust", "type", "Fund"), ("Trust", "status", "active")]
    with Clew.from_triples(triples) as clew:
        assert clew.verify("No grants are active.").verdict == "not_enough_info"
