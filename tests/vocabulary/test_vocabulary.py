"""A vocabulary at the public doors: labels, words, units, terms; bad files; updates."""

import json
import re

import pytest

from clew import Clew
from clew.errors import InputError, LlmError, ParseError
from clew.llm.testing import ScriptedModel

FAMILY = """\
Tom\tparent of\tBob
Pam\tparent of\tBob
Tom\tparent of\tLiz
Bob\tparent of\tAnn
Bob\tparent of\tPat
Pat\tparent of\tJim
Pam\tgender\tfemale
Liz\tgender\tfemale
Ann\tgender\tfemale
Pat\tgender\tfemale
Tom\tgender\tmale
Bob\tgender\tmale
"""
KIN = """
[terms]
parent = '^"parent of"'
father = '.parent[gender = "male"]'
mother = '.parent[gender = "female"]'
grandfather = ".parent .father"
woman = '{female} ^gender'
sister = ".parent ^parent & woman"
aunt = ".parent .sister"
"""
SHIPS = """\
V1\tcgo_main\tgrain
V1\tctr_val_eur\t900000
V1\tsvc_spd_kn\t18
V2\tcgo_main\tcoal
V2\tctr_val_eur\t1500000
V2\tsvc_spd_kn\t22
V3\tcgo_main\tgrain
V3\tctr_val_eur\t2500000
V3\tsvc_spd_kn\t14
"""
TRADE = """
[relations.cgo_main]
label = "goods"
words = ["cargo", "load"]

[relations.svc_spd_kn]
label = "speed"
unit = "kn"

[relations.ctr_val_eur]
label = "contract value"
"""


def opened(tmp_path, triples, vocabulary=None):
    (tmp_path / "g.tsv").write_text(triples)
    clew = Clew.index([tmp_path / "g.tsv"], tmp_path / "g.clew")
    if vocabulary is not None:
        clew.set_vocabulary(vocabulary)
    return clew


def labels(answer):
    return sorted(a.label for a in answer.answers)


@pytest.fixture
def family(tmp_path):
    with opened(tmp_path, FAMILY, KIN) as clew:
        yield clew


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who is the mother of Bob?", ["Pam"]),
        ("Who is the father of Pat?", ["Bob"]),
        ("Who is the grandfather of Jim?", ["Bob"]),
        ("Who is the aunt of Jim?", ["Ann"]),
        ("Who is the sister of Ann?", ["Pat"]),
        ("Which women are there?", ["Ann", "Liz", "Pam", "Pat"]),
    ],
)
def test_terms_are_answered(family, question, names):
    assert labels(family.ask(question)) == names


def test_an_answer_cites_what_its_terms_stand_for(family):
    answer = family.ask("Who is the aunt of Jim?")
    (citation,) = answer.citations
    cited = {(t.head, t.relation, t.tail) for t in citation.triples}
    assert {("Pat", "parent of", "Jim"), ("Bob", "parent of", "Ann"), ("Ann", "gender", "female")} <= cited
    assert {relation for _, relation, _ in cited} == {"parent of", "gender"}
    assert any(note.startswith("aunt stands for .parent .sister") for note in answer.notes)


def test_claims_use_terms(family):
    assert family.verify("Pam is the mother of Bob.").verdict == "supported"
    assert family.verify("Tom is the mother of Bob.").verdict != "supported"
    shown = family.verify("Pam is the mother of Bob.").parts[0].triples
    assert {t.relation for t in shown} == {"parent of", "gender"}


def test_a_term_compares_what_each_has_itself(tmp_path):
    orders = "id,name,delivered,due\nO1,Oak,2024-05-03,2024-05-01\nO2,Elm,2024-04-10,2024-04-20\n"
    (tmp_path / "orders.csv").write_text(orders)
    with Clew.index(tmp_path / "orders.csv", tmp_path / "g.clew") as clew:
        clew.set_vocabulary('[terms]\n"late order" = "order[delivered > {.due}]"\n')
        (citation,) = clew.ask("Which late orders are there?").citations
        assert {(t.head, t.relation) for t in citation.triples} == {("Oak", "delivered"), ("Oak", "due")}
        assert [row["label"] for row in clew.table(query="order[delivered < {.due}]").page([])["rows"]] == [
            "Elm"
        ]


def test_queries_and_tables_know_terms(family):
    pairs = family.query("SELECT ?x { ?x ?aunt ?y }", rows=100).rows
    assert pairs
    assert {row["label"] for row in family.table(type="woman").page([])["rows"]} == {
        "Pam",
        "Liz",
        "Ann",
        "Pat",
    }


def test_an_update_finds_anew_what_terms_mean(family):
    family.update(add=[("Bob", "parent of", "Zed"), ("Zed", "gender", "male")])
    assert labels(family.ask("Who is the grandfather of Zed?")) == ["Tom"]
    family.update(remove=[("Tom", "parent of", "Bob")])
    assert ("Zed", "grandfather", "Tom") not in {t.by_id for t in family.triples()}
    assert labels(family.ask("Who is the mother of Bob?")) == ["Pam"]


def test_an_update_gives_what_setting_anew_gives(tmp_path):
    with opened(tmp_path, FAMILY, KIN) as changed:
        changed.update(add=[("Jim", "parent of", "Kim"), ("Jim", "gender", "male")])
        (tmp_path / "whole").mkdir()
        more = f"{FAMILY}Jim\tparent of\tKim\nJim\tgender\tmale\n"
        with opened(tmp_path / "whole", more, KIN) as whole:
            assert {t.by_id for t in changed.triples()} == {t.by_id for t in whole.triples()}


def test_another_vocabulary_takes_the_place_of_the_one_before(family):
    family.set_vocabulary('[terms]\nuncle = ".\\"parent of\\" .\\"parent of\\""\n')
    assert list(family.vocabulary.terms) == ["uncle"]
    assert labels(family.ask("Who is the mother of Bob?")) != ["Pam"]
    relations = {t.relation for t in family.triples()}
    assert relations == {"parent of", "gender", "uncle"}
    family.set_vocabulary("[terms]\n")
    assert {t.relation for t in family.triples()} == {"parent of", "gender"}


def test_labels_and_words_are_read_and_shown(tmp_path):
    with opened(tmp_path, SHIPS) as plain:
        before = labels(plain.ask("Which have grain as goods?"))
    with Clew.open(tmp_path / "g.clew") as clew:
        clew.set_vocabulary(TRADE)
        assert labels(clew.ask("What are the goods of V2?")) == ["coal"]
        assert labels(clew.ask("What is the cargo of V2?")) == ["coal"]
        assert labels(clew.ask("Which has the highest speed?")) == ["V2"]
        assert {r.label for r in clew.info().relations} == {"goods", "speed", "contract value"}
        citation = clew.ask("What is the cargo of V2?").citations[0]
        assert citation.triples[0].relation == "goods"
        clew.set_vocabulary("")
        assert {r.label for r in clew.info().relations} == {"cgo_main", "ctr_val_eur", "svc_spd_kn"}
    assert before == [] or before == ["V1", "V3"]


def test_the_draft_is_read_back_and_changes_nothing(family):
    draft = family.draft_vocabulary()
    assert "[relations.gender]" in draft
    assert "# label =" in draft
    before = family.vocabulary
    family.set_vocabulary(draft)
    assert family.vocabulary == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[relations.parents_of]\nlabel = "x"', "It has parent of"),
        ('[terms]\nx = ".parents"', "has no relation 'parents'"),
        ('[terms]\nx = ".parent of"', "x = '.parent of'"),
        ('[terms]\na = ".b"\nb = ".a"', "in a circle"),
        ('[terms]\nx = "{Nobody}"', "has no entity 'Nobody'"),
        ('[terms]\ngender = ".gender"', "of this name already"),
        ('[relations.gender]\nwords = ["kin"]\n[relations."parent of"]\nwords = ["kin"]', "Keep one"),
        ('[relations.gender]\ncolour = "x"', "colour is none of"),
        ('[relations.gender]\nwords = "sex"', "words is not a list"),
        ('[things]\na = "b"', "no table of a vocabulary"),
        ('[terms]\nx = ""', "not a query"),
        ("[terms]\n" + "\n".join(f't{n} = ".gender"' for n in range(10_000)), "10,000 terms"),
    ],
)
def test_what_does_not_fit_is_refused_as_a_whole(family, text, told):
    before = family.vocabulary
    with pytest.raises(InputError, match=told.replace("(", r"\(")):
        family.set_vocabulary(text)
    assert family.vocabulary == before


def test_what_is_no_toml_says_the_line(family):
    with pytest.raises(ParseError, match=":3"):
        family.set_vocabulary("[terms]\na = '.gender'\nb = \n")


@pytest.mark.parametrize("text", [f"a = {'[' * 5000}", f"a = {'1' * 5000}"])
def test_what_no_reader_of_toml_takes_is_no_toml(family, text):
    with pytest.raises(ParseError, match="not TOML"):
        family.set_vocabulary(text)


STAFF = """\
Ann\tworks with\tBob
Cat\tworks with\tDan
Eve\tsupervised by\tAnn
Fay\tsupervises\tDan
Bob\tuses\tAspirin
Bob\tavoids\tIbuprofen
Dan\tuses\tIbuprofen
"""
BOTH_WAYS = """
[relations."works with"]
mirrors = "works with"
[relations.supervises]
mirrors = "supervised by"
"""


def test_what_one_relation_records_its_mirror_holds_the_other_way_round(tmp_path):
    with opened(tmp_path, STAFF, BOTH_WAYS) as clew:
        (coworker,) = clew.neighbours("Bob", relation="works with", direction="out").groups
        assert coworker.nodes == (("Ann", "Ann"),)
        answer = clew.ask("Who does Ann supervise?")
        assert (answer.text, answer.notes) == ("Eve", ("supervises mirrors supervised by",))
        # It is proved by what is recorded.
        assert [t.as_json() for t in answer.citations[0].triples] == [["Eve", "supervised by", "Ann"]]
        (boss,) = clew.neighbours("Dan", relation="supervised by", direction="out").groups
        assert boss.nodes == (("Fay", "Fay"),)


def test_a_mirror_follows_updates_and_goes_with_the_vocabulary(tmp_path):
    with opened(tmp_path, STAFF, BOTH_WAYS) as clew:
        before = clew.info().counts["triples"]
        clew.update(add=[("Dan", "works with", "Eve")], remove=[("Ann", "works with", "Bob")])
        assert clew.neighbours("Bob", relation="works with").groups == ()
        (coworker,) = clew.neighbours("Eve", relation="works with", direction="out").groups
        assert coworker.nodes == (("Dan", "Dan"),)
        assert clew.info().counts["triples"] == before
        clew.set_vocabulary("")
        assert clew.neighbours("Eve", relation="works with", direction="out").groups == ()
        assert clew.info().counts["triples"] == STAFF.count("\n")


def test_terms_know_what_a_mirror_holds(tmp_path):
    terms = """
[terms]
leader = '."supervised by"'
"""
    with opened(tmp_path, STAFF, BOTH_WAYS + terms) as clew:
        assert clew.ask("Who is the leader of Dan?").text == "Fay"


def test_a_relation_that_denies_another_decides_a_claim(tmp_path):
    with opened(tmp_path, STAFF, '[relations.avoids]\ndenies = "uses"\n') as clew:
        for claim, verdict in (
            ("Bob uses Ibuprofen.", "refuted"),
            ("Bob does not use Ibuprofen.", "supported"),
            ("Dan avoids Ibuprofen.", "refuted"),
        ):
            told = clew.verify(claim)
            assert told.verdict == verdict, claim
            relation = "uses" if "Dan" in claim else "avoids"
            assert [t.relation for t in told.parts[0].triples] == [relation]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[relations.uses]\nmirrors = "works wit"\n',
            "mirrors: the graph has none of this name. It has works with",
        ),
        ('[relations.uses]\ndenies = "avoid"\n', "denies: the graph has none of this name. It has avoids"),
        ("[relations.uses]\ndenies = 5\n", "denies are texts"),
        ('[types.x]\nmirrors = "uses"\n', "mirrors is none of"),
        (f'[relations.uses]\ndescription = "{"a" * 501}"\n', "description is one line"),
    ],
)
def test_what_a_relation_cannot_mirror_or_deny_is_said(tmp_path, text, problem):
    with opened(tmp_path, STAFF) as clew, pytest.raises(InputError, match=re.escape(problem)):
        clew.set_vocabulary(text)


DRAFTED = {
    "relations": [{"name": "cgo_main", "label": "main cargo", "words": ["goods", "contract value"],
     "unit": "", "description": "What\nit carries"},
     {"name": "ctr_val_eur", "label": "contract value", "words": [], "unit": "EUR", "description": ""},
     {"name": "crew", "label": "crew", "words": [], "unit": "", "description": ""}],
    "types": [{"name": "vessel", "label": "ship", "words": [], "unit": "", "description": ""}],
    "terms": [{"word": "big contract", "query": "^ctr_val_eur[.ctr_val_eur > 1000000]"},
     {"word": "rich", "query": "^ctr_val_eur & ^cgo_main[.ctr_val_eur > 1000000]"},
     {"word": "lost", "query": ".crew"}],
}  # fmt: skip


def test_a_model_drafts_what_nobody_takes_for_a_fact(tmp_path):
    model = ScriptedModel([json.dumps(DRAFTED)])
    with opened(tmp_path, SHIPS) as clew:
        text = clew.draft_vocabulary(model)
        assert '# label = "main cargo"  # draft' in text
        assert '# description = "What it carries"  # draft' in text
        assert '# unit = "EUR"  # draft' in text
        # What does not fit is left out, and counted.
        assert "names that the graph does not have (2)" in text
        assert "words that another name has (1)" in text
        assert "terms that cannot be read (1)" in text
        assert "crew" not in text
        assert 'words = ["goods"]  # draft' in text
        # As it stands nothing of it is set.
        clew.set_vocabulary(text)
        assert not clew.vocabulary
        assert clew.ask("Which goods does V1 have?").abstained is not None
        # A person takes the # away.
        clew.set_vocabulary(re.sub(r"^# (.* = .*# draft)$", r"\1", text, flags=re.M))
        assert clew.ask("Which goods does V1 have?").text == "grain"
        assert "rich" in clew.vocabulary.terms
        assert clew.vocabulary.relations["cgo_main"].description == "What it carries"


def test_a_model_is_asked_of_what_has_no_name_yet_and_sees_values(tmp_path):
    model = ScriptedModel(["{}", "{}"])
    with opened(tmp_path, SHIPS, '[relations.cgo_main]\nlabel = "goods"\n') as clew:
        text = clew.draft_vocabulary(model)
        assert 'label = "goods"' in text.splitlines()
        (request,) = model.requests
        shown = request.messages[1].text
        assert "cgo_main" not in shown
        assert "ctr_val_eur: thing → number, 3 triples: '900000'" in shown


def test_many_names_are_asked_of_in_a_few_calls(tmp_path):
    triples = "".join(f"V{n}\tcol_{n}\tx{n}\n" for n in range(130))
    model = ScriptedModel(lambda _: "{}")
    with opened(tmp_path, triples) as clew:
        clew.draft_vocabulary(model)
    assert len(model.requests) == 3


def test_a_model_that_says_nothing_of_use_is_an_error(tmp_path):
    with opened(tmp_path, SHIPS) as clew, pytest.raises(LlmError):
        clew.draft_vocabulary(ScriptedModel(["I cannot", "I really cannot"]))


def test_a_number_of_what_a_term_means_says_what_it_stands_for(tmp_path):
    (tmp_path / "vessels.csv").write_text("id,vsl,val\n1,Mary,120\n2,Lucy,30\n3,Emma,250\n")
    clew = Clew.index(tmp_path / "vessels.csv", out=tmp_path / "v.clew")
    clew.set_vocabulary("[terms]\n\"big contract\" = 'vessel[val > 100]'\n")
    answer = clew.ask("How many big contracts are there?")
    assert [a.label for a in answer.answers] == ["2"]
    assert any(note.startswith("big contract stands for") for note in answer.notes)
    verdict = clew.verify("Mary is a big contract.")
    assert any(note.startswith("big contract stands for") for note in verdict.notes)
    assert [(t.head, t.tail) for t in verdict.parts[0].triples] == [("Mary", "120")]


def test_the_unit_of_a_relation_is_what_its_numbers_are_compared_in(tmp_path):
    goods = "id,name,wt\n1,Anvil,1.2\n2,Bolt,0.003\n3,Crate,2.5\n"
    (tmp_path / "goods.csv").write_text(goods)
    clew = Clew.index(tmp_path / "goods.csv", out=tmp_path / "g.clew")
    clew.set_vocabulary('[relations.wt]\nlabel = "weight"\nunit = "t"\n')
    assert labels(clew.ask("Which goods have a weight over 500 kg?")) == ["Anvil", "Crate"]
    claims = ("The weight of Anvil is 1200 kg.", "The weight of Anvil is 1300 kg.")
    assert [clew.verify(claim).verdict for claim in claims] == ["supported", "refuted"]
