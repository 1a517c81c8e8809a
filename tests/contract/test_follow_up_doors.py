"""A follow-up goes on from the last answer at every door that has one."""

from typing import Any

import pytest
from doors import run_clew


@pytest.mark.parametrize("door", ["http", "page", "mcp"])
def test_the_thread_of_an_answer_is_all_that_is_sent(doors: dict[str, Any], door: str) -> None:
    def ask(question: str, **given: Any) -> dict[str, Any]:
        if door == "mcp":
            return doors[door].call("ask", graph="films", question=question, **given)
        return doors[door].post("films", "ask", question=question, **given)

    first = ask("Who directed Fury?")
    second = ask("And Key Largo?", previous=first["thread"])
    assert (second["text"], second["reading"]) == ("John Huston", "the director of Key Largo")
    third = ask("Which films did he direct?", previous=second["thread"])
    assert "Key Largo" in [answer["label"] for answer in third["answers"]]
    assert ask("How many are they?", previous=third["thread"])["text"] == str(third["thread"]["total"])


def test_the_shell_keeps_the_thread(indexes: dict[str, Any], tmp_path: Any) -> None:
    from typer.testing import CliRunner

    from clew.cli.app import app

    lines = "Who directed Fury?\nAnd Key Largo?\n"
    done = CliRunner().invoke(app, ["shell", str(indexes["films"])], input=lines, prog_name="clew")
    assert done.exit_code == 0, done.stderr
    assert "John Huston" in done.stdout
    assert "the director of Key Largo" in done.stdout
    assert run_clew("ask", indexes["films"], "And Key Largo?").exit_code == 3
