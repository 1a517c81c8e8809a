"""SimGRAG with scripted replies: golden traces, retry, grounding, abstention, settings.

And replies that nobody would want.
"""

import pytest
from film_scripts import answers_reply, evidence_of, pattern_reply, verdict_reply

from clew import Clew
from clew.llm.budget import Limits
from clew.llm.managed import ManagedModel, Policy
from clew.llm.testing import ScriptedModel
from clew.methods.registry import make_verifier
from clew.methods.settings import SimgragSettings
from clew.methods.simgrag.method import SimGRAG, VerifyWithModel

DIRECTOR = ("Memento", "director", "UNKNOWN person 1")


@pytest.fixture
def ask(films):
    """Ask SimGRAG with a script; returns the answer and the model."""

    def run(question, script, **settings):
        model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
        method = SimGRAG(films.opened, films.embedder, model=model, settings=SimgragSettings(**settings))
        return method.answer(question, id="7"), model

    return run


def names(answer):
    return [a.entity for a in answer.answers]


def test_what_is_asked_shown_and_answered(ask):
    answer, model = ask(
        "who directed Memento?", [pattern_reply(DIRECTOR), answers_reply("Christopher Nolan")]
    )
    assert (answer.text, answer.method, answer.model, answer.id) == (
        "Christopher Nolan", "simgrag", "scripted/test", "7",
    )  # fmt: skip
    assert answer.pattern.as_json() == {"triples": [list(DIRECTOR)], "answer": "UNKNOWN person 1"}
    (citation,) = answer.citations
    assert [t.as_json() for t in citation.triples] == [["Memento", "directed_by", "Christopher Nolan"]]
    first, second = (request.messages[0].text for request in model.requests)
    assert first.count('"divided"') == 13  # rule 5, and 12 examples
    assert evidence_of(model.requests[1])[0] == [["Memento", "directed_by", "Christopher Nolan"]]
    assert second.count("evidence: {") == 12


def test_shots_are_cut(ask):
    for shots in (0, 4):
        script = [pattern_reply(DIRECTOR), answers_reply("Christopher Nolan")]
        _, model = ask("who directed Memento?", script, shots=shots)
        assert [r.messages[0].text.count('\n{"divided"') for r in model.requests] == [shots, 0]
        assert model.requests[1].messages[0].text.count("evidence: {") == shots


def test_k_subgraphs_are_shown(ask):
    def script():
        return [pattern_reply(("UNKNOWN film 1", "director", "Christopher Nolan")), answers_reply("Memento")]

    assert [len(evidence_of(ask("?", script(), k=k)[1].requests[1])) for k in (1, 3, 5)] == [1, 3, 5]


@pytest.mark.parametrize(
    ("question", "triple", "answer"),
    [
        # Of ties that it chooses among none is added; the answer may be a relation; a name lacks its accents.
        ("which early film is by Nolan?", ("UNKNOWN film 1", "director", "Christopher Nolan"), "Memento"),
        ("what is Guy Pearce in Memento?", ("Memento", "UNKNOWN relation 1", "Guy Pearce"), "starring"),
        ("?", ("UNKNOWN film 1", "director", "christofer nolan"), "Memento"),
    ],
)  # fmt: skip
def test_what_the_model_says_is_the_answer(ask, question, triple, answer):
    assert names(ask(question, [pattern_reply(triple), answers_reply(answer)])[0]) == [answer]


def test_the_letter_of_the_paper_reads_k_and_no_more(ask):
    script = [
        pattern_reply(("UNKNOWN film 1", "directed by", "Christopher Nolan")),
        answers_reply("Memento", "Insomnia", "Batman Begins"),
    ]
    answer, model = ask("which films did Nolan direct?", script, candidates=16)
    assert len(evidence_of(model.requests[1])) == 3
    assert len(answer.answers) == 3


@pytest.mark.parametrize(
    ("question", "triple", "said"),
    [
        ("how long is Memento?", ("Memento", "phone number", "UNKNOWN number 1"), ()),
        ("How many films did Christopher Nolan direct?",
         ("UNKNOWN film 1", "directed by", "Christopher Nolan"), ("3",)),
    ],
)  # fmt: skip
def test_the_letter_of_the_paper_asks_once_and_counts_nothing_that_it_does_not_read(
    ask, question, triple, said
):
    answer, model = ask(question, [pattern_reply(triple), answers_reply(*said)], candidates=16)
    assert (answer.abstained.reason, len(model.requests)) == ("not_in_evidence", 2)


@pytest.mark.parametrize("cut", [{}, {"candidates": 64, "candidate_relations": 8}], ids=str)
def test_the_terms_of_every_gsd_are_told_and_add_up(ask, cut):
    asked = pattern_reply(
        ("Momento", "film director", "UNKNOWN person 1"), ("UNKNOWN person 1", "born at", "Londn")
    )
    answer, _ = ask("?", [asked, answers_reply("Christopher Nolan")], k=5, **cut)
    rows = answer.steps[1].detail["matches"]
    assert len(rows) == 5
    for row in rows:
        said = ["Momento", "Londn", "film director", "born at"]
        assert [name for name, _, _ in row["terms"]] == said
        assert sum(far for _, _, far in row["terms"]) == pytest.approx(row["gsd"], abs=0.005)
    assert sorted(rows, key=lambda row: row["gsd"]) == rows


def test_cuts_of_the_paper_are_told_apart(tmp_path):
    (tmp_path / "g.tsv").write_text("Ann\tknows\tBob\nAnn\tknows\tRome\nAnn\tlikes\tBob\n", "utf-8")
    (tmp_path / "types.tsv").write_text("Ann\tperson\nBob\tperson\nRome\tcity\n", "utf-8")
    asked = pattern_reply(("Ann", "knows", "UNKNOWN human 1"))
    with Clew.open(tmp_path / "g.tsv", types=tmp_path / "types.tsv", cache_dir=tmp_path / "c") as clew:
        for types, tails in ((1, {"Bob"}), (2, {"Bob", "Rome"})):
            settings = SimgragSettings(k=9, candidates=1, candidate_types=types)
            model = ScriptedModel([asked, answers_reply("Bob")])
            method = SimGRAG(clew.opened, clew.embedder, model=model, settings=settings)
            answer = method.answer("whom does Ann know?")
            shown = [t for row in answer.steps[1].detail["matches"] for t in row["triples"]]
            assert {relation for _, relation, _ in shown} == {"knows"}
            assert {tail for _, _, tail in shown} == tails


def test_prose_is_asked_for_again_in_the_form_that_states_answers(ask):
    prose = (
        "According to graph [1], Memento was directed by Christopher Nolan. The answer is Christopher Nolan."
    )
    script = [pattern_reply(DIRECTOR), prose, answers_reply("Christopher Nolan")]
    answer, model = ask("who directed Memento?", script)
    assert names(answer) == ["Christopher Nolan"]
    assert len(model.requests) == 3


def test_yes_no_and_how_many(ask):
    known = ("Memento", "director", "Christopher Nolan")
    answer, _ = ask("Did Christopher Nolan direct Memento?", [pattern_reply(known), answers_reply("yes")])
    assert names(answer) == ["yes"]
    assert answer.citations[0].triples[0].as_json() == ["Memento", "directed_by", "Christopher Nolan"]
    other = ("Memento", "director", "Steven Spielberg")
    answer, _ = ask("Did Steven Spielberg direct Memento?", [pattern_reply(other), answers_reply("no")])
    assert names(answer) == ["no"]
    assert answer.citations[0].triples[0].as_json() == ["Memento", "directed_by", "Christopher Nolan"]
    films = ("UNKNOWN film 1", "director", "Christopher Nolan")
    answer, _ = ask(
        "How many films did Christopher Nolan direct?", [pattern_reply(films), answers_reply("3")]
    )
    assert names(answer) == ["11"]


def test_a_pattern_that_fits_nothing_is_asked_for_again_with_it_and_the_blame(ask):
    bad, good = (
        ("Memento", "phone number", "UNKNOWN number 1"),
        ("Memento", "runtime_minutes", "UNKNOWN number 1"),
    )
    answer, model = ask(
        "how long is Memento?", [pattern_reply(bad), pattern_reply(good), answers_reply("113")]
    )
    assert names(answer) == ["113"]
    assert answer.usage.calls == 3
    assert "runtime_minutes → " in model.requests[0].messages[0].text
    again = model.requests[1].messages[0].text
    assert "A first try was" in again
    assert '"phone number"' in again
    assert "It did not work: it has no relation like" in again


@pytest.mark.parametrize(
    ("triple", "reason"),
    [
        (("Memento", "phone number", "UNKNOWN number 1"), "no_relation"),
        (("Zorblax", "director", "UNKNOWN person 1"), "no_entity"),
        (("UNKNOWN film 1", "starring", "Zorblax Quux"), "no_entity"),
    ],
)
def test_after_the_second_bad_pattern_it_abstains(ask, triple, reason):
    answer, model = ask("?", [pattern_reply(triple)] * 2)
    assert (answer.abstained.reason, len(model.requests)) == (reason, 2)


def test_a_reply_of_no_use_is_told_among_the_steps(ask):
    answer, _ = ask("who directed Memento?", ["no JSON here", "nor here"])
    assert [step.name for step in answer.steps] == ["reply"]
    assert answer.steps[0].detail["text"] == "nor here"
    assert "JSON" in answer.steps[0].detail["problem"]


def test_an_answer_that_is_not_in_the_evidence_is_removed(ask):
    script = [pattern_reply(DIRECTOR), answers_reply("Ridley Scott", "Christopher Nolan")]
    assert names(ask("who directed Memento?", script)[0]) == ["Christopher Nolan"]
    answer, _ = ask("who directed Memento?", [pattern_reply(DIRECTOR), answers_reply("Ridley Scott")])
    assert answer.abstained.reason == "not_in_evidence"


HARMLESS = {
    "thoughts": f"<think>hm, {{}} or []?</think>{pattern_reply(DIRECTOR)}",
    "a code fence": f"```json\n{pattern_reply(DIRECTOR)}\n```",
    "chatter": f"Here is the structure:\n{pattern_reply(DIRECTOR)}\nHope this helps!",
    "a stop token": pattern_reply(DIRECTOR) + "<|eot_id|>and more",
    "duplicates": pattern_reply(DIRECTOR, DIRECTOR),
    "quotes and case": pattern_reply(('"memento"', "Director", "Unknown Person 1")),
}


@pytest.mark.parametrize("reply", HARMLESS.values(), ids=HARMLESS)
def test_untidy_patterns_are_read(ask, reply):
    answer, _ = ask("who directed Memento?", [reply, answers_reply("Christopher Nolan")])
    assert names(answer) == ["Christopher Nolan"]


@pytest.mark.parametrize(
    "reply",
    [
        '{"reason": "Guy Pearce stars in it", "answer": "Christopher Nolan"}',
        '{"reason": "Guy Pearce stars in it", "answers": "Christopher Nolan; 7"}',
        '```json\n{"answer": ["Christopher Nolan", 7]}\n```',
    ],
)
def test_answers_in_other_shapes_are_read_and_reasons_are_none(ask, reply):
    asked = pattern_reply(("Memento", "UNKNOWN relation 1", "UNKNOWN person 1"))
    assert names(ask("who directed Memento?", [asked, reply], k=20)[0]) == ["Christopher Nolan"]


@pytest.fixture
def verify(films):
    """Verify by the paper's letter: the model reads subgraphs, and gives the verdict."""

    def run(claim, *script, closed_world=False):
        model = ScriptedModel(list(script))
        letter = SimgragSettings(candidates=16)
        verifier = VerifyWithModel(films.opened, films.embedder, model=model, settings=letter)
        return verifier.verify(claim, closed_world=closed_world)

    return run


@pytest.mark.parametrize(
    ("year", "reply", "verdict"),
    [
        ("2000", verdict_reply("True"), "supported"),
        ("2000", "It is False: graph [1] has no such thing.", "refuted"),
    ],
)
def test_a_claim_shows_what_is_so_or_is_so_instead(verify, year, reply, verdict):
    by_nolan = ("Memento", "directed by", "Christopher Nolan")
    pattern = pattern_reply(by_nolan, ("Memento", "release year", year))
    result = verify(f"Memento was directed by Christopher Nolan in {year}.", pattern, reply)
    assert (result.verdict, result.method, result.usage.calls) == (verdict, "simgrag", 2)
    (part,) = result.parts
    assert part.triples[0].as_json() == ["Memento", "directed_by", "Christopher Nolan"]


@pytest.mark.parametrize(
    ("said", "verdict"), [("False", "refuted"), ("True", "supported"), ("Unknown", "refuted")]
)
def test_in_a_closed_world_the_model_says_what_silence_means(verify, said, verdict):
    pattern = pattern_reply(("Zorblax", "directed", "Memento"))
    told = verify("Of Zorblax.", pattern, verdict_reply(said), closed_world=True)
    assert told.verdict == verdict


@pytest.mark.parametrize("reply", ["", "maybe", '{"verdict": 1}', "x" * 100_000, '{"verdict": "Perhaps"}'])
def test_hostile_verdicts_are_not_enough(verify, reply):
    pattern = pattern_reply(("Memento", "directed by", "Christopher Nolan"))
    assert verify("Memento is by Nolan.", pattern, reply, reply).verdict == "not_enough_info"


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("The graphs say otherwise, so it is not true.", "refuted"),
        ("As graphs [1][2] say that he is the manager but not the leader, the answer is False.", "refuted"),
        ("The claim is not fully supported.", "not_enough_info"),
        ("Unsupported", "not_enough_info"),
        ("It has not been clearly refuted.", "not_enough_info"),
        ("It isn't true.", "refuted"),
        ("I cannot determine whether it is true or false.", "not_enough_info"),
        ("As graph [1] says so, the answer is True.", "supported"),
        ('```json\n{"verdict": true, "reason": "graph [1] is not false"}\n```', "supported"),
        ('{"verdict": "not true"}', "refuted"),
    ],
)
def test_verdicts_in_other_words(verify, reply, verdict):
    pattern = pattern_reply(("Memento", "directed by", "Christopher Nolan"))
    assert verify("Memento is by Nolan.", pattern, reply).verdict == verdict


def test_unusable_replies_refute_nothing_even_in_a_closed_world(verify):
    assert verify("Memento is by Nolan.", "no", "no", closed_world=True).verdict == "not_enough_info"


@pytest.mark.parametrize("closed_world", [False, True])
@pytest.mark.parametrize("verifier", ["simgrag", "auto"])
@pytest.mark.parametrize(
    ("script", "calls", "reason", "detail"),
    [(["", ""], 2, "empty_result", "usable"), (["no", "no"], 1, "budget", "budget")],
)
def test_a_verdict_that_the_model_could_not_give_says_why(
    films, verifier, script, calls, reason, detail, closed_world
):
    model = ManagedModel(ScriptedModel(script), Policy(per_question=Limits(calls=calls)))
    checked = make_verifier(verifier, films.opened, films.embedder, model, None).verify(
        "Memento keeps one in the seat of a slow clock, quux.", closed_world=closed_world
    )
    assert (checked.verdict, checked.abstained.reason) == ("not_enough_info", reason)
    assert detail in checked.abstained.detail


def test_auto_verifies_without_the_model_where_it_can(films):
    model = ScriptedModel(["Claim: {Memento}[.runtime_minutes = 113]"])
    verifier = make_verifier("auto", films.opened, films.embedder, model, None)
    assert verifier.verify("Christopher Nolan directed Memento.").usage.calls == 0
    result = verifier.verify("Memento keeps one in the seat for 113 ticks of a slow clock, quux.")
    assert (result.verdict, result.method, result.usage.calls) == ("supported", "auto", 1)


def test_no_alone_is_an_answer_to_a_yes_no_question(ask):
    other = pattern_reply(("Memento", "director", "Steven Spielberg"))
    answer, _ = ask("Did Steven Spielberg direct Memento?", [other, "No."])
    assert names(answer) == ["no"]
