"""How questions are read on small graphs that nothing was made for."""

import pytest

from clew.engine import Clew

FILMS = """
Dunkirk	directed_by	Christopher Nolan
Inception	directed_by	Christopher Nolan
Tenet	directed_by	Christopher Nolan
Dunkirk	release_year	2017
Inception	release_year	2010
Tenet	release_year	2020
Tenet	starring	Robert Pattinson
Heat	directed_by	Michael Mann
Heat	release_year	1995
"""


def opened(tmp_path_factory, name, text):
    path = tmp_path_factory.mktemp(name) / f"{name}.tsv"
    path.write_text(text.lstrip(), "utf-8")
    return Clew.open(path, cache_dir=path.parent)


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    return opened(tmp_path_factory, "films", FILMS)


def labels(answer):
    return {a.label for a in answer.answers}


def test_what_is_not_recorded_is_told_with_what_is(films):
    answer = films.ask("Who composed the music of Tenet?")
    assert answer.abstained.reason == "unplaced"
    assert 'of "Tenet" the graph records' in answer.abstained.detail
    assert "starring" in answer.abstained.detail


STAFF = """
Ada Lorne	reports_to	Bo Finch
Bo Finch	reports_to	Cy Marsh
Dee Lorne	reports_to	Bo Finch
Ada Lorne	hired_on	2011-03-01
Bo Finch	hired_on	2005-07-09
Dee Lorne	hired_on	2019-01-20
Ada Lorne	last_promoted_on	2016-05-05
Dee Lorne	last_promoted_on	2021-10-01
"""
STAFF_TYPES = "".join(f"{name}\tEmployee\n" for name in ("Ada Lorne", "Bo Finch", "Cy Marsh", "Dee Lorne"))


@pytest.fixture(scope="module")
def staff(tmp_path_factory):
    folder = tmp_path_factory.mktemp("staff")
    (folder / "staff.tsv").write_text(STAFF.lstrip())
    (folder / "staff.types.tsv").write_text(STAFF_TYPES)
    with Clew.open(folder / "staff.tsv", cache_dir=folder) as clew:
        yield clew


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("When was Bo Finch last promoted?", 'it records no "last promoted on" of Bo Finch'),
        ("Who does Cy Marsh report to?", 'it records no "reports to" of Cy Marsh'),
    ],
)
def test_what_others_have_and_this_one_has_not_is_not_recorded(staff, question, says):
    answer = staff.ask(question)
    assert (answer.abstained.reason, answer.abstained.detail) == ("empty_result", says)


def test_a_name_of_two_is_not_guessed(staff):
    answer = staff.ask("When was Lorne hired?")
    assert answer.abstained.reason == "ambiguous_entity"
    assert sorted(answer.abstained.candidates) == ["Ada Lorne", "Dee Lorne"]
    readings = {a.reading for a in answer.alternatives}
    assert {"when Ada Lorne was hired", "when Dee Lorne was hired"} <= readings
