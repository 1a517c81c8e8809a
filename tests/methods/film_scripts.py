"""Replies of a chat model for tests, and a model that reads the evidence that it is shown."""

import json

from clew.llm.testing import ScriptedModel


def pattern_reply(*triples):
    return json.dumps({"divided": [" ".join(t) for t in triples], "triples": [list(t) for t in triples]})


def answers_reply(*answers):
    return json.dumps({"reason": "as the graphs say", "answers": list(answers)})


def verdict_reply(verdict):
    return json.dumps({"reason": "as the graphs say", "verdict": verdict})


def evidence_of(request):
    """The subgraphs that a reading prompt shows."""
    text = request.messages[-1].text
    return list(json.loads(text.rpartition("<evidence>")[2].partition("</evidence>")[0]).values())


def good_model(pattern, read):
    """A model that replies with a pattern, and then with what the function `read` makes of the evidence."""

    def reply(request):
        is_reading = "<evidence>" in request.messages[0].text
        return read(evidence_of(request)) if is_reading else pattern

    return ScriptedModel(reply)
