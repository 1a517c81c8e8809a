"""A vocabulary at the public doors: labels, words, units, terms; bad files; updates."""

import pytest

from clew import Clew
from clew.errors import InputError, ParseError

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
