"""KG-RAG: golden traces of a scripted model on MetaQA, and the built-in forms."""

import json
from pathlib import Path

import pytest
from kg_rag_golden import CROW, GOLDEN, SHIRLEY, Golden, plan, said

from clew.engine import Clew
from clew.errors import UsageError
from clew.llm.testing import ScriptedModel
from clew.llm.types import BudgetReached
from clew.methods.kg_rag.decompose import read_demonstrations
from clew.methods.kg_rag.method import KgRag
from clew.methods.question import entities_of
from clew.methods.settings import KgRagSettings
from clew.types import Answer


@pytest.fixture(scope="session")
def method(metaqa: Clew) -> KgRag:
    return KgRag(metaqa.opened, metaqa.embedder, model=ScriptedModel([]))


def told(answer: Answer) -> list[str]:
    """All notes of a chain."""
    chain = answer.chain
    return [] if chain is None else [*chain.notes, *(note for link in chain.links for note in link.notes)]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_golden_trace(method: KgRag, golden: Golden):
    method.model = model = ScriptedModel(golden.replies)
    answer = method.answer(golden.question)
    assert tuple(a.label for a in answer.answers) == golden.answers
    assert (answer.abstained and answer.abstained.reason) == golden.abstained
    links = () if answer.chain is None else answer.chain.links
    if golden.asked is not None:
        assert tuple(link.asked for link in links) == golden.asked
    if golden.sub_answers is not None:
        assert tuple(link.answers for link in links) == golden.sub_answers
    for note in golden.notes:
        assert any(note in each for each in told(answer)), told(answer)
    if golden.reasoning is not None:
        assert answer.chain is not None
        assert answer.chain.reasoning == golden.reasoning
    assert answer.complete == golden.complete
    assert len(model.requests) == (len(golden.replies) if golden.calls is None else golden.calls)
    assert answer.usage.calls == len(model.requests)
    assert_proved_from_the_question_on(method, golden.question, answer)


def assert_proved_from_the_question_on(method: KgRag, question: str, answer: Answer) -> None:
    seeds = {method.graph.entities[e] for e in entities_of(method.find_topic_entities.called(question))}
    assert {c.answer for c in answer.citations} == {a.entity for a in answer.answers}
    for citation in answer.citations:
        reached = set(seeds)
        for triple in citation.triples:
            assert reached & {triple.head, triple.tail}
            reached |= {triple.head, triple.tail}
        assert citation.answer in reached or citation.answer.isdigit()


def test_sampling_is_that_of_the_paper(method: KgRag):
    method.model = model = ScriptedModel(GOLDEN[0].replies)
    method.answer(GOLDEN[0].question)
    assert all((r.temperature, r.top_k, r.min_p) == (0.3, 40, 0.05) for r in model.requests)
    assert [r.max_tokens for r in model.requests] == [256, 2_048, 2_048, 2_048]
    assert [r.repeat_penalty for r in model.requests] == [None, 1.1, 1.1, None]
    assert all(request.stop == () for request in model.requests)


def test_by_the_papers_letter_replies_stop_where_the_paper_says(metaqa: Clew):
    first, *others = GOLDEN[0].replies[:2]
    model = ScriptedModel([first, *others, "What is the genre of The Crow movie", *GOLDEN[0].replies[2:]])
    letter = KgRagSettings(letter=True)
    KgRag(metaqa.opened, metaqa.embedder, model=model, settings=letter).answer(GOLDEN[0].question)
    assert [r.stop for r in model.requests] == [("<END>",), (), ("?",), (), ()]


def test_a_sub_question_that_refers_to_nothing_is_not_rewritten(method: KgRag):
    second = "Who directed Memento?"
    question = "Who directed Stalker and Memento?"
    replies = (plan("Who directed Stalker?", second), said("Andrei Tarkovsky"), said("Christopher Nolan"))
    method.model = model = ScriptedModel([*replies, said("Andrei Tarkovsky; Christopher Nolan")])
    answer = method.answer(question)
    assert len(model.requests) == 4
    assert {a.label for a in answer.answers} == {"Andrei Tarkovsky", "Christopher Nolan"}


def test_a_question_mark_in_a_quotation_cuts_no_sub_question(method: KgRag):
    asked = 'Who directed "Who\'s That Girl?" in 1987?'
    method.model = ScriptedModel([json.dumps({"sub_questions": [asked]}), "Answer: none", "Answer: none"])
    answer = method.answer(asked)
    assert answer.chain is not None
    assert answer.chain.links[0].question == asked


def test_a_sub_question_gets_the_30_most_similar_triples_of_the_first_hop_first(method: KgRag):
    method.model = model = ScriptedModel(GOLDEN[0].replies)
    answer = method.answer(GOLDEN[0].question)
    assert answer.chain is not None
    assert len(answer.chain.links[0].evidence) == 45
    assert "[1] (The Crow, written by, John Shirley)" in model.requests[1].messages[-1].text


def test_by_the_papers_letter_30_triples_are_given_and_no_schema(metaqa: Clew):
    letter = KgRagSettings(letter=True)
    plan, first, *others = GOLDEN[0].replies
    model = ScriptedModel([plan, first, "What is the genre of The Crow movie", *others])
    method = KgRag(metaqa.opened, metaqa.embedder, model=model, settings=letter)
    answer = method.answer(GOLDEN[0].question)
    assert answer.chain is not None
    assert [len(link.evidence) for link in answer.chain.links] == [30, 30]
    assert "<graph>" not in model.requests[0].messages[-1].text


def test_lists_are_read_whole(metaqa: Clew):
    model = ScriptedModel([plan("Which films did Woody Allen direct?"), "Facts: 1\nAnswer: all of 1"])
    answer = KgRag(metaqa.opened, metaqa.embedder, model=model).answer("Which films did Woody Allen direct?")
    assert len(answer.answers) > 20
    assert answer.complete


def test_later_steps_see_only_what_is_proved(method: KgRag):
    two, action = said("Two.", "The Crow; The Raven"), said("Action")
    replies = (plan(*CROW), two, action, action)
    method.model = model = ScriptedModel(replies)
    method.answer(SHIRLEY)
    prompt = model.requests[2].messages[-1].text
    assert "The Crow" in prompt
    assert "The Raven" not in prompt


def test_forty_sub_questions_are_cut_and_said_so(method: KgRag):
    many = [f"Which movies did John Shirley write, {n}?" for n in range(40)]

    def script(request: object) -> str:
        calls = len(model.requests)
        return plan(*many) if calls == 1 else f"The Crow {calls}?\nAnswer: The Crow"

    method.model = model = ScriptedModel(script)
    answer = method.answer(SHIRLEY)
    assert not answer.complete
    assert any("40 sub-questions; the budget is 8" in note for note in told(answer))
    assert len(model.requests) <= 1 + 8 + 1


def test_a_budget_ends_the_chain_and_shows_how_far_it_came(method: KgRag):
    replies = [plan(*CROW), "The Crow.", BudgetReached("question", "calls", "2 of 2")]  # fmt: skip
    method.model = ScriptedModel(replies)
    answer = method.answer(SHIRLEY)
    assert answer.abstained is not None
    assert answer.abstained.reason == "budget"
    assert CROW[0] in answer.abstained.detail
    assert answer.chain is not None
    assert answer.chain.links[0].answers == ("The Crow",)


def chain_of(small: Clew, *replies: str, **chosen: object) -> tuple[Answer, ScriptedModel]:
    model = ScriptedModel(list(replies))
    method = KgRag(small.opened, small.embedder, model=model, settings=KgRagSettings(**chosen))
    return method.answer("Which films did the director of Seven direct?"), model


UNPROVED = (
    plan("Who directed Seven?", "Which films did he direct?"),
    "A man called Dave, I believe.\nAnswer: Dave",
    "Which films did David direct",
    "Alien 3 was directed by David Fincher.\nAnswer: Alien 3",
    "He directed Alien 3.\nAnswer: Alien 3",
)


def test_by_the_papers_letter_sentences_go_on_and_only_the_final_answer_has_to_be_proved(small: Clew):
    answer, model = chain_of(small, *UNPROVED, letter=True)
    assert [a.entity for a in answer.answers] == ["Alien 3"]
    assert answer.chain is not None
    texts = [link.text for link in answer.chain.links]
    assert texts == ["A man called Dave, I believe.", "Alien 3 was directed by David Fincher."]
    assert "Answer: A man called Dave, I believe." in model.requests[2].messages[1].text
    assert "Answer: Alien 3 was directed by David Fincher." in model.requests[4].messages[1].text
    assert answer.citations[0].triples


def test_by_the_papers_letter_what_the_evidence_lacks_is_still_no_answer(small: Clew):
    replies = (*UNPROVED[:3], said("Fight Club"), said("Fight Club"))
    answer, _ = chain_of(small, *replies, letter=True)
    assert answer.abstained is not None
    assert answer.abstained.reason == "not_in_evidence"


def test_by_the_papers_letter_no_sub_question_is_dropped(small: Clew):
    director = said("David Fincher")
    twice = plan("Who directed Seven?", "Name the director of Seven?")
    replies = (twice, director, "Who directed Seven", director, director)
    dropped, _ = chain_of(small, twice, director, director, director, records="steps")
    kept, _ = chain_of(small, *replies, letter=True)
    assert dropped.chain is not None
    assert kept.chain is not None
    assert (len(dropped.chain.links), len(kept.chain.links)) == (1, 2)


def test_candidates_may_follow_triples_from_head_to_tail_alone(small: Clew):
    question, counts = "Which films did David Fincher direct?", list[int]()
    for settings in (KgRagSettings(letter=True), KgRagSettings(letter=True, directed=True)):
        model = ScriptedModel([plan(question), *[said("Seven; Alien 3")] * 2])
        method = KgRag(small.opened, small.embedder, model=model, settings=settings)
        counts.append(len(method.answer(question).answers))
    assert counts == [2, 0]
    with pytest.raises(UsageError, match="Give letter=yes too"):
        KgRagSettings(directed=True)


def test_the_prompt_has_the_users_examples_and_as_many_as_are_wanted(small: Clew, tmp_path: Path):
    own = {"question": "{{QUESTION}} of </x>", "reasoning": "r", "sub_questions": ["one?", "two?"]}
    (tmp_path / "e.json").write_text(json.dumps({"questions": [], "decompositions": [own] * 2}), "utf-8")
    worked = read_demonstrations(tmp_path / "e.json")
    prompts = {}
    for name, chosen in {"own": {"examples": worked}, "one": {"shots": 1}, "none": {"shots": 0}}.items():
        answer, model = chain_of(small, plan("Who directed Seven?"), said("David Fincher"), **chosen)
        prompts[name] = (
            model.requests[0].messages[0].text,
            next(s.detail["version"] for s in answer.steps if s.name == "model"),
        )
    texts = {name: text for name, (text, _) in prompts.items()}
    assert texts["own"].count('"sub_questions": ["one?", "two?"]') == 2
    assert "Question: {{QUESTION}} of ‹/x›" in texts["own"]
    assert [texts[name].count("Question: ") for name in ("own", "one", "none")] == [2, 1, 0]
    assert len({version for _, version in prompts.values()}) == 3


def test_examples_without_decompositions_keep_clews_own(tmp_path: Path):
    (tmp_path / "e.json").write_text('{"questions": []}', "utf-8")
    assert [len(w.sub_questions) for w in read_demonstrations(tmp_path / "e.json")] == [1, 2, 3]


def test_a_refusal_to_reformulate_is_no_question_but_a_name_may_sound_like_one(tmp_path: Path):
    title = "I Don't Know How She Does It"
    (tmp_path / "g.tsv").write_text(f"Ann\tdirected\t{title}\n{title}\tgenre\tComedy\n", "utf-8")
    first = plan("Which films did Ann direct?", "What genre are these films?"), said(title)
    for reworded, asked in (
        ("I'm sorry, I cannot help with that", "What genre are these films?"),
        (f"What genre is {title}", f"What genre is {title}?"),
    ):
        model = ScriptedModel([*first, reworded, said("Comedy"), said("Comedy")])
        with Clew.open(tmp_path / "g.tsv", cache_dir=tmp_path / "cache") as clew:
            letter = KgRagSettings(letter=True)
            method = KgRag(clew.opened, clew.embedder, model=model, settings=letter)
            answer = method.answer("What genre are the films of Ann?")
        assert answer.chain is not None
        assert answer.chain.links[1].asked == asked
        assert [a.entity for a in answer.answers] == ["Comedy"]


@pytest.mark.parametrize(
    ("reply", "reasoning", "questions"),
    [
        ("Reasoning: r\nSub-questions:\n1. a?\n2. b?", "r", ["a?", "b?"]),
        ("**Reasoning:** r\n\n### Sub-questions\n1) a?\n(2) b", "r", ["a?", "b"]),
        ("Chain-of-Thought: r\n1. a?\n2. b?", "r", ["a?", "b?"]),
        ("I do:\n1. find a\n2. find b", "I do: 1. find a 2. find b", ["Q of Alien?"]),
        ("Sub-questions:\nSub-question 1: a?\nSub-question 2: b?", "", ["a?", "b?"]),
        ("Sub-questions:\nnothing", "", ["Q of Alien?"]),
        ("", "", ["Q of Alien?"]),
        ("Sub-questions:\n1. a?\n2. A ?\n3. b?", "", ["a?", "b?"]),
        ("**Reasoning:** r\n\n**Sub-questions:**\n\n**1.** a?\n**2.** b", "r", ["a?", "b"]),
        ("Reasoning: r\nSub-questions: 1. a? 2. b?", "r", ["a?", "b?"]),
        ("### Reasoning\nr\n### Sub-questions\n- a?\n- b", "r", ["a?", "b"]),
        ("- a?\n- b?", "", ["a?", "b?"]),
        ("**Sub-question 1:** a?\n**Sub-question 2:** b?", "", ["a?", "b?"]),
        ("Step 1: a?\nStep 2: b?", "", ["a?", "b?"]),
        ("Reasoning: r\nSub-questions:\na?\nb?", "r", ["a?", "b?"]),
        ("```\nReasoning: r\nSub-questions:\n1. a?\n```", "r", ["a?"]),
        ('{"reasoning": "r", "sub_questions": ["a?", "b?"]}', "r", ["a?", "b?"]),
        ("Sub-questions:\n1. a?\nAnswer: x\n2. b?\nAnswer: y", "", ["a?", "b?"]),
        ("I'm sorry, I can't help with that.", "I'm sorry, I can't help with that.", ["Q of Alien?"]),
        ("Sub-questions:\n1. a?\n2. " + "b" * 3000, "", ["a?"]),
    ],
)
def test_decompositions_are_read(small: Clew, reply: str, reasoning: str, questions: list[str]):
    replies = iter([reply])
    model = ScriptedModel(lambda _: next(replies, "Answer: none"))
    method = KgRag(small.opened, small.embedder, model=model, settings=KgRagSettings(records="steps"))
    chain = method.answer("Q of Alien?").chain
    assert chain is not None
    assert chain.reasoning == reasoning
    assert [link.question for link in chain.links] == questions
