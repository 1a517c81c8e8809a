"""How questions are read on small graphs that nothing was made for."""

import pytest

from clew.engine import Clew

LIBRARY = """
Deep Water	instance of	novel
Deep Water	writer	Mina Gray
Deep Water	published by	Tall House
Deep Water	mood	Dark
Deep Water	date of publication	1996-05-02
Night Ferry	instance of	novel
Night Ferry	writer	Mina Gray
Night Ferry	published by	Blue Gate
Night Ferry	mood	Light
Night Ferry	date of publication	2003-09-10
Salt Songs	instance of	poem
Salt Songs	writer	Tom Bell
Salt Songs	mood	Dark
Salt Songs	date of publication	2003-01-20
Harbour Prize	instance of	literary prize
Harbour Prize	awarded to	Deep Water
Mina Gray	instance of	human
Mina Gray	citizen of	Norway
Tom Bell	instance of	human
Tom Bell	citizen of	Germany
Tall House	instance of	firm
Blue Gate	instance of	firm
novel	subclass of	book
poem	subclass of	book
"""
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
SKY = """
Saturn	planet.orbits	Sun
Mars	planet.orbits	Sun
Titan	moon.orbits	Saturn
Titan	moon.found_by	Huygens
Phobos	moon.orbits	Mars
Phobos	moon.found_by	Hall
Cassini	mission.target	Titan
Cassini	mission.target	Saturn
Viking	mission.target	Mars
"""


def opened(tmp_path_factory, name, text):
    path = tmp_path_factory.mktemp(name) / f"{name}.tsv"
    path.write_text(text.lstrip(), "utf-8")
    return Clew.open(path, cache_dir=path.parent)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return opened(tmp_path_factory, "library", LIBRARY)


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    return opened(tmp_path_factory, "films", FILMS)


@pytest.fixture(scope="module")
def sky(tmp_path_factory):
    return opened(tmp_path_factory, "sky", SKY)


def labels(answer):
    return {a.label for a in answer.answers}


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("Which novels did Mina Gray write?", {"Deep Water", "Night Ferry"}),
        ("Which dark novels did Mina Gray write?", {"Deep Water"}),
        ("Which books were written by Tom Bell?", {"Salt Songs"}),
        ("Which books were published in 2003?", {"Night Ferry", "Salt Songs"}),
        ("Books written by Gray", {"Deep Water", "Night Ferry"}),
        ("Which books did Lady Mina Gray write?", {"Deep Water", "Night Ferry"}),
        ("Which novels were publishd by Blue Gate?", {"Night Ferry"}),
        ("Which prize did Deep Water win?", {"Harbour Prize"}),
    ],
)
def test_types_values_parts_of_names_and_spelling(library, question, gold):
    assert labels(library.ask(question)) == gold


def test_a_name_that_was_found_by_a_part_of_it_is_noted(library):
    assert library.ask("Books written by Gray").notes == ('"Gray" is taken for Mina Gray',)


def test_a_part_of_several_names_is_ambiguous(tmp_path_factory):
    graph = opened(tmp_path_factory, "two", "Heat\tdirector\tAnn Gray\nAlien\tdirector\tTom Gray\n")
    answer = graph.ask("Which films did Gray direct?")
    assert answer.abstained.reason == "ambiguous_entity"
    assert set(answer.abstained.candidates) == {"Ann Gray", "Tom Gray"}


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("which films did Christopher Nolan direct", {"Dunkirk", "Inception", "Tenet"}),
        ("which films by Christopher Nolan were released after 2015", {"Dunkirk", "Tenet"}),
        ("what did nolan direct", {"Dunkirk", "Inception", "Tenet"}),
        ("Films directed by Nolan and released in 2010", {"Inception"}),
    ],
)
def test_a_tiny_graph(films, question, gold):
    assert labels(films.ask(question)) == gold


def test_words_for_types_that_nothing_is_both_of_mean_two_nodes(sky):
    assert labels(sky.ask("Which planets have a moon found by Huygens?")) == {"Saturn"}
    assert labels(sky.ask("List missions to moons of Saturn")) == {"Cassini"}


def test_a_verb_may_stay_open_where_types_leave_one_relation(sky):
    assert labels(sky.ask("Which missions flew to Mars?")) == {"Viking"}


def test_what_is_not_recorded_is_told_with_what_is(films):
    answer = films.ask("Who composed the music of Tenet?")
    assert answer.abstained.reason == "unplaced"
    assert 'of "Tenet" it records' in answer.abstained.detail
    assert "starring" in answer.abstained.detail


def test_a_step_that_only_who_tells_is_not_answered(library):
    assert library.ask("Who translated Deep Water?").abstained is not None


def test_the_youngest_of_a_type_is_measured_by_what_that_type_has(tmp_path_factory):
    text = """
Orbit One	agency.founded	1958
Sky Works	agency.founded	1975
Ann Lee	pilot.born	1990
Tom Bell	pilot.born	1985
"""
    graph = opened(tmp_path_factory, "agencies", text)
    assert labels(graph.ask("Which agency is the youngest?")) == {"Sky Works"}
    assert labels(graph.ask("Which pilot is the youngest?")) == {"Ann Lee"}


def test_one_step_that_no_word_tells_is_not_guessed(tmp_path_factory):
    text = """
Heat	written_by	Ann Lee
Heat	starred_actors	Tom Bell
Heat	directed_by	Jo May
"""
    answer = opened(tmp_path_factory, "made", text).ask("Who insured Heat?")
    assert answer.abstained.reason == "unplaced"


FAMILY = """
Ann Lee	child	Jo Lee
Ann Lee	spouse	Tom Lee
Tom Lee	spouse	Ann Lee
Tom Lee	child	Max Lee
Jo Lee	spouse	Kim Poe
Kim Poe	spouse	Jo Lee
Ann Lee	born_in	Malmo
Jo Lee	born_in	Cork
Tom Lee	born_in	Cork
Malmo	contained_by	Sweden
Cork	contained_by	Ireland
"""


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    return opened(tmp_path_factory, "family", FAMILY)


def test_countries_are_known_by_their_names(family):
    assert labels(family.ask("In which country was Ann Lee born?")) == {"Sweden"}


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


ZOO = """
Kito|species|African elephant
Tembo|species|African elephant
Rex|species|Amur tiger
Luna|species|snowy owl
African elephant|status|endangered
Amur tiger|status|endangered
snowy owl|status|vulnerable
African elephant|native to|Africa
"""


def test_what_is_of_another_type_leads_on_to_the_one_asked_for():
    triples = [tuple(line.split("|")) for line in ZOO.strip().splitlines()]
    species = {tail for _, relation, tail in triples if relation == "species"}
    types = {head: ["species" if head in species else "animal"] for head, _, _ in triples}
    with Clew.from_triples(triples, types=types) as graph:
        assert labels(graph.ask("Which animals are endangered?")) == {"Kito", "Tembo", "Rex"}
        assert labels(graph.ask("Which species are endangered?")) == {"African elephant", "Amur tiger"}
        assert labels(graph.ask("Which animals are native to Africa?")) == {"Kito", "Tembo"}
