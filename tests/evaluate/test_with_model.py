"""Runs with a scripted chat model: threads, seeds, settings, cost; and methods that need a model."""

import json
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner

from clew.cli.app import app
from clew.engine import Clew
from clew.errors import UsageError
from clew.evaluate.datasets.registry import dataset_named
from clew.evaluate.run.asking import check_methods, needs_model, option_names, settings_for
from clew.evaluate.run.rundir import MethodVariant, RunDirectory, RunSettings
from clew.evaluate.run.runner import RunPlan, run
from clew.llm import ask, run_sync
from clew.llm.budget import Price
from clew.llm.testing import ScriptedModel
from clew.methods import registry
from clew.types import Answer
from servers.fake_server import Answer as Answered
from servers.fake_server import completion, serving


@dataclass(frozen=True)
class Settings_:
    shots: int = 2
    seed: int = -1


class Chats:
    """Answers with what the model says."""

    name = "chats"

    def __init__(self, index, embedder, *, model=None, settings: "Settings_ | None" = None):
        if model is None:
            raise UsageError("needs a model")
        self.model, self.settings = model, settings or Settings_()

    def answer(self, question, *, id=None, entities=()):
        reply = run_sync(self.model.complete(ask(f"{self.settings.seed} {self.settings.shots} {question}")))
        return Answer(
            question, text=reply.text, method=self.name, usage=reply.usage, timings_ms={"total": 1.0}
        )


@pytest.fixture
def chats(monkeypatch):
    monkeypatch.setitem(registry.METHODS, "chats", registry.MethodSpec(f"{__name__}:Chats"))


@pytest.fixture
def clew(plain, tmp_path):
    with Clew.open(plain / "graph.tsv", cache_dir=tmp_path / "cache") as opened:
        yield opened


def go(clew, plain, directory, model, seeds=(0,), limit=None, options=None):
    part = dataset_named("plain").read(plain, "all", None)
    plan = RunPlan(
        (part,),
        {(part.name, None): clew},
        (MethodVariant("chats", "chats", options or {}),),
        RunSettings(limit, seeds, llm=model.name),
        workers=3,
        model=model,
        price=Price(1.0, 1.0),
    )
    return run(plan, RunDirectory(directory), lambda *told: None)


def records(directory):
    return [record for _, record in RunDirectory(directory).records()]


def test_threads_keep_the_order_and_count_the_cost(chats, clew, plain, tmp_path):
    model = ScriptedModel(lambda request: f"re: {request.messages[-1].text}")
    done = go(clew, plain, tmp_path / "r", model, options={"shots": 7})
    made = records(tmp_path / "r")
    assert [r.key.id for r in made] == list("abcde")
    assert (done.asked_now, len(model.requests)) == (5, 5)  # nothing is asked twice to warm up
    assert made[0].text == "re: 0 7 Who directed Memento?"
    assert all(r.cost > 0 for r in made)


def test_each_seed_asks_the_model_anew_and_gets_its_seed(chats, clew, plain, tmp_path):
    model = ScriptedModel(lambda request: request.messages[-1].text)
    go(clew, plain, tmp_path / "r", model, seeds=(0, 1), limit=4)
    made = records(tmp_path / "r")
    assert [r.key.seed for r in made] == [0] * 4 + [1] * 4
    assert {r.text.split()[0] for r in made} == {"0", "1"}


def test_what_a_method_takes_is_found_out(chats, clew):
    assert option_names("chats") == {"shots", "seed"}
    with pytest.raises(UsageError, match=r"has no option 'k'\. Its options: seed, shots"):
        check_methods([MethodVariant("chats", "chats", {"k": 1})], None)
    assert needs_model(MethodVariant("chats", "chats"), clew) == "needs a model"
    assert needs_model(MethodVariant("auto", "auto"), clew) is None


def test_a_model_that_no_method_asks_is_refused(monkeypatch):
    monkeypatch.setitem(registry.METHODS, "plain", registry.MethodSpec("stand_in_methods:Knows"))
    with pytest.raises(UsageError, match=r"asks a model\. Leave out --llm"):
        check_methods([MethodVariant("plain", "plain")], ScriptedModel(["x"]))


def test_an_experiment_gives_examples_and_solved_questions_as_files(tmp_path):
    pytest.importorskip("ladybug", reason="ladybug is not installed")
    worked = tmp_path / "examples.json"
    worked.write_text(
        '{"questions": [{"query": "q", "triples": [["a", "b", "c"]], "answers": ["a"]}],'
        ' "decompositions": [{"question": "q", "reasoning": "r", "sub_questions": ["s"]}]}'
    )
    solved = tmp_path / "solved.jsonl"
    solved.write_text('{"question": "q", "query": "MATCH (n) RETURN n"}\n')
    for method, name, file in (
        ("simgrag", "examples", worked),
        ("kg-rag", "examples", worked),
        ("synaptiqa", "examples", solved),
    ):
        spec = MethodVariant(method, method, {name: str(file)})
        held = getattr(settings_for(spec), name)
        assert "'q'" in repr(held)
        told = spec.as_dict()["files"][name]
        file.write_text(file.read_text() + " \n")
        assert spec.as_dict()["files"][name] != told


@pytest.mark.parametrize(
    ("answer", "told", "code"),
    [
        (Answered({"error": {"message": "no luck"}}, status=400), "no luck", 1),
        (Answered(completion("hm")), "the reply could not be read", 0),
        (Answered(completion('{"verdict": "incorrect"}')), "", 0),
    ],
)
def test_judgements_without_a_verdict_are_told(monkeypatch, plain, tmp_path, answer, told, code):
    pytest.importorskip("openai")
    wrong = {"id": "a", "question": "Who directed Memento?", "gold": ["Jane Roe"], "entities": ["Memento"]}
    (plain / "questions.jsonl").write_text(json.dumps(wrong) + "\n")
    with serving(answer) as (_, url):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        words = ("eval", plain, "--judge", "vllm/m", "--out", tmp_path / "run", "--quiet")
        result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    missing = "1 judgement without a verdict, the first by vllm/m: "
    assert (missing in result.stderr, told in result.stderr) == (bool(told), True)
