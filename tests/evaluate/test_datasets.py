"""Readers on hand-made files in the published formats, on the shared data, and on files that are wrong."""

# ruff: noqa: E501  (tables of cases)

import bz2
import gzip
import json
import pickle

import pytest
from made import SHARED

from clew.errors import InputError, ParseError, UsageError
from clew.evaluate.datasets.registry import DATASETS, dataset_named
from clew.evaluate.records import GoldAnswer, GoldPath

METAQA = {
    "kb.txt": "Heat|directed_by|Michael Mann\n",
    "2-hop/vanilla/qa_dev.txt": "when were films by [Michael Mann] released\t1995|1999\nwho [Heat] ?\tx\n",
    "2-hop/qa_dev_qtype.txt": "director_to_movie_to_year\nodd_type\n",
}
PQ = "what is the sex of a_(b) 's heir ?\tmale_(x)(male_(x)/female/)\ta_(b)#children#c#gender#male_(x)#<end>#male_(x)\n"
WC = "name a player at A from B ?\tP\tA#plays_position_inverse#P#<end>#P*B#plays_for_country_inverse#P#<end>#P\tP/Q/\tx#y#z\n"
CLAIMS = [
    {"claim": "Mexico has 5.", "Label": [True], "Entity_set": ["Mexico", '"5"'], "types": ["num1"],
     "Evidence": {"Mexico": [["areaTotal"]], '"5"': [["~areaTotal"]]}},
    {"claim": "A is no part of B.", "Label": [False], "types": ["negation", "num1"],
     "Evidence": {"A": [["part"]], "B": [["~part"]]}},
    {"claim": "C is D's r.", "Label": [False], "types": ["num1", "substitution"],
     "Evidence": {"C": [["r"]], "D": [["~r"]]}},
    {"claim": "E has two hops to F.", "Label": [True], "types": ["multi hop"],
     "Evidence": {"E": [["p", "~q"]], "F": [["q", "~p"]]}},
]  # fmt: skip
QALD = {
    "questions": [
        {"id": 1, "question": [{"language": "de", "string": "Wer?"}, {"language": "en", "string": "Who?"}],
         "query": {"sparql": "SELECT ?x"},
         "answers": [{"head": {}, "results": {"bindings": [
             {"x": {"type": "uri", "value": "http://dbpedia.org/resource/Salt_Lake_City"}},
             {"x": {"type": "literal", "value": "12"}}]}}]},
        {"id": "2", "question": [{"language": "en", "string": "Is it?"}], "query": {"sparql": "ASK"},
         "answers": [{"head": {}, "boolean": True}]},
        {"id": "3", "question": [{"language": "de", "string": "Was?"}], "query": {"sparql": ""}, "answers": []},
        {"id": "4", "question": [{"language": "en", "string": "None?"}], "query": {"sparql": ""}, "answers": []},
    ]
}  # fmt: skip
CRAG = [
    {"interaction_id": "i1", "query": "q?", "domain": "movie", "question_type": "simple", "answer": "en",
     "alternative_answers": '["English"]', "split": 1},
    {"interaction_id": "i2", "query": "q?", "domain": "open", "question_type": "false_premise",
     "answer": "invalid question", "alt_ans": [], "split": 1},
    {"interaction_id": "i3", "query": "q?", "domain": "open", "question_type": "simple", "answer": "x", "split": 0},
]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    """Write files: text, JSON (by suffix), JSON lines for a list under .jsonl."""

    def write(contents):
        for name, value in contents.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(value, str):
                path.write_text(value)
            elif name.endswith(".jsonl"):
                path.write_text("".join(json.dumps(v) + "\n" for v in value))
            else:
                path.write_text(json.dumps(value))
        return tmp_path

    return write


def read(name, folder, part=None, split=None):
    reader = dataset_named(name)
    return reader.read(folder, part or reader.parts(folder)[0], split)


def test_metaqa(files):
    part = read("metaqa", files(METAQA))
    first, second = part.questions
    assert (part.name, part.format) == ("metaqa/2-hop/dev", "pipe")
    assert first.text == "when were films by Michael Mann released"
    assert first.entities == ("Michael Mann",)
    assert first.gold == (GoldAnswer("1995"), GoldAnswer("1999"))
    assert first.paths == (GoldPath("Michael Mann", ("directed_by", "release_year")),)
    assert (second.kind, second.paths) == ("odd_type", ())


def test_packed_files_are_read(files):
    folder = files({k: v for k, v in METAQA.items() if k != "2-hop/qa_dev_qtype.txt"})
    for name, pack in (("kb.txt", gzip), ("2-hop/vanilla/qa_dev.txt", bz2)):
        packed = folder / f"{name}.{'gz' if pack is gzip else 'bz2'}"
        packed.write_bytes(pack.compress((folder / name).read_bytes()))
        (folder / name).unlink()
    assert len(read("metaqa", folder).questions) == 2


def test_pathquestion_with_brackets_in_names(files):
    (question,) = read("pathquestion", files({"2H-kb.txt": "a\tb\tc\n", "PQ-2H.txt": PQ})).questions
    assert question.gold == (GoldAnswer("male_(x)"), GoldAnswer("female"))
    assert question.paths == (GoldPath("a_(b)", ("children", "gender")),)


def test_wc2014_conjunctions_and_mixture(files):
    folder = files({"WC2014.txt": "a\tb\tc\n", "WC-C.first20.txt": WC})
    (question,) = read("wc2014", folder, "all").questions
    assert question.entities == ("A", "B")
    assert [answer.name for answer in question.gold] == ["P", "Q"]
    assert "parts of them: WC-C.first20.txt" in read("wc2014", folder).notes[0]


def test_factkg_has_no_graph_of_its_own(files):
    part = read("factkg", files({"factkg_dev_sample.jsonl": CLAIMS}))
    assert [q.verdict for q in part.questions] == ["supported", "refuted", "refuted", "supported"]
    assert part.graph == ()


def test_factkg_pickles_hold_plain_values_only(tmp_path):
    claims = {c["claim"]: {k: v for k, v in c.items() if k != "claim"} for c in CLAIMS}
    (tmp_path / "factkg_test.pickle").write_bytes(pickle.dumps(claims))
    part = read("factkg", tmp_path)
    assert [q.text for q in part.questions] == list(claims)


def test_a_pickle_with_code_is_not_loaded(tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("loaded",)

    (tmp_path / "factkg_test.pickle").write_bytes(pickle.dumps({"c": Evil()}))
    with pytest.raises(InputError, match=r"builtins\.print.*not loaded"):
        read("factkg", tmp_path)


def test_qald(files):
    part = read("qald", files({"qald_10.json": QALD}))
    first, boolean, none = part.questions
    assert first.text == "Who?"
    city = "http://dbpedia.org/resource/Salt_Lake_City"
    assert first.gold == (GoldAnswer(city, ("Salt_Lake_City",)), GoldAnswer("12"))
    assert first.query == "SELECT ?x"
    assert boolean.gold == (GoldAnswer("yes", ("true",)),)
    assert none.gold == ()
    assert part.notes == ("1 questions have no text in en and are left out",)
    assert part.graph == ()


def test_crag(files):
    folder = files({"crag_task_1_dev.jsonl": CRAG})
    part = read("crag", folder)
    assert [q.id for q in part.questions] == ["i1", "i2"]
    assert part.questions[0].gold == (GoldAnswer("en", ("English",)),)
    assert part.questions[1].gold == ()
    assert [q.id for q in read("crag", folder, "open", "dev").questions] == ["i3"]
    with pytest.raises(UsageError, match="no split 'train'"):
        read("crag", folder, "open", "train")


def test_plain_claims(files):
    lines = [{"question": "x directed y", "verdict": "refuted"}]
    part = read("plain", files({"questions.jsonl": lines, "graph.tsv": "a\tb\tc\n"}))
    assert (part.task, part.questions[0].verdict) == ("claims", "refuted")


def test_a_directory_of_plain_directories_has_a_part_for_each(files):
    line = {"question": "q", "gold": ["b"]}
    folder = files(
        {"one/questions.jsonl": [line], "two/questions.jsonl": [line], "two/graph.tsv": "a\tb\tc\n"}
    )
    assert dataset_named("plain").parts(folder) == ("one", "two")
    part = read("plain", folder, "two")
    assert (part.name, part.graph) == ("plain/two", (folder / "two" / "graph.tsv",))
    with pytest.raises(InputError, match=r"three: no such directory"):
        read("plain", folder, "three")


def test_a_directory_without_questions_is_no_plain_data_set(tmp_path):
    assert dataset_named("plain").parts(tmp_path) == ()


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("metaqa", METAQA | {"2-hop/vanilla/qa_dev.txt": "no topic\tx\n"}, r"qa_dev\.txt:1: .*Expected: question"),
        ("metaqa", METAQA | {"2-hop/qa_dev_qtype.txt": "one\n"}, r"1 types for 2 questions"),
        ("metaqa", {k: v for k, v in METAQA.items() if k != "kb.txt"}, r"there is no knowledge base. Expected: kb\.txt"),
        ("pathquestion", {"2H-kb.txt": "x", "PQ-2H.txt": PQ + "a\tb\n"}, r"PQ-2H\.txt:2: .*Expected"),
        ("pathquestion", {"2H-kb.txt": "x", "PQ-2H.txt": "q\ta\ta#b\n"}, r"PQ-2H\.txt:1"),
        ("wc2014", {"WC2014.txt": "x", "WC-P1.txt": "q\ta\tb\n"}, r"WC-P1\.txt:1: .*Expected"),
        ("factkg", {"factkg_dev.jsonl": [{"claim": "c", "Label": [1]}]}, r"factkg_dev\.jsonl:1: .*field 'Label'"),
        ("factkg", {"factkg_dev.jsonl": "{"}, r"factkg_dev\.jsonl:1: not JSON"),
        ("qald", {"qald_10.json": {"questions": [{"question": 3}]}}, r"qald_10\.json:1: not a question of QALD"),
        ("qald", {"qald_10.json": "{"}, r"qald_10\.json:1: not JSON"),
        ("crag", {"crag_x.jsonl": [{"interaction_id": "i", "query": "q"}]}, r"crag_x\.jsonl:1: .*field 'answer' is missing"),
        ("plain", {"questions.jsonl": [{"question": "q"}]}, r"questions\.jsonl:1: .*no `gold`"),
        ("plain", {"questions.jsonl": [{"question": "", "gold": []}]}, r":1: not a question: .*`\$\.question`"),
        ("plain", {"questions.jsonl": [{"question": "q", "gold": [3]}]}, r":1: not a question: .*`\$\.gold"),
        ("plain", {"questions.jsonl": [{"question": "q", "verdict": "maybe"}]}, r":1: not a question: .*'maybe'"),
        ("plain", {"questions.jsonl": [{"question": "q", "gold": []}, {"question": "q", "verdict": "refuted"}]}, "a claim among"),
        ("plain", {"questions.jsonl": [{"id": "1", "question": "q", "gold": []}] * 2}, r":2: id '1' is that of line 1"),
        ("plain", {"questions.jsonl": "\n"}, "no questions in the file"),
        ("plain", {"questions.jsonl": "[]\n"}, r":1: not a JSON object"),
        ("plain", {"questions.jsonl": [{"question": "q", "gold": []}], "graph.tsv": "", "graph.nt": ""}, "several graphs"),
    ],
)  # fmt: skip
def test_malformed_files(files, name, contents, message):
    with pytest.raises((ParseError, InputError), match=message):
        read(name, files(contents), None)


def test_lines_that_are_not_utf8_have_a_number(tmp_path):
    (tmp_path / "questions.jsonl").write_bytes(b'{"question": "q", "gold": []}\n\xff\n')
    with pytest.raises(ParseError, match=r"questions\.jsonl:2: invalid UTF-8"):
        read("plain", tmp_path)


def test_missing_directories_splits_and_names(tmp_path):
    with pytest.raises(InputError, match="no such directory"):
        read("plain", tmp_path / "absent", "all")
    with pytest.raises(UsageError, match="no split 'x'"):
        dataset_named("metaqa").read(tmp_path, "1-hop", "x") if (tmp_path / "kb.txt").write_text(
            "a|b|c"
        ) else None
    with pytest.raises(UsageError, match="Data sets are: metaqa"):
        dataset_named("bogus")


def test_each_says_where_it_is_from_and_its_licence():
    for reader in DATASETS:
        about = reader.about
        assert about.name
        assert about.source
        assert about.licence
        assert about.files
    assert len({reader.about.name for reader in DATASETS}) == len(DATASETS)


@pytest.mark.parametrize(
    ("name", "part", "count", "without"),
    [
        ("metaqa", "1-hop", 9992, 0), ("metaqa", "2-hop", 14872, 0), ("metaqa", "3-hop", 14274, 0),
        ("pathquestion", "2-hop", 954, 0), ("pathquestion", "3-hop", 2599, 0), ("wc2014", "all", 60, 0),
        ("factkg", "claims", 100, 100), ("crag", "all", 10, 1), ("qald", "qald_10", 394, None),
        ("qald", "qald_9_plus_test_dbpedia", 150, None),
    ],
)  # fmt: skip
def test_the_shared_data(name, part, count, without):
    if not (SHARED / name).exists():
        pytest.skip(f"needs ../shared/data/{name}")
    read_part = dataset_named(name).read(SHARED / name, part, None)
    assert len(read_part.questions) == count
    assert without is None or sum(not q.gold for q in read_part.questions) == without
