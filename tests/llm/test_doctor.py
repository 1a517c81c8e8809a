import pytest

from clew.llm import Settings
from clew.llm.budget import Price, Prices
from clew.llm.open import Check, doctor
from servers.fake_server import Answer, Seen, completion, events, piece, serving

pytest.importorskip("openai")


def states(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.state for check in checks}


def test_a_good_configuration(tiny_url: str):
    prices = Prices({"llamacpp/*": Price(0, 0)})
    checks = doctor(Settings("llamacpp/tiny", base_url=tiny_url, prices=prices))
    found = states(checks)
    # The tiny model's words mean nothing, so whether it can fill in a form is left to chance.
    found.pop("structured output")
    assert found == dict.fromkeys(
        ("settings", "provider", "files", "chat", "model", "streaming", "prices"), "ok"
    )


def test_a_model_that_the_server_does_not_list(tiny_url: str):
    checks = doctor(Settings("llamacpp/other", base_url=tiny_url))
    (model,) = (check for check in checks if check.name == "model")
    assert model.state == "warning"
    assert "it lists tiny" in model.detail


def test_a_server_without_a_list_of_models():
    def without_list(seen: Seen) -> Answer:
        if seen.path.endswith("/models"):
            return Answer({"error": {"message": "no such page"}}, 404)
        return (
            events(piece("yes"), piece(None, "stop"))
            if seen.body.get("stream")
            else Answer(completion("yes"))
        )

    with serving(by=without_list) as (_, url):
        checks = doctor(Settings("vllm/x", base_url=f"{url}/v1"))
    assert "model" not in states(checks)
    assert states(checks)["chat"] == "ok"
    assert states(checks)["structured output"] == "failed"
