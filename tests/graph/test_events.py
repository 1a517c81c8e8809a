"""Rows without an id, columns that refer to their own table, and what a column holds, by asking."""

import pytest

from clew.engine import Clew
from clew.errors import InputError, ParseError, UsageError
from clew.graph.readers.hints import Hints
from clew.opening.graph_view import index_sources

PEOPLE = """id,name,sex,born,died,place of birth,father,mother
I01,Anders Holt,male,03/05/1851,17/11/1920,Bergen,,
I02,Berta Lie,female,22/01/1855,02/02/1931,Voss,,
I03,Carl Holt,male,14/08/1878,30/06/1944,Bergen,I01,I02
I04,Dina Holt,female,25/12/1880,,Bergen,I01,I02
I05,Frida Dahl,female,11/04/1882,,Oslo,,
"""
MARRIAGES = """husband,wife,wed_on,wed_at,reason
I01,I02,18/09/1875,Voss,death
I03,I05,02/06/1905,Bergen,divorce
"""
ORGANISATIONS = """org_id,name,country
O01,River Trust,Kenya
O02,Sahel Schools,Mali
"""
PAYMENTS = """paid_on,org_id,amount,state
04/25/2019,O01,"$125,000.00",cleared
06/30/2020,O01,"$25,000.00",cleared
10/15/2021,O02,"$60,000.00",pending
"""
DOUBLED = PAYMENTS + '10/15/2021,O01,"$10,000.00",pending\n'


@pytest.fixture
def opened(tmp_path):
    """Open an index of tables, by name and text."""
    engines = []

    def index(hints=None, **tables):
        folder = tmp_path / "tables"
        folder.mkdir()
        for name, text in tables.items():
            (folder / f"{name}.csv").write_text(text)
        index_sources([folder], tmp_path / "tables.clew", hints=hints)
        engines.append(Clew.open(tmp_path / "tables.clew"))
        return engines[0]

    yield index
    for engine in engines:
        engine.close()


def labels(clew, question):
    return [answer.label for answer in clew.ask(question).answers]


def notes(clew):
    return clew.info().report["notes"]


def test_a_column_of_ids_of_its_own_table_refers_to_it(opened):
    kin = opened(people=PEOPLE)
    assert labels(kin, "Who is the father of Carl Holt?") == ["Anders Holt"]
    assert any(note.endswith("father: ids of people") for note in notes(kin))


def test_the_id_once_more_is_no_reference(opened):
    parts = opened(parts="id,code,name\nA1,A1,Bolt\nA2,A2,Nut\nA3,A3,Gear\n")
    assert not any("ids of parts" in note for note in notes(parts))


def test_a_row_of_two_references_is_a_thing_of_its_own(opened):
    kin = opened(people=PEOPLE, marriages=MARRIAGES)
    assert labels(kin, "How many marriages are there?") == ["2"]
    assert labels(kin, "How many people are there?") == ["5"]
    assert kin.verify("The husband of marriage 1 is Anders Holt.").verdict == "supported"


@pytest.mark.parametrize("payments", [PAYMENTS, DOUBLED])
def test_a_date_is_not_the_id_of_a_row(opened, payments):
    clew = opened(organisations=ORGANISATIONS, payments=payments)
    count = payments.count("\n") - 1
    assert labels(clew, "How many payments are there?") == [str(count)]
    assert labels(clew, "Which payments were paid before 2020?") == ["payment 1"]


def test_rows_without_an_id_are_added_once(opened, tmp_path):
    clew = opened(organisations=ORGANISATIONS, payments=PAYMENTS)
    later = tmp_path / "later.csv"
    later.write_text(PAYMENTS.splitlines()[0] + "\n" + '11/02/2023,O02,"$5,000.00",cleared\n')
    assert clew.update([later]).report.added > 0
    assert clew.update([later]).report.added == 0
    assert labels(clew, "Which payments were paid in 2023?") == ["payment 4"]
    assert clew.neighbours("payment 4").aliases == ()
    clew.update(remove=[later])
    assert labels(clew, "Which payments were paid in 2023?") == []


def test_a_row_of_one_cell_too_many_is_a_fault(opened):
    with pytest.raises(ParseError, match=r"payments\.csv:5: 5 columns where the header has 4"):
        opened(organisations=ORGANISATIONS, payments=PAYMENTS + '10/15/2021,O01,"$10,000.00",pending,late\n')


def test_columns_of_a_table_that_is_added_may_stand_otherwise(opened, tmp_path):
    clew = opened(organisations=ORGANISATIONS, payments=PAYMENTS)
    later = tmp_path / "later payments.csv"
    later.write_text('amount,org_id,paid_on\n"$5,000.00",O02,11/02/2023\n')
    clew.update([later])
    assert labels(clew, "Which payments were paid in 2023?") == ["payment 4"]
    assert labels(clew, "What is the amount of payment 4?") == ["$5,000.00"]
    clew.update(remove=[later])
    assert labels(clew, "Which payments were paid in 2023?") == []


ORDERS = """{"id": "ORD-1", "customer": {"name": "Bakery Holm", "city": "Odense"}, "total": {"amount": 12.5}}
{"id": "ORD-2", "customer": {"name": "Cafe Lune", "city": "Aarhus"}, "total": {"amount": 30}}
{"id": "ORD-3", "customer": {"name": "Bakery Holm", "city": "Odense"}, "total": {"amount": 7}}
"""


def test_an_object_within_another_is_not_its_name(tmp_path):
    path = tmp_path / "orders.jsonl"
    path.write_text(ORDERS)
    with Clew.open(path) as clew:
        assert labels(clew, "How many customers are in Odense?") == ["1"]
        assert sorted(labels(clew, "Which orders have the customer Bakery Holm?")) == ["ORD-1", "ORD-3"]
        assert labels(clew, "What is the total amount of ORD-2?") == ["30"]


def test_what_others_are_called_too_names_no_row(opened):
    orders = "id,ship name,total\nA1,Ann Lee,10\nA2,Ann Lee,20\nA3,Bo Ray,30\n"
    assert labels(opened(orders=orders), "What is the total of A2?") == ["20"]


SHIPMENTS = """id,departs,arrived,empty,grade
S-01,3/4/24,04/05/2024 14:30,N,A
S-02,5/4/24,06/04/2024 08:05,Y,B
S-03,11/4/24,13/04/2024 23:59,N,Y
"""


def test_letters_and_short_years_are_read(opened):
    ships = opened(shipments=SHIPMENTS)
    assert labels(ships, "Which shipments departed after 10 April 2024?") == ["S-03"]
    assert labels(ships, "Which shipments are empty?") == ["S-02"]
    assert not any("grade: " in note for note in notes(ships))


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (("3/4/24", "5/4/24", "11/4/24"), "as none of 3 dates shows whether the day or the month comes"),
        (("31/4/24x", "05/04/2024", "13/04/2024"), "on: text, with 2 dates"),
    ],
)
def test_dates_that_stay_texts_are_counted(opened, cells, note):
    rows = "".join(f"S-{number},{cell}\n" for number, cell in enumerate(cells))
    assert any(note in said for said in notes(opened(shipments="id,on\n" + rows + "S-9,\n")))


def test_a_year_among_dates_is_one(opened):
    ends = "id,cause,ended\nM1,death,17/11/1920\nM2,other,1930\nM3,death,13/01/1940\nM4,death,15/12/1985\n"
    assert labels(opened(marriages=ends), "Which marriages ended in 1930?") == ["M2"]


def test_a_year_that_comes_again_among_dates_is_one_each_time(opened):
    days = "".join(f"M{day},{day}/11/1920\n" for day in range(11, 23))
    years = "".join(f"N{number},1930\n" for number in range(6))
    assert labels(opened(marriages="id,ended\n" + days + years), "How many marriages ended in 1930?") == ["6"]


def test_a_count_of_rows_is_no_reference_to_them(opened):
    employees = "id,name\n" + "".join(f"{number},Person {number}\n" for number in range(1, 21))
    clew = opened(departments="id,name,employees\n1,Sales,12\n2,Post,7\n", employees=employees)
    assert labels(clew, "Which departments have more than 10 employees?") == ["Sales"]
    assert not any("employees: ids of employees" in note for note in notes(clew))


def test_versions_are_no_dates(opened):
    assert not any(
        "version: " in note for note in notes(opened(libraries="id,version\nA,5.3.18\nB,4.1.20\n"))
    )


def test_one_text_of_two_columns_is_one_thing(opened):
    kin = opened(people=PEOPLE, marriages=MARRIAGES)
    labels_ = [kin.opened.graph.labels[node] for node in range(kin.opened.graph.nodes)]
    assert labels_.count("Bergen") == 1


def test_the_id_of_a_row_names_it(opened):
    clew = opened(organisations=ORGANISATIONS, payments=PAYMENTS)
    assert labels(clew, "What is the country of O02?") == ["Mali"]
    clew.update([("O02", "country", "Niger")], remove=[("O02", "country", "Mali")])
    assert labels(clew, "What is the country of Sahel Schools?") == ["Niger"]


def test_columns_that_no_table_has_are_an_error(opened):
    with pytest.raises(UsageError, match=r"--id: no table has a column nosuch\. marriages\.csv has husband"):
        opened(people=PEOPLE, marriages=MARRIAGES, hints=Hints(id="nosuch"))


def test_an_id_of_one_of_two_files_is_of_that_one(tmp_path):
    for name, text in (("people", PEOPLE), ("marriages", MARRIAGES)):
        (tmp_path / f"{name}.csv").write_text(text)
    sources = [tmp_path / "people.csv", tmp_path / "marriages.csv"]
    index_sources(sources, tmp_path / "kin.clew", hints=Hints(id="wed_on"))
    with Clew.open(tmp_path / "kin.clew") as kin:
        assert labels(kin, "How many marriages are there?") == ["2"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("id,name\n1,Foo\n1,Bar\n", r"a\.csv:3: several rows are of the same node \(1\)"),
        ('a,b\n"unclosed,1\n', r"a\.csv:2: broken CSV .* Check the quotes"),
    ],
)
def test_errors_of_tables_name_the_cause_and_the_line(tmp_path, text, reason):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises((InputError, ParseError), match=reason):
        Clew.open(tmp_path / "a.csv")


def test_triples_may_go_both_ways(tmp_path):
    path = tmp_path / "meds.tsv"
    path.write_text("Aspirin\tinteracts_with\tWarfarin\nAspirin\ttreats\tHeadache\n")
    index_sources([path], tmp_path / "meds.clew", hints=Hints(undirected=True))
    with Clew.open(tmp_path / "meds.clew") as meds:
        assert labels(meds, "What does Warfarin interact with?") == ["Aspirin"]


def test_what_a_vulnerability_says_is_kept(tmp_path):
    path = tmp_path / "bom.json"
    path.write_text(
        '{"bomFormat": "CycloneDX", "compositions": [], "components": [{"type": "library", "name": "lodash", '
        '"version": "4.17.15", "bom-ref": "l"}], "vulnerabilities": [{"id": "CVE-2020-8203", "source": '
        '{"name": "NVD"}, "ratings": [{"score": 7.4, "severity": "high"}], "published": '
        '"2020-07-15T00:00:00Z", "affects": [{"ref": "l"}]}]}'
    )
    with Clew.open(path) as clew:
        assert labels(clew, "What is the severity of CVE-2020-8203?") == ["high"]
        assert labels(clew, "What is the source of CVE-2020-8203?") == ["NVD"]
        assert any(note.endswith("left out: compositions") for note in notes(clew))


def test_ids_of_a_table_that_is_not_there_are_no_rows_of_this_one(tmp_path):
    (tmp_path / "orders.csv").write_text("id,customer_id,item\n1,3,Pen\n2,3,Ink\n3,1,Pad\n4,2,Pen\n5,1,Cup\n")
    with Clew.open(tmp_path / "orders.csv", cache_dir=tmp_path / "cache") as clew:
        assert [a.label for a in clew.ask("What is the average customer id?").answers] == ["2"]
        assert not any("customer_id: ids of" in note for note in clew.info().report["notes"])
