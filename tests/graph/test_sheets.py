"""Tables as sheets are exported: titles, totals, remarks, two rows of a header, days and units in columns."""

from pathlib import Path

import pytest

from clew import Clew

SHEETS = {
    "patients.csv": "Brightsmile Dental,,,,,,\nAs of 1 March 2024,,,,,,\n"
    "Patient,,Contact,,Dates,Insured,Balance\nNo.,Name,Phone,Town,Born,,\n"
    "P1,Alice Monk,0555,Ely,12/05/1984,Yes,£0.00\nP2,Bob Vance,0556,March,03/11/1990,No,£120.50\n"
    "P3,Carol Shaw,,Ely,27/08/1975,Yes,£10.00\nP4,Dev Patel,0557,Soham,19/02/2012,Yes,£0.00\n"
    ",,,,,,\nTotal,4,,,,3,£130.50\n",
    "visits.csv": "Visit,Patient No.,Date,Fee,Currency\n1,P1,45292,20.5,GBP\n2,P2,45310,31,GBP\n"
    "Visit,Patient No.,Date,Fee,Currency\n3,P1,45333,12,GBP\n4,P4,45360,15,GBP\n",
    "Schepen.csv": "Scheepsnr;Scheepsnaam;Lading;Gewicht;Eenheid;;Gevaarlijk\n"
    "S1;Noordster;graan;25;t;laat;nee\nS2;Maasbloem;zand;1900;kg;vroeg;ja\nS3;Havfrue;graan;38500;kg;laat;nee\nTotaal;;;;;;\n"
    "Bron: Havenmeester, peildatum 31-01-2024;;;;;;\n",
    "sales.csv": "region,net,tax\nNorth,100,20\nSouth,50,10\nTotal,150,30\n",
    "firms.csv": "firm,country,staff\nAcme,US,10\nTotal,France,100\nBeta,UK,7\nTotal,Belgium,3\n",
}
ASKED = {
    "Which patients have a balance over 100?": {"Bob Vance"},
    "When was Carol Shaw born?": {"27/08/1975"},
    "How many patients are there?": {"4"},
    "Which visits were in January 2024?": {"1", "2"},
    "How many visits are there?": {"4"},
    "Which visits have a fee over 20 pounds?": {"1", "2"},
    "Which schepen have a gewicht over 20000 kg?": {"Noordster", "Havfrue"},
    "What is the gewicht of Maasbloem?": {"1900 kg"},
    "Which schepen are gevaarlijk?": {"Maasbloem"},
    "What is the column 6 of Maasbloem?": {"vroeg"},
    "How many sales are there?": {"2"},
}
NOTED = (
    "rows left out: 2 above the header (Brightsmile Dental), 1 of totals (Total, 4, 3, £130.50)",
    "the header has two rows: No., Name, Phone, Town, Born, Insured, Balance",
    "rows left out: 1 with the header again",
    "Date: numbers of days, as Excel counts them, are read as dates",
    "Gewicht: its numbers are in what Eenheid says",
    "1 of remarks (Bron: Havenmeester, peildatum 31-01-2024)",
    "rows left out: 1 of totals (Total, 150, 30)",
)


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Clew:
    folder = tmp_path_factory.mktemp("sheets")
    for name, text in SHEETS.items():
        (folder / name).write_text(text, "utf-8")
    return Clew.open(folder, cache_dir=cache)


@pytest.mark.parametrize("question", ASKED)
def test_only_rows_are_rows(sheets: Clew, question: str):
    answer = sheets.ask(question)
    assert {a.label for a in answer.answers} == ASKED[question], answer.abstained


def test_what_is_left_out_or_read_otherwise_is_said(sheets: Clew):
    notes = "\n".join(sheets.info().as_json()["report"]["notes"])
    assert not [note for note in NOTED if note not in notes], notes


def test_a_row_that_is_called_total_and_sums_up_nothing_stays(sheets: Clew):
    called = sheets.query("SELECT ?staff { ?f r:firm e:Total ; r:staff ?staff }").rows
    assert len(called) == 2


def test_numbers_are_compared_in_the_unit_that_cells_say(tmp_path: Path, cache: Path):
    (tmp_path / "goods.csv").write_text(
        "id,name,weight\n1,Anvil,1200 kg\n2,Bolt,3 kg\n3,Crate,2.5 t\n4,Drum,80 kg\n", "utf-8"
    )
    goods = Clew.open(tmp_path / "goods.csv", cache_dir=cache)
    answer = goods.ask("Which goods have a weight over 1 tonne?")
    assert ([a.label for a in answer.answers], answer.reading) == (
        ["Anvil", "Crate"],
        "goods that are heavier than 1000 kg",
    )
    claims = ("The weight of Anvil is 1.2 tonnes.", "The weight of Anvil is 1.3 tonnes.")
    assert [goods.verify(claim).verdict for claim in claims] == ["supported", "refuted"]


def test_lists_of_frames_are_several_values():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2], "name": ["Ann Orr", "Ben Ash"], "langs": [["de; at", "en"], []]})
    answer = Clew.from_frames({"people": frame}).ask("Which langs does Ann Orr have?")
    assert {a.label for a in answer.answers} == {"de; at", "en"}
